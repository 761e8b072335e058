// SPDX-License-Identifier: Apache-2.0
// Copyright the TaskClock authors
package org.taskclock.cli;

import java.time.Duration;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import org.jline.utils.Signals;

/** Lets a command end in order where it is told to by Ctrl-C, or SIGTERM. */
final class Stop {
    private final CountDownLatch told = new CountDownLatch(1);

    /** From now on these signals do not end this JVM. */
    Stop() {
        for (String signal : new String[] {"INT", "TERM", "HUP"}) Signals.register(signal, told::countDown);
    }

    boolean isTold() {
        return told.getCount() == 0;
    }

    /** False if it was told to stop meanwhile, or before. */
    boolean sleep(Duration time) {
        try {
            return !told.await(time.toNanos(), TimeUnit.NANOSECONDS);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            return false;
        }
    }
}
