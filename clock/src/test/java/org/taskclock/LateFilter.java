// SPDX-License-Identifier: Apache-2.0
// Copyright the TaskClock authors
package org.taskclock;

/**
 * Main class of child JVMs: reads for a while, installs a seccomp filter that refuses what the clock asks, and reads
 * on. Every reading must be plausible or -1, and in the end they must be -1.
 */
final class LateFilter {
    private static final int READS_BEFORE = 20_000;
    /** More than the longest life of a base and several ticks. */
    private static final long READ_ON_NANOS = 100_000_000;
    /** A reading cannot grow faster than time passes, but for being ahead by up to the life of a base. */
    private static final long SLACK_NANOS = 20_000_000;

    private long lastCpu;
    private long lastUser;
    private long lastSystem;
    private final long startWall = System.nanoTime();
    private final long startCpu = Os.threadCpuNanos();
    private final long[] into = new long[3];

    private LateFilter() {}

    public static void main(String[] arguments) {
        boolean isClock = arguments[0].equals("clock_gettime");
        TaskClock.status();
        LateFilter reader = new LateFilter();
        for (int i = 0; i < READS_BEFORE; i++) reader.read();
        if (reader.lastCpu <= 0 || reader.lastUser < 0) throw new AssertionError("no reading to begin with");
        if (!(isClock ? Os.refuseCpuClocks() : Os.refuseRusage()))
            throw new AssertionError("no filter can be installed");
        long end = System.nanoTime() + READ_ON_NANOS;
        while (System.nanoTime() < end) reader.read();
        boolean isCpuKnown = TaskClock.cpuNanos() != -1;
        // Without getrusage the total is known, but not its parts.
        check(isCpuKnown == !isClock, "cpu", TaskClock.cpuNanos());
        check(TaskClock.userNanos() == -1, "user", TaskClock.userNanos());
        check(TaskClock.systemNanos() == -1, "system", TaskClock.systemNanos());
        check(TaskClock.now().equals(CpuTime.UNKNOWN), "now " + TaskClock.now(), 0);
        TaskClock.read(reader.into);
        for (long part : reader.into) check(part == -1, "read", part);
        if (isClock) check(ThreadClock.of(Thread.currentThread()).cpuNanos() == -1, "ThreadClock", 0);
        System.out.println("unknown on " + TaskClock.status().rung());
    }

    private void read() {
        lastCpu = next(lastCpu, TaskClock.cpuNanos(), "cpu");
        lastUser = next(lastUser, TaskClock.userNanos(), "user");
        lastSystem = next(lastSystem, TaskClock.systemNanos(), "system");
        CpuTime now = TaskClock.now();
        if (now.isKnown()) take(now);
        else check(now.equals(CpuTime.UNKNOWN), now.toString(), 0);
        TaskClock.read(into);
        CpuTime read = new CpuTime(into[0], into[1], into[2]);
        if (read.isKnown()) take(read);
        else check(read.equals(CpuTime.UNKNOWN), read.toString(), 0);
    }

    private void take(CpuTime time) {
        check(time.userNanos() + time.systemNanos() == time.cpuNanos(), time.toString(), 0);
        lastCpu = next(lastCpu, time.cpuNanos(), "cpu");
        lastUser = next(lastUser, time.userNanos(), "user");
        lastSystem = next(lastSystem, time.systemNanos(), "system");
    }

    /** Returns the latest known value: {@code value} must be -1, or not less than before and not more than possible. */
    private long next(long last, long value, String what) {
        if (value == -1) return last;
        check(value >= last && value <= startCpu + System.nanoTime() - startWall + SLACK_NANOS, what, value);
        return value;
    }

    private static void check(boolean holds, String what, long value) {
        if (!holds) throw new AssertionError(what + " " + value);
    }
}
