// SPDX-License-Identifier: Apache-2.0
// Copyright the TaskClock authors
package org.taskclock.benchmarks;

import java.lang.management.ManagementFactory;
import java.lang.management.ThreadMXBean;
import org.taskclock.ClockId;
import org.taskclock.TaskClock;

/**
 * A loop of readings between two time stamps. Each kind of reading has its own loop, which the JIT compiles for it
 * alone.
 */
enum ReadingLoop {
    NOTHING("nothing") {
        @Override
        long read(int times) {
            return times;
        }
    },
    /** The call into C that {@link #COUNTER} makes once, regardless of the number of readings. */
    COUNTER_CALL("counter call") {
        @Override
        long read(int times) {
            return TimeStampCounter.read(0) + times;
        }
    },
    COUNTER("counter") {
        @Override
        long read(int times) {
            return TimeStampCounter.read(times);
        }

        @Override
        ReadingLoop deducted() {
            return COUNTER_CALL;
        }
    },
    EMPTY_CALL("empty call") {
        @Override
        long read(int times) {
            long sum = 0;
            for (int i = 0; i < times; i++) sum += EmptyCall.call();
            return sum;
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
    STOCK("stock") {
        @Override
        long read(int times) {
            long sum = 0;
            for (int i = 0; i < times; i++) sum += Stock.THREADS.getCurrentThreadCpuTime();
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

    /** Creates the bean on first use. */
    private static final class Stock {
        static final ThreadMXBean THREADS = ManagementFactory.getThreadMXBean();
    }

    private static final ClockId OWN_CPU = ClockId.thread(0, ClockId.Kind.SCHED);

    final String text;

    ReadingLoop(String text) {
        this.text = text;
    }

    /** Reads repeatedly. Returns a value that depends on each reading. */
    abstract long read(int times);

    /** Returns the loop whose time is subtracted from the time of this one. */
    ReadingLoop deducted() {
        return NOTHING;
    }
}
