// SPDX-License-Identifier: Apache-2.0
// Copyright the TaskClock authors
package org.taskclock;

/**
 * Main class of child JVMs: a thread that may not read the processor's counter is the first to use the clock. With an
 * argument, it does not use it.
 */
final class ForbiddenCounter {
    private ForbiddenCounter() {}

    public static void main(String[] arguments) throws InterruptedException {
        Work.onThreads(1, () -> {
            if (!Os.forbidCounter()) throw new AssertionError("PR_SET_TSC is not permitted");
            if (arguments.length > 0) return;
            for (int i = 0; i < 1_000; i++) {
                if (TaskClock.cpuNanos() <= 0 || !TaskClock.now().isKnown()) throw new AssertionError("unknown");
            }
            SayStatus.main(arguments);
        });
    }
}
