// SPDX-License-Identifier: Apache-2.0
// Copyright the TaskClock authors
package org.taskclock.agent;

import java.lang.instrument.Instrumentation;
import java.util.EnumMap;
import java.util.List;
import java.util.Map;
import org.taskclock.internal.JdkVersions;

/**
 * The patch of java.lang.VirtualThread. All methods are changed at once, and flags switch their hooks from then on. The
 * class is changed only when the program creates its first virtual thread, because this costs more than the rest of the
 * agent.
 */
final class VirtualThreadPatch implements Runnable, Watchdog.Check {
    /** A use of the patch. */
    enum Use {
        /** Each yield asks a hook whether to skip it. */
        YIELDS(Options.VIRTUAL_YIELD),
        /** Each mount, unmount, and end of a thread calls a hook. */
        MOUNTS(Options.VTHREADS);

        private final String option;

        Use(String option) {
            this.option = option;
        }

        /** Returns the option that switches this use. */
        String option() {
            return option;
        }
    }

    private static final String TYPE = "java.lang.VirtualThread";
    private static final String CONTINUATION = "jdk/internal/vm/Continuation";
    private static final String VIRTUAL_THREAD = "java/lang/VirtualThread";

    /** The maximum time that the creator of the first virtual thread waits for the patch. */
    private static final long TIMEOUT_MILLIS = 2_000;
    /** The patch is given up if another agent undoes it again after it was reapplied this many times. */
    private static final int MAX_REAPPLICATIONS = 3;
    /**
     * The number of times that the watchdog looks, once a second, for a first virtual thread that was missed when
     * waiting began.
     */
    private static final int MAX_CHECKS_WHILE_WAITING = 10;
    /** A number of redefinitions that no class has. */
    static final int NEVER = -2;

    private final Instrumentation instrumentation;
    private final TaskClockHooks hooks;
    private final Watchdog watchdog;
    private final AgentController controller;
    /** The current uses, and the preparation that each needs before it works. */
    private final Map<Use, AgentController.Step> uses = new EnumMap<>(Use.class);

    // Null before the class is changed.
    private ClassPatch patch;
    private Map<Use, ClassPatch.Change> changes;

    /** Whether the patch waits for the first virtual thread. */
    private boolean isWaiting;

    private boolean isWatched;
    /** The number of redefinitions of the class as of our last change. */
    private int redefinitions;

    /** Whether the time of a virtual thread was counted since the class was last redefined. */
    private boolean isProven;

    private int reapplications;
    private int checksWhileWaiting;
    /** Incremented when a use begins or ends, which invalidates a check in progress. */
    private int generation;

    VirtualThreadPatch(
            Instrumentation instrumentation, TaskClockHooks hooks, Watchdog watchdog, AgentController controller) {
        this.instrumentation = instrumentation;
        this.hooks = hooks;
        this.watchdog = watchdog;
        this.controller = controller;
    }

    /** Returns whether this JDK has virtual threads. */
    static boolean isSupported() {
        return Runtime.version().feature() >= JdkVersions.VIRTUAL_THREADS;
    }

    /** Begins a use, at once or with the first virtual thread. {@code preparation} runs first. */
    synchronized void enable(Use use, AgentController.Step preparation) throws FeatureException {
        generation++;
        if (patch == null && !isWaiting) {
            isWaiting = hooks.awaitFirstVirtualThread(this);
            checksWhileWaiting = 0;
        }
        if (!isWaiting) apply(use, preparation);
        uses.put(use, preparation);
        watch();
    }

    synchronized boolean isEnabled(Use use) {
        return uses.containsKey(use);
    }

    /** Ends a use. */
    synchronized void disable(Use use) {
        generation++;
        uses.remove(use);
        if (!isWaiting || !uses.isEmpty()) return;
        hooks.awaitFirstVirtualThread(null);
        isWaiting = false;
    }

    /**
     * Runs on the thread that creates the first virtual thread, while the class is being initialized. Another thread
     * changes the class, so this thread needs neither the classes nor the stack space for it.
     */
    @Override
    public void run() {
        Thread patcher = new Thread(null, this::applyAll, "taskclock-virtual-threads", 0, false);
        patcher.setDaemon(true);
        patcher.setContextClassLoader(null);
        try {
            patcher.start();
        } catch (OutOfMemoryError e) {
            applySoon();
            return;
        }
        boolean interrupted = false;
        long end = System.nanoTime() + TIMEOUT_MILLIS * 1_000_000;
        while (patcher.isAlive() && System.nanoTime() < end) {
            try {
                patcher.join(TIMEOUT_MILLIS);
            } catch (InterruptedException e) {
                interrupted = true;
            }
        }
        if (interrupted) Thread.currentThread().interrupt();
    }

    /** Makes the watchdog change the class within a second or so. */
    private synchronized void applySoon() {
        checksWhileWaiting = 0;
        watch();
    }

    private synchronized void applyAll() {
        if (!isWaiting) return;
        isWaiting = false;
        checksWhileWaiting = 0;
        for (Map.Entry<Use, AgentController.Step> use : List.copyOf(uses.entrySet())) {
            try {
                apply(use.getKey(), use.getValue());
            } catch (FeatureException e) {
                giveUp(use.getKey(), e.getMessage());
            } catch (RuntimeException | LinkageError | VirtualMachineError e) {
                giveUp(use.getKey(), e.toString());
            }
        }
        watch();
    }

    /**
     * Ends a use and reports why. The report is made by a task of the watchdog, which does not hold the lock of this
     * class.
     */
    private void giveUp(Use use, String reason) {
        uses.remove(use);
        watchdog.submit(() -> controller.patchLost(use, reason));
    }

    private void apply(Use use, AgentController.Step preparation) throws FeatureException {
        preparation.run();
        if (patch == null) {
            changes = Map.of(
                    Use.YIELDS,
                    ClassPatch.skipIf("tryYield", "skipYield"),
                    Use.MOUNTS,
                    ClassPatch.hookBefore(
                            "runContinuation",
                            List.of(
                                    new ClassPatch.Call(CONTINUATION, "run", "()V", 1, "mounted"),
                                    // Both occur at the normal end and at the end by an exception.
                                    new ClassPatch.Call(VIRTUAL_THREAD, "unmount", "()V", 2, "unmounted"),
                                    new ClassPatch.Call(VIRTUAL_THREAD, "afterDone", "()V", 2, "ended"))));
            ClassPatch newPatch = new ClassPatch(instrumentation, type(), List.copyOf(changes.values()));
            newPatch.apply();
            patch = newPatch;
            expect(redefinitions());
        }
        patch.require(changes.get(use));
    }

    private void expect(int count) {
        redefinitions = count;
        hooks.setPatchedRedefinitions(count);
    }

    private int redefinitions() throws FeatureException {
        return TaskClockHooks.redefinitions(type());
    }

    private static Class<?> type() throws FeatureException {
        try {
            return Class.forName(TYPE, false, null);
        } catch (ClassNotFoundException e) {
            throw new FeatureException("this JVM has no " + TYPE, e);
        }
    }

    // ---- checking that the change is still in place

    private void watch() {
        if (isWatched || uses.isEmpty()) return;
        watchdog.watch(this);
        isWatched = true;
    }

    /** Checks, once a second, whether another agent has redefined the class without our change. */
    @Override
    public boolean check() {
        try {
            int startGeneration;
            synchronized (this) {
                if (isWaiting) checksWhileWaiting++;
                if (uses.isEmpty() || checksWhileWaiting > MAX_CHECKS_WHILE_WAITING) {
                    isWatched = false;
                    return false;
                }
                if (isWaiting) {
                    if (!hooks.isAwaitingFirstVirtualThread()) applyAll();
                    return true;
                }
                if (isProven && redefinitions == redefinitions()) return true;
                startGeneration = generation;
            }
            int startRedefinitions = redefinitions();
            // Called without the lock, because it waits for a virtual thread. Null means that all carriers are busy.
            int startFailures = hooks.failures();
            Boolean isAccounted = isEnabled(Use.MOUNTS) ? hooks.probe() : null;
            // A mount that fails, for example because the heap is full, does not mean that mounts do not call us.
            if (Boolean.FALSE.equals(isAccounted) && hooks.failures() != startFailures) return true;
            if (isAccounted != null) evaluate(isAccounted, startRedefinitions, startGeneration);
            return true;
        } catch (FeatureException | RuntimeException | LinkageError e) {
            synchronized (this) {
                isWatched = false;
                for (Use use : List.copyOf(uses.keySet())) giveUp(use, "cannot check " + TYPE + ": " + e.getMessage());
            }
            return false;
        }
    }

    private synchronized void evaluate(boolean isAccounted, int startRedefinitions, int startGeneration)
            throws FeatureException {
        if (generation != startGeneration || !isEnabled(Use.MOUNTS)) return; // switched during the check
        if (isAccounted) {
            isProven = true;
            expect(startRedefinitions);
            return;
        }
        if (startRedefinitions == redefinitions) {
            giveUp(Use.MOUNTS, TYPE + " was changed, but virtual threads are not accounted for: unknown JDK build?");
        } else if (reapplications == MAX_REAPPLICATIONS) {
            for (Use use : List.copyOf(uses.keySet())) giveUp(use, "another agent keeps undoing the change to " + TYPE);
        } else {
            reapplications++;
            // Before threads call us again, because each mount begins a new interval of its carrier.
            VirtualAccounts accounts = controller.accounts();
            accounts.mountsWereLost();
            accounts.resumeCarriers();
            patch.apply();
            expect(redefinitions());
            isProven = false;
            System.err.println("taskclock: agent: another agent undid the change to " + TYPE + ": reapplied it");
        }
    }
}
