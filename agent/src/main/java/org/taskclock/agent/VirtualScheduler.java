// SPDX-License-Identifier: Apache-2.0
// Copyright the TaskClock authors
package org.taskclock.agent;

import java.util.concurrent.ForkJoinPool;

/** The JDK's scheduler of virtual threads, which queues those that could run but have no carrier. */
final class VirtualScheduler {
    private static final String TYPE = "java.lang.VirtualThread";
    private static final String FIELD = "DEFAULT_SCHEDULER";

    private final TaskClockHooks hooks;

    VirtualScheduler(TaskClockHooks hooks) {
        this.hooks = hooks;
    }

    /**
     * Returns the number of virtual threads that are queued. Other tasks of the scheduler, such as those of timers, are
     * included. Returns -1 if this JDK schedules virtual threads in another way.
     */
    long queued() {
        if (!isUsed()) return 0;
        ForkJoinPool pool = pool();
        return pool == null ? -1 : pool.getQueuedTaskCount() + pool.getQueuedSubmissionCount();
    }

    /** Returns how many virtual threads it runs at the same time; 0 if unknown, or before the first virtual thread. */
    int parallelism() {
        ForkJoinPool pool = isUsed() ? pool() : null;
        return pool == null ? 0 : pool.getParallelism();
    }

    private boolean isUsed() {
        return VirtualThreadPatch.isSupported() && !hooks.isAwaitingFirstVirtualThread();
    }

    private ForkJoinPool pool() {
        try {
            return hooks.staticField(Class.forName(TYPE, false, null), FIELD) instanceof ForkJoinPool pool
                    ? pool
                    : null;
        } catch (ClassNotFoundException | IllegalStateException e) {
            return null;
        }
    }
}
