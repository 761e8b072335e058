// SPDX-License-Identifier: Apache-2.0
// Copyright the TaskClock authors
package org.taskclock.integration.trinocpu;

import java.lang.foreign.FunctionDescriptor;
import java.lang.foreign.Linker;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.lang.invoke.MethodHandle;
import java.lang.management.ManagementFactory;
import java.lang.management.ThreadMXBean;
import java.util.concurrent.atomic.LongAdder;
import org.taskclock.CpuTime;
import org.taskclock.TaskClock;

/** What Trino with measure.patch reads at each call of an operator. */
public final class Clocks {
    /** Which clock the operators read. */
    public enum Mode {
        NONE("nothing"),
        MXBEAN_CPU("CPU time: ThreadMXBean"),
        MXBEAN_CPU_USER("CPU and user time: ThreadMXBean"),
        TASKCLOCK_CPU("CPU time: TaskClock"),
        TASKCLOCK_CPU_USER("CPU and user time: TaskClock");

        final String label;

        Mode(String label) {
            this.label = label;
        }
    }

    private static final ThreadMXBean THREADS = ManagementFactory.getThreadMXBean();
    private static final CpuTime ZERO = new CpuTime(0, 0, 0);
    private static final int CLOCK_THREAD_CPUTIME_ID = 3;

    /** A critical call neither parks nor unmounts, so that it reads the clock of the current carrier. */
    @SuppressWarnings("restricted")
    private static final MethodHandle CLOCK_GETTIME = Linker.nativeLinker()
            .downcallHandle(
                    Linker.nativeLinker().defaultLookup().findOrThrow("clock_gettime"),
                    FunctionDescriptor.of(ValueLayout.JAVA_INT, ValueLayout.JAVA_INT, ValueLayout.ADDRESS),
                    Linker.Option.critical(true));

    private static final LongAdder READS = new LongAdder();
    private static volatile Mode mode = Mode.TASKCLOCK_CPU_USER;
    private static volatile boolean isComparing;

    private Clocks() {}

    static void use(Mode newMode) {
        mode = newMode;
    }

    /** Whether the kernel's clock and mounted time are read at the same points. */
    static void compare(boolean compare) {
        isComparing = compare;
    }

    /** Returns how many times {@link #now()} has been called. */
    static long reads() {
        return READS.sum();
    }

    public static CpuTime now() {
        READS.increment();
        return switch (mode) {
            case NONE -> ZERO;
            case MXBEAN_CPU -> new CpuTime(THREADS.getCurrentThreadCpuTime(), 0, 0);
            case MXBEAN_CPU_USER ->
                new CpuTime(THREADS.getCurrentThreadCpuTime(), THREADS.getCurrentThreadUserTime(), 0);
            case TASKCLOCK_CPU -> new CpuTime(TaskClock.cpuNanos(), 0, 0);
            case TASKCLOCK_CPU_USER -> TaskClock.now();
        };
    }

    /** Returns the CPU time of the current thread by the kernel's clocks of its carriers. */
    public static long kernelNanos() {
        return isComparing ? DriverThreads.kernelNanos() : 0;
    }

    /** Returns how long the current virtual thread has been mounted; on a platform thread, wall time. */
    public static long mountedNanos() {
        return isComparing ? DriverThreads.mountedNanos() : 0;
    }

    static long threadNanos() {
        long[] time = new long[2];
        try {
            int failed = (int) CLOCK_GETTIME.invokeExact(CLOCK_THREAD_CPUTIME_ID, MemorySegment.ofArray(time));
            if (failed != 0) throw new IllegalStateException("clock_gettime: " + failed);
        } catch (RuntimeException | Error e) {
            throw e;
        } catch (Throwable e) {
            throw new IllegalStateException(e);
        }
        return time[0] * 1_000_000_000 + time[1];
    }
}
