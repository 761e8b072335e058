// SPDX-License-Identifier: Apache-2.0
// Copyright the TaskClock authors
package org.taskclock.cli;

import java.time.Duration;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import org.jline.utils.Signals;

/** Lets a command shut down cleanly on SIGINT, SIGTERM or SIGHUP. */
final class TerminationSignal {
    private final CountDownLatch received = new CountDownLatch(1);

    /** Installs the handlers. From now on, these signals do not terminate this JVM. */
    TerminationSignal() {
        for (String signal : new String[] {"INT", "TERM", "HUP"}) Signals.register(signal, received::countDown);
    }

    boolean isReceived() {
        return received.getCount() == 0;
    }

    /** Waits until a signal arrives. */
    void await() throws InterruptedException {
        received.await();
    }

    /**
     * Sleeps until a time of System.nanoTime, or until a signal arrives. Returns false if a signal has been received.
     */
    boolean sleepUntil(long time) {
        return sleep(Duration.ofNanos(Math.max(0, time - System.nanoTime())));
    }

    /** Sleeps for the given time or until a signal arrives. Returns false if a signal has been received. */
    boolean sleep(Duration duration) {
        try {
            return !received.await(duration.toNanos(), TimeUnit.NANOSECONDS);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            return false;
        }
    }
}
