// SPDX-License-Identifier: Apache-2.0
// Copyright the TaskClock authors
package org.taskclock.agent;

import java.lang.instrument.Instrumentation;
import java.util.EnumMap;
import java.util.List;
import java.util.Map;

/**
 * What is changed in java.lang.VirtualThread: all at once, and switched by flags from then on. Where we come before the program,
 * when it makes its first virtual thread, as the change costs a start more than all the rest of the agent.
 */
final class VirtualThreads implements Runnable {
    /** What a change is for. */
    enum Use {
        /** Yields ask whether they are to be done. */
        YIELDS("yield: of virtual threads"),
        /** What happens to a thread on its carrier is told. */
        MOUNTS("vthreads");

        private final String text;

        Use(String text) {
            this.text = text;
        }
    }

    private final Instrumentation jvm;
    private final Hooks hooks;
    /** What is in use, and what has to be ready before it works. */
    private final Map<Use, Agency.Step> used = new EnumMap<>(Use.class);
    /** Both null before the first use. */
    private Rewriting rewriting;

    private Map<Use, Rewriting.Change> changes;

    private boolean mayWait;
    private boolean waits;

    /** {@code running}: the program does already, and may be making its first one right now. */
    VirtualThreads(Instrumentation jvm, Hooks hooks, boolean running) {
        this.jvm = jvm;
        this.hooks = hooks;
        this.mayWait = !running;
    }

    static boolean exist() {
        return Runtime.version().feature() >= 21;
    }

    synchronized void use(Use use, Agency.Step prepare) throws Refused {
        if (mayWait && !waits) waits = mayWait = (boolean) hooks.call("awaitFirst", this);
        if (!waits) make(use, prepare);
        used.put(use, prepare);
    }

    synchronized boolean uses(Use use) {
        return used.containsKey(use);
    }

    /** Its flag is off by now. */
    synchronized void release(Use use) {
        if (used.remove(use) == null || !used.isEmpty()) return;
        if (rewriting != null) rewriting.keep(false);
        else if (waits) hooks.call("awaitFirst", (Object) null);
        waits = false;
    }

    /** In the thread that makes the first virtual thread, while the class is being initialized. */
    @Override
    public synchronized void run() {
        waits = mayWait = false;
        for (Map.Entry<Use, Agency.Step> use : List.copyOf(used.entrySet())) {
            try {
                make(use.getKey(), use.getValue());
            } catch (Refused | RuntimeException | LinkageError e) {
                used.remove(use.getKey());
                System.err.println("taskclock: agent: left out: " + use.getKey().text + ": " + e.getMessage());
            }
        }
    }

    private void make(Use use, Agency.Step prepare) throws Refused {
        prepare.run();
        if (rewriting == null) {
            changes = Map.of(
                    Use.YIELDS,
                    Rewriting.skip("tryYield", "skipYield"),
                    Use.MOUNTS,
                    Rewriting.before(
                            "runContinuation", Map.of("run", "mounted", "unmount", "unmounted", "afterDone", "ended")));
            Rewriting made = new Rewriting(jvm, type(), List.copyOf(changes.values()));
            made.apply();
            rewriting = made;
        }
        rewriting.demand(changes.get(use));
        rewriting.keep(true);
    }

    private static Class<?> type() throws Refused {
        try {
            return Class.forName("java.lang.VirtualThread", false, null);
        } catch (ClassNotFoundException e) {
            throw new Refused("this JVM has no java.lang.VirtualThread", e);
        }
    }
}
