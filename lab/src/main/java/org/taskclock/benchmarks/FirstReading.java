// SPDX-License-Identifier: Apache-2.0
// Copyright the TaskClock authors
package org.taskclock.benchmarks;

import org.taskclock.TaskClock;

/** Prints the time of the first reading of a process in ns, then the backend and the binding, one per line. */
final class FirstReading {
    private FirstReading() {}

    public static void main(String[] args) {
        System.out.println(System.nanoTime()); // loads the classes for printing
        long start = System.nanoTime();
        TaskClock.cpuNanos();
        System.out.println(System.nanoTime() - start);
        CadenceResult.Environment environment = CadenceResult.Environment.current();
        System.out.println(environment.backend());
        System.out.println(environment.binding());
    }
}
