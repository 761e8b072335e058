// SPDX-License-Identifier: Apache-2.0
// Copyright the TaskClock authors
package org.taskclock.lab;

import java.lang.management.ManagementFactory;
import java.lang.management.ThreadMXBean;
import java.util.function.LongSupplier;
import org.taskclock.KernelReaders;
import org.taskclock.TaskClock;

/** The smallest step that a reader takes between two readings that follow each other. */
final class Granularity {
    private static final ThreadMXBean STOCK = ManagementFactory.getThreadMXBean();

    /** So often something goes to the kernel, or system time would stand still. */
    private static final int SYSTEM_CALLS = 8;

    /** Times longer than usual to wait for a clock that steps rarely, on a busy machine. */
    private static final int PATIENCE = 8;

    private Granularity() {}

    /** Null for what reads no clock. */
    static LongSupplier reader(Contender contender) {
        int tid = KernelReaders.tid();
        return switch (contender) {
            case NOTHING -> null;
            case NANO_TIME -> System::nanoTime;
            case STOCK_CPU, AGENT_CPU -> STOCK::getCurrentThreadCpuTime;
            case STOCK_USER, AGENT_USER -> STOCK::getCurrentThreadUserTime;
            case PROC -> () -> KernelReaders.userNanosByText(tid);
            case OWN_ID -> () -> KernelReaders.userNanosByOwnId(tid);
            case ID_0 -> KernelReaders::userNanosByConstantId;
            case RUSAGE -> rusage();
            case TASKCLOCK_CPU -> TaskClock::cpuNanos;
            case TASKCLOCK_USER -> TaskClock::userNanos;
            case TASKCLOCK_SYSTEM -> TaskClock::systemNanos;
            case TASKCLOCK_NOW -> () -> TaskClock.now().cpuNanos();
        };
    }

    private static LongSupplier rusage() {
        long[] into = new long[2];
        return () -> KernelReaders.rusage(into) ? into[0] : -1;
    }

    /** In nanoseconds; -1 if it could not be read, or did not move in eight times as long. */
    static long smallestStep(Contender contender, long nanos) {
        LongSupplier reader = reader(contender);
        if (reader == null) return -1;
        long smallest = Long.MAX_VALUE;
        long start = System.nanoTime();
        long last = reader.getAsLong();
        long calls = 0;
        for (int i = 1; ; i++) {
            long elapsed = System.nanoTime() - start;
            if (elapsed > PATIENCE * nanos || (elapsed > nanos && smallest < Long.MAX_VALUE)) break;
            if (i % SYSTEM_CALLS == 0) calls += STOCK.getCurrentThreadCpuTime();
            long now = reader.getAsLong();
            if (now > last) smallest = Math.min(smallest, now - last);
            last = now;
        }
        // Tested for the JIT's sake: the sum is never that.
        return smallest == Long.MAX_VALUE || calls == Long.MIN_VALUE ? -1 : smallest;
    }
}
