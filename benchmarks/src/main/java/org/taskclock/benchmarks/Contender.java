// SPDX-License-Identifier: Apache-2.0
// Copyright the TaskClock authors
package org.taskclock.benchmarks;

import org.taskclock.ClockId;
import org.taskclock.TaskClock;

/** What is read between two time-stamps. Each has a loop of its own, so that the JIT compiles it for that reading alone. */
enum Contender {
    NOTHING("nothing") {
        @Override
        long read(int times) {
            return times;
        }
    },
    NANO_TIME("nanoTime") {
        @Override
        long read(int times) {
            long sum = 0;
            for (int i = 0; i < times; i++) sum += System.nanoTime();
            return sum;
        }
    },
    SYSTEM_CALL("clock_gettime") {
        @Override
        long read(int times) {
            long sum = 0;
            for (int i = 0; i < times; i++) sum += OWN_CPU.nanos();
            return sum;
        }
    },
    CPU_NANOS("cpuNanos") {
        @Override
        long read(int times) {
            long sum = 0;
            for (int i = 0; i < times; i++) sum += TaskClock.cpuNanos();
            return sum;
        }
    };

    private static final ClockId OWN_CPU = ClockId.thread(0, ClockId.Kind.SCHED);

    final String text;

    Contender(String text) {
        this.text = text;
    }

    /** Returns something that depends on each of the readings. */
    abstract long read(int times);
}
