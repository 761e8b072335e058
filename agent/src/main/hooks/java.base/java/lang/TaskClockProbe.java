// SPDX-License-Identifier: Apache-2.0
// Copyright the TaskClock authors

package java.lang;

/** Runs as a virtual thread, and finds out whether virtual threads are accounted for. */
final class TaskClockProbe implements Runnable {
    /** The agent leaves threads of this name out of what it reports. */
    static final String NAME = "taskclock-probe";

    private static final long PATIENCE_MILLIS = 500;

    private volatile boolean isAccounted;

    private TaskClockProbe() {}

    @Override
    public void run() {
        isAccounted = TaskClockHooks.isAccounted(Thread.currentThread());
    }

    /** Returns whether a virtual thread was accounted for; null if none was run, as all carriers are busy. */
    static Boolean tryOne() throws InterruptedException {
        TaskClockProbe probe = new TaskClockProbe();
        Thread thread = Thread.ofVirtual().name(NAME).start(probe);
        thread.join(PATIENCE_MILLIS);
        return thread.isAlive() ? null : (Boolean) probe.isAccounted;
    }
}
