// SPDX-License-Identifier: Apache-2.0
// Copyright the TaskClock authors
package org.taskclock.benchmarks;

import java.util.function.Supplier;
import org.taskclock.ClockId;
import org.taskclock.CpuTime;
import org.taskclock.KernelReaders;
import org.taskclock.ProcStat;
import org.taskclock.ProcessClock;
import org.taskclock.TaskClock;

/**
 * The ways to read cpu, user, and system time whose errors {@link AccuracyBenchmark} measures. The parts of a reading
 * need not add up: each reader returns its own figures. A reader that has to read the parts one by one uses
 * {@link ReadingLoop}.
 */
@SuppressWarnings("ImmutableEnumChecker") // suppliers without state
public enum SplitReader {
    TASKCLOCK("TaskClock", TaskClock::now, () -> Own.PROCESS.now()),
    RUSAGE("getrusage", SplitReader::rusage, () -> CpuTime.UNKNOWN),
    PROC("/proc text", () -> of(ProcStat.ofThread(KernelReaders.tid())), () -> of(ProcStat.read("/proc/self/stat"))),
    /**
     * Computes system time from cpu and user, as callers of ThreadMXBean must, because it has no method for system
     * time. The JVM does not report the user time of a process.
     */
    STOCK(
            "ThreadMXBean",
            () -> withUser(ReadingLoop.STOCK_USER.read(1), ReadingLoop.STOCK_CPU.read(1)),
            () -> CpuTime.UNKNOWN),
    /** The clock that ThreadMXBean has read since JDK 25.0.5. */
    VIRT(
            "raw VIRT",
            () -> withUser(ReadingLoop.USER_BY_CONSTANT_ID.read(1), ReadingLoop.SYSTEM_CALL.read(1)),
            () -> withUser(Own.CPU.withKind(ClockId.Kind.VIRT).nanos(), Own.CPU.nanos()));

    private static final class Own {
        static final ProcessClock PROCESS = ProcessClock.current();
        static final ClockId CPU = ClockId.process(0, ClockId.Kind.SCHED);
    }

    private final String text;
    private final Supplier<CpuTime> ofThread;
    private final Supplier<CpuTime> ofProcess;

    SplitReader(String text, Supplier<CpuTime> ofThread, Supplier<CpuTime> ofProcess) {
        this.text = text;
        this.ofThread = ofThread;
        this.ofProcess = ofProcess;
    }

    /** Reads the calling thread. */
    CpuTime ofThread() {
        return ofThread.get();
    }

    CpuTime read(Workload workload) {
        return workload.isOfProcess() ? ofProcess.get() : ofThread.get();
    }

    private static CpuTime rusage() {
        long[] userSystem = new long[2];
        if (!KernelReaders.rusage(userSystem)) return CpuTime.UNKNOWN;
        return new CpuTime(userSystem[0] + userSystem[1], userSystem[0], userSystem[1]);
    }

    private static CpuTime of(ProcStat stat) {
        return new CpuTime(stat.userNanos() + stat.systemNanos(), stat.userNanos(), stat.systemNanos());
    }

    /** User is read before cpu, so that time passing in between cannot make it exceed cpu. */
    private static CpuTime withUser(long user, long cpu) {
        return new CpuTime(cpu, user, cpu - user);
    }

    @Override
    public String toString() {
        return text;
    }
}
