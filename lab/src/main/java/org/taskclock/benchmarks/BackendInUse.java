// SPDX-License-Identifier: Apache-2.0
// Copyright the TaskClock authors
package org.taskclock.benchmarks;

import org.taskclock.TaskClock;

/** Prints the backend in use, for run.sh, because JMH's results contain only the requested one. */
public final class BackendInUse {
    private BackendInUse() {}

    public static void main(String[] args) {
        System.out.println(TaskClock.status().backend());
    }
}
