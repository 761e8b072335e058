// SPDX-License-Identifier: Apache-2.0
// Copyright the TaskClock authors
package org.taskclock.agent;

import java.lang.instrument.Instrumentation;
import java.util.EnumMap;
import java.util.List;
import java.util.Map;

/**
 * What is changed in java.lang.VirtualThread: all at once, and switched by flags from then on. It is changed when the program
 * makes its first virtual thread, as the change costs more than all the rest of the agent.
 */
final class VirtualThreads implements Runnable, Watchdog.Check {
    /** What a change is for. */
    enum Use {
        /** Yields ask whether they are to be done. */
        YIELDS("virtual-yield"),
        /** What happens to a thread on its carrier is reported. */
        MOUNTS("vthreads");

        private final String part;

        Use(String part) {
            this.part = part;
        }

        /** As the options name it. */
        String part() {
            return part;
        }
    }

    private static final String TYPE = "java.lang.VirtualThread";
    private static final String CONTINUATION = "jdk/internal/vm/Continuation";
    private static final String OWN = "java/lang/VirtualThread";

    /** The program's thread that makes the first virtual thread waits so long for the change at most. */
    private static final long PATIENCE_MILLIS = 2_000;
    /** An agent that takes the change back each time is given up on. */
    private static final int MOST_MENDS = 3;
    /** A first virtual thread that was made at the moment when we asked to be told is found within so many seconds. */
    private static final int MOST_LOOKS_WHILE_WAITING = 10;

    private final Instrumentation jvm;
    private final Hooks hooks;
    private final Watchdog watchdog;
    private final Agency agency;
    /** What is in use, and what has to be ready before it works. */
    private final Map<Use, Agency.Step> used = new EnumMap<>(Use.class);

    // Null before the change.
    private Rewriting rewriting;
    private Map<Use, Rewriting.Change> changes;

    private boolean isWaiting;
    private boolean isWatched;
    /** How often the JVM had redefined the class after our change. */
    private int redefinitions;

    /** Whether a virtual thread was seen to be accounted for since the class was redefined last. */
    private boolean isProven;

    private int mends;
    private int looksWhileWaiting;
    /** Changes whenever a use begins or ends: what was seen meanwhile says nothing. */
    private int generation;

    VirtualThreads(Instrumentation jvm, Hooks hooks, Watchdog watchdog, Agency agency) {
        this.jvm = jvm;
        this.hooks = hooks;
        this.watchdog = watchdog;
        this.agency = agency;
    }

    static boolean exist() {
        return Runtime.version().feature() >= 21;
    }

    synchronized void use(Use use, Agency.Step prepare) throws Refused {
        generation++;
        if (rewriting == null && !isWaiting) {
            isWaiting = (boolean) hooks.call("awaitFirst", this);
            looksWhileWaiting = 0;
        }
        if (!isWaiting) make(use, prepare);
        used.put(use, prepare);
        watch();
    }

    synchronized boolean uses(Use use) {
        return used.containsKey(use);
    }

    /** Its flag is off by now. */
    synchronized void release(Use use) {
        generation++;
        if (used.remove(use) == null || !used.isEmpty()) return;
        if (isWaiting) hooks.call("awaitFirst", (Object) null);
        isWaiting = false;
    }

    /**
     * In the thread that makes the first virtual thread, while the class is being initialized. The change is made by another
     * thread, so that neither its classes nor its stack are needed here.
     */
    @Override
    public void run() {
        Thread maker = new Thread(null, this::makeAll, "taskclock-virtual-threads", 0, false);
        maker.setDaemon(true);
        maker.setContextClassLoader(null);
        try {
            maker.start();
        } catch (OutOfMemoryError e) {
            makeSoon();
            return;
        }
        boolean interrupted = false;
        long end = System.nanoTime() + PATIENCE_MILLIS * 1_000_000;
        while (maker.isAlive() && System.nanoTime() < end) {
            try {
                maker.join(PATIENCE_MILLIS);
            } catch (InterruptedException e) {
                interrupted = true;
            }
        }
        if (interrupted) Thread.currentThread().interrupt();
    }

    /** The watchdog makes the change within a second. */
    private synchronized void makeSoon() {
        looksWhileWaiting = 0;
        watch();
    }

    private synchronized void makeAll() {
        if (!isWaiting) return;
        isWaiting = false;
        looksWhileWaiting = 0;
        for (Map.Entry<Use, Agency.Step> use : List.copyOf(used.entrySet())) {
            try {
                make(use.getKey(), use.getValue());
            } catch (Refused e) {
                giveUp(use.getKey(), e.getMessage());
            } catch (RuntimeException | LinkageError | VirtualMachineError e) {
                giveUp(use.getKey(), e.toString());
            }
        }
        watch();
    }

    /** Reported by the watchdog's thread, which holds no lock of ours. */
    private void giveUp(Use use, String reason) {
        used.remove(use);
        watchdog.submit(() -> agency.lost(use, reason));
    }

    private void make(Use use, Agency.Step prepare) throws Refused {
        prepare.run();
        if (rewriting == null) {
            changes = Map.of(
                    Use.YIELDS,
                    Rewriting.skip("tryYield", "skipYield"),
                    Use.MOUNTS,
                    Rewriting.before(
                            "runContinuation",
                            List.of(
                                    new Rewriting.Call(CONTINUATION, "run", "()V", 1, "mounted"),
                                    // Once at the end, and once where it ends by an exception.
                                    new Rewriting.Call(OWN, "unmount", "()V", 2, "unmounted"),
                                    new Rewriting.Call(OWN, "afterDone", "()V", 2, "ended"))));
            Rewriting made = new Rewriting(jvm, type(), List.copyOf(changes.values()));
            made.apply();
            rewriting = made;
            redefinitions = redefinitions();
        }
        rewriting.demand(changes.get(use));
    }

    private int redefinitions() throws Refused {
        return (int) hooks.call("redefinitions", type());
    }

    private static Class<?> type() throws Refused {
        try {
            return Class.forName(TYPE, false, null);
        } catch (ClassNotFoundException e) {
            throw new Refused("this JVM has no " + TYPE, e);
        }
    }

    // ---- whether the change is still there

    private void watch() {
        if (isWatched || used.isEmpty()) return;
        watchdog.watch(this);
        isWatched = true;
    }

    /** On the watchdog's thread, each second. Another agent may have redefined the class without our change. */
    @Override
    public boolean look() {
        try {
            synchronized (this) {
                if (isWaiting) looksWhileWaiting++;
                if (used.isEmpty() || looksWhileWaiting > MOST_LOOKS_WHILE_WAITING) {
                    isWatched = false;
                    return false;
                }
                if (isWaiting) {
                    if (!(boolean) hooks.call("isAwaitingFirst")) makeAll();
                    return true;
                }
                if (isProven && redefinitions == redefinitions()) return true;
            }
            int before;
            synchronized (this) {
                before = generation;
            }
            int seen = redefinitions();
            // Without the lock, as it waits for a virtual thread. Null: all carriers are busy.
            Boolean isAccounted = uses(Use.MOUNTS) ? (Boolean) hooks.call("probe") : null;
            if (isAccounted != null) judge(isAccounted, seen, before);
            return true;
        } catch (Refused | RuntimeException | LinkageError e) {
            synchronized (this) {
                isWatched = false;
                for (Use use : List.copyOf(used.keySet())) giveUp(use, "cannot check " + TYPE + ": " + e.getMessage());
            }
            return false;
        }
    }

    private synchronized void judge(boolean isAccounted, int seen, int before) throws Refused {
        if (generation != before || !uses(Use.MOUNTS)) return; // switched meanwhile
        if (isAccounted) {
            isProven = true;
            redefinitions = seen;
            return;
        }
        if (seen == redefinitions) {
            giveUp(Use.MOUNTS, TYPE + " was changed, but virtual threads are not accounted for: unknown JDK build?");
        } else if (mends == MOST_MENDS) {
            for (Use use : List.copyOf(used.keySet())) giveUp(use, "another agent keeps undoing the change of " + TYPE);
        } else {
            mends++;
            rewriting.apply();
            redefinitions = redefinitions();
            isProven = false;
            System.err.println("taskclock: agent: another agent had undone the change of " + TYPE + ": made it again");
        }
    }
}
