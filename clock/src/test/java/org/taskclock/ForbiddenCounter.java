// SPDX-License-Identifier: Apache-2.0
// Copyright the TaskClock authors
package org.taskclock;

/**
 * Main class of child JVMs: first uses the clock on a thread that must not read the time-stamp counter. With an
 * argument, it does not use the clock and only calls {@link System#nanoTime()}, as every JVM does sooner or later.
 */
final class ForbiddenCounter {
    private ForbiddenCounter() {}

    public static void main(String[] arguments) throws InterruptedException {
        CpuLoad.runOnThreads(1, () -> {
            if (!SystemCalls.forbidCounter()) throw new AssertionError("PR_SET_TSC is not permitted");
            if (arguments.length > 0) {
                System.nanoTime();
                return;
            }
            for (int i = 0; i < 1_000; i++) {
                if (TaskClock.cpuNanos() <= 0 || !TaskClock.now().isKnown()) throw new AssertionError("unknown time");
            }
            StatusPrinter.main(arguments);
        });
    }
}
