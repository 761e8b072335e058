// SPDX-License-Identifier: Apache-2.0
// Copyright the TaskClock authors
package org.taskclock.benchmarks;

import org.taskclock.TaskClock;

/** Prints the rung in use, for run.sh: JMH's results tell only what the JVM was asked for. */
public final class RungInUse {
    private RungInUse() {}

    public static void main(String[] args) {
        System.out.println(TaskClock.status().rung());
    }
}
