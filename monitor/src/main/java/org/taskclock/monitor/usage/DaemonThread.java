// SPDX-License-Identifier: Apache-2.0
// Copyright the TaskClock authors
package org.taskclock.monitor.usage;

/** A thread that does not keep the process running. */
public final class DaemonThread extends Thread {
    public DaemonThread(Runnable task, String name) {
        super(task, name);
        setDaemon(true);
    }

    /** Waits until the thread has ended, but at most for the given time, and not if the caller is interrupted. */
    public void await(long millis) {
        try {
            join(millis);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }

    /** Interrupts the thread, and waits for its end like {@link #await}. */
    public void end(long millis) {
        interrupt();
        await(millis);
    }
}
