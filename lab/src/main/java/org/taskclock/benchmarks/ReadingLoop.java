// SPDX-License-Identifier: Apache-2.0
// Copyright the TaskClock authors
package org.taskclock.benchmarks;

import java.lang.management.ManagementFactory;
import java.lang.management.ThreadMXBean;
import org.taskclock.ClockId;
import org.taskclock.KernelReaders;
import org.taskclock.TaskClock;

/**
 * The ways to read a clock that benchmarks and experiments measure outside of JMH.
 *
 * <p>Each has its own copy of the loop. A shared loop would call the reader through an interface, and HotSpot does not
 * inline a call with more than two frequent receivers (TypeProfileWidth). Such a call costs as much as a fast reading.
 * For the same reason, JMH measures each of its methods in a separate JVM.
 */
public enum ReadingLoop {
    NOTHING("nothing") {
        @Override
        public long read(int times) {
            return times;
        }
    },
    /** The call into C that {@link #COUNTER} makes once, regardless of the number of readings. */
    COUNTER_CALL("counter call") {
        @Override
        public long read(int times) {
            return TimeStampCounter.read(0) + times;
        }
    },
    COUNTER("counter") {
        @Override
        public long read(int times) {
            return TimeStampCounter.read(times);
        }

        @Override
        ReadingLoop deducted() {
            return COUNTER_CALL;
        }
    },
    EMPTY_CALL("empty call") {
        @Override
        public long read(int times) {
            long sum = 0;
            for (int i = 0; i < times; i++) sum += EmptyCall.call();
            return sum;
        }
    },
    NANO_TIME("nanoTime") {
        @Override
        public long read(int times) {
            long sum = 0;
            for (int i = 0; i < times; i++) sum += System.nanoTime();
            return sum;
        }
    },
    SYSTEM_CALL("clock_gettime") {
        @Override
        public long read(int times) {
            long sum = 0;
            for (int i = 0; i < times; i++) sum += OWN_CPU.nanos();
            return sum;
        }
    },
    STOCK_CPU("stock") {
        @Override
        public long read(int times) {
            long sum = 0;
            for (int i = 0; i < times; i++) sum += Stock.THREADS.getCurrentThreadCpuTime();
            return sum;
        }
    },
    STOCK_USER("stock user") {
        @Override
        public long read(int times) {
            long sum = 0;
            for (int i = 0; i < times; i++) sum += Stock.THREADS.getCurrentThreadUserTime();
            return sum;
        }
    },
    USER_BY_TEXT("user by text") {
        @Override
        public long read(int times) {
            int tid = OWN_TID.get();
            long sum = 0;
            for (int i = 0; i < times; i++) sum += KernelReaders.userNanosByText(tid);
            return sum;
        }
    },
    USER_BY_OWN_ID("user by own id") {
        @Override
        public long read(int times) {
            int tid = OWN_TID.get();
            long sum = 0;
            for (int i = 0; i < times; i++) sum += KernelReaders.userNanosByOwnId(tid);
            return sum;
        }
    },
    USER_BY_CONSTANT_ID("user by constant id") {
        @Override
        public long read(int times) {
            long sum = 0;
            for (int i = 0; i < times; i++) sum += KernelReaders.userNanosByConstantId();
            return sum;
        }
    },
    RUSAGE("getrusage") {
        @Override
        public long read(int times) {
            long[] userSystem = new long[2];
            long sum = 0;
            for (int i = 0; i < times; i++) sum += KernelReaders.rusage(userSystem) ? userSystem[0] : -1;
            return sum;
        }
    },
    CPU_NANOS("cpuNanos") {
        @Override
        public long read(int times) {
            long sum = 0;
            for (int i = 0; i < times; i++) sum += TaskClock.cpuNanos();
            return sum;
        }
    },
    USER_NANOS("userNanos") {
        @Override
        public long read(int times) {
            long sum = 0;
            for (int i = 0; i < times; i++) sum += TaskClock.userNanos();
            return sum;
        }
    },
    SYSTEM_NANOS("systemNanos") {
        @Override
        public long read(int times) {
            long sum = 0;
            for (int i = 0; i < times; i++) sum += TaskClock.systemNanos();
            return sum;
        }
    },
    NOW("now") {
        @Override
        public long read(int times) {
            long sum = 0;
            for (int i = 0; i < times; i++) sum += TaskClock.now().cpuNanos();
            return sum;
        }
    };

    /** Creates the bean on first use. */
    private static final class Stock {
        static final ThreadMXBean THREADS = ManagementFactory.getThreadMXBean();
    }

    private static final ClockId OWN_CPU = ClockId.thread(0, ClockId.Kind.SCHED);

    /** Avoids a system call before each loop. */
    private static final ThreadLocal<Integer> OWN_TID = ThreadLocal.withInitial(KernelReaders::tid);

    /** The name in results. */
    final String text;

    ReadingLoop(String text) {
        this.text = text;
    }

    /**
     * Reads the clock of the calling thread repeatedly.
     *
     * @return the sum of the readings, so that the JIT compiler cannot remove any of them; with a single reading, -1 if
     *     the clock cannot be read
     */
    public abstract long read(int times);

    /** Returns the loop whose time is subtracted from the time of this one. */
    ReadingLoop deducted() {
        return NOTHING;
    }
}
