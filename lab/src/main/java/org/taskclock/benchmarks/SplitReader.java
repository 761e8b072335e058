// SPDX-License-Identifier: Apache-2.0
// Copyright the TaskClock authors
package org.taskclock.benchmarks;

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
public enum SplitReader {
    TASKCLOCK("TaskClock") {
        @Override
        CpuTime ofThread() {
            return TaskClock.now();
        }

        @Override
        CpuTime ofProcess() {
            return PROCESS.now();
        }
    },
    RUSAGE("getrusage") {
        @Override
        CpuTime ofThread() {
            long[] userSystem = new long[2];
            if (!KernelReaders.rusage(userSystem)) return CpuTime.UNKNOWN;
            return new CpuTime(userSystem[0] + userSystem[1], userSystem[0], userSystem[1]);
        }

        @Override
        CpuTime ofProcess() {
            return CpuTime.UNKNOWN;
        }
    },
    PROC("/proc text") {
        @Override
        CpuTime ofThread() {
            return of(ProcStat.ofThread(KernelReaders.tid()));
        }

        @Override
        CpuTime ofProcess() {
            return of(ProcStat.read("/proc/self/stat"));
        }

        private CpuTime of(ProcStat stat) {
            return new CpuTime(stat.userNanos() + stat.systemNanos(), stat.userNanos(), stat.systemNanos());
        }
    },
    /**
     * Computes system time from cpu and user, as callers of ThreadMXBean must, because it has no method for system
     * time.
     */
    STOCK("ThreadMXBean") {
        @Override
        CpuTime ofThread() {
            long user = ReadingLoop.STOCK_USER.read(1);
            return withUser(user, ReadingLoop.STOCK_CPU.read(1));
        }

        /** Returns unknown, because the JVM does not report the user time of a process. */
        @Override
        CpuTime ofProcess() {
            return CpuTime.UNKNOWN;
        }
    },
    /** The clock that ThreadMXBean has read since JDK 25.0.5. */
    VIRT("raw VIRT") {
        @Override
        CpuTime ofThread() {
            long user = ReadingLoop.USER_BY_CONSTANT_ID.read(1);
            return withUser(user, ReadingLoop.SYSTEM_CALL.read(1));
        }

        @Override
        CpuTime ofProcess() {
            long user = PROCESS_CPU.withKind(ClockId.Kind.VIRT).nanos();
            return withUser(user, PROCESS_CPU.nanos());
        }
    };

    private static final ProcessClock PROCESS = ProcessClock.current();
    private static final ClockId PROCESS_CPU = ClockId.process(0, ClockId.Kind.SCHED);

    private final String text;

    SplitReader(String text) {
        this.text = text;
    }

    /** Reads the calling thread. Reads user before cpu, so that time passing in between cannot make user exceed cpu. */
    abstract CpuTime ofThread();

    abstract CpuTime ofProcess();

    CpuTime read(Workload workload) {
        return workload.isOfProcess() ? ofProcess() : ofThread();
    }

    private static CpuTime withUser(long user, long cpu) {
        return new CpuTime(cpu, user, cpu - user);
    }

    @Override
    public String toString() {
        return text;
    }
}
