// SPDX-License-Identifier: Apache-2.0
// Copyright the TaskClock authors

package java.lang;

/** The task of a virtual thread that checks whether the time of virtual threads is counted. */
final class TaskClockProbe implements Runnable {
    private static final long TIMEOUT_MILLIS = 500;

    private volatile boolean isAccounted;

    private TaskClockProbe() {}

    @Override
    public void run() {
        isAccounted = TaskClockHooks.isAccounted(Thread.currentThread());
    }

    /**
     * Runs a virtual thread and returns whether its time was counted, or null if it did not run because all carriers
     * are busy.
     */
    static Boolean runOnce() throws InterruptedException {
        TaskClockProbe probe = new TaskClockProbe();
        Thread thread = Thread.ofVirtual().name(TaskClockHooks.PROBE).start(probe);
        thread.join(TIMEOUT_MILLIS);
        return thread.isAlive() ? null : (Boolean) probe.isAccounted;
    }
}
