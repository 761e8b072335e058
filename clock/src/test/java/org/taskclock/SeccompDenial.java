// SPDX-License-Identifier: Apache-2.0
// Copyright the TaskClock authors
package org.taskclock;

/**
 * Main class of child JVMs: reads the clock for a while, installs a seccomp filter that denies the clock's system
 * calls, and keeps reading. Every reading must be plausible or -1, and the last ones must be -1.
 */
final class SeccompDenial {
    private static final int READS_BEFORE = 20_000;
    /** Longer than the longest life of a base and several ticks. */
    private static final long DENIED_NANOS = 100_000_000;
    /** Readings cannot grow faster than elapsed time, except that they may be ahead by the life of a base. */
    private static final long TOLERANCE_NANOS = 20_000_000;

    private long lastCpu;
    private long lastUser;
    private long lastSystem;
    private final long startWall = System.nanoTime();
    private final long startCpu = SystemCalls.threadCpuNanos();
    private final long[] into = new long[3];

    private SeccompDenial() {}

    public static void main(String[] arguments) {
        boolean deniesClock = arguments[0].equals("clock_gettime");
        TaskClock.status();
        SeccompDenial reader = new SeccompDenial();
        for (int i = 0; i < READS_BEFORE; i++) reader.read();
        if (reader.lastCpu <= 0 || reader.lastUser < 0) throw new AssertionError("no reading before the filter");
        if (!(deniesClock ? SystemCalls.denyCpuClocks() : SystemCalls.denyRusage()))
            throw new AssertionError("the seccomp filter could not be installed");
        long end = System.nanoTime() + DENIED_NANOS;
        while (System.nanoTime() < end) reader.read();
        boolean isCpuKnown = TaskClock.cpuNanos() != -1;
        // Without getrusage the total is known, but not its parts.
        check(isCpuKnown == !deniesClock, "cpu", TaskClock.cpuNanos());
        check(TaskClock.userNanos() == -1, "user", TaskClock.userNanos());
        check(TaskClock.systemNanos() == -1, "system", TaskClock.systemNanos());
        check(TaskClock.now().equals(CpuTime.UNKNOWN), "now " + TaskClock.now(), 0);
        TaskClock.read(reader.into);
        for (long part : reader.into) check(part == -1, "read", part);
        if (deniesClock) check(ThreadClock.of(Thread.currentThread()).cpuNanos() == -1, "ThreadClock", 0);
        System.out.println("unknown on " + TaskClock.status().backend());
    }

    private void read() {
        lastCpu = checkNext(lastCpu, TaskClock.cpuNanos(), "cpu");
        lastUser = checkNext(lastUser, TaskClock.userNanos(), "user");
        lastSystem = checkNext(lastSystem, TaskClock.systemNanos(), "system");
        CpuTime now = TaskClock.now();
        if (now.isKnown()) checkTime(now);
        else check(now.equals(CpuTime.UNKNOWN), now.toString(), 0);
        TaskClock.read(into);
        CpuTime read = new CpuTime(into[0], into[1], into[2]);
        if (read.isKnown()) checkTime(read);
        else check(read.equals(CpuTime.UNKNOWN), read.toString(), 0);
    }

    private void checkTime(CpuTime time) {
        check(time.userNanos() + time.systemNanos() == time.cpuNanos(), time.toString(), 0);
        lastCpu = checkNext(lastCpu, time.cpuNanos(), "cpu");
        lastUser = checkNext(lastUser, time.userNanos(), "user");
        lastSystem = checkNext(lastSystem, time.systemNanos(), "system");
    }

    /**
     * Checks that a value is either -1 or between the last value and the highest possible one. Returns the last known
     * value.
     */
    private long checkNext(long last, long value, String what) {
        if (value == -1) return last;
        check(value >= last && value <= startCpu + System.nanoTime() - startWall + TOLERANCE_NANOS, what, value);
        return value;
    }

    private static void check(boolean condition, String what, long value) {
        if (!condition) throw new AssertionError(what + " " + value);
    }
}
