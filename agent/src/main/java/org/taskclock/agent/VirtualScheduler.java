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
        if (!VirtualThreadPatch.isSupported()) return 0;
        try {
            if (hooks.isAwaitingFirstVirtualThread()) return 0;
            return hooks.staticField(Class.forName(TYPE, false, null), FIELD) instanceof ForkJoinPool pool
                    ? pool.getQueuedTaskCount() + pool.getQueuedSubmissionCount()
                    : -1;
        } catch (ClassNotFoundException | IllegalStateException e) {
            return -1;
        }
    }
}
