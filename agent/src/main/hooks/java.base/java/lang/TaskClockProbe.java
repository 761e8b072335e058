// SPDX-License-Identifier: Apache-2.0
// Copyright the TaskClock authors

package java.lang;

/** The task of a virtual thread that checks whether the time of virtual threads is counted. */
final class TaskClockProbe implements Runnable {
    /** The name of the thread. The agent omits threads with this name from its reports. */
    static final String NAME = "taskclock-probe";

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
        Thread thread = Thread.ofVirtual().name(NAME).start(probe);
        thread.join(TIMEOUT_MILLIS);
        return thread.isAlive() ? null : (Boolean) probe.isAccounted;
    }
}
