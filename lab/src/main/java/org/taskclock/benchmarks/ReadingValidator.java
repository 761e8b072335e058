// SPDX-License-Identifier: Apache-2.0
// Copyright the TaskClock authors
package org.taskclock.benchmarks;

import java.util.function.Consumer;

/**
 * Validates the readings of one thread at a time. Records inaccuracies, and reports violations of the clock's contract.
 */
final class ReadingValidator {
    /** The life of a base, and therefore the largest possible error. */
    static final long MAX_ERROR_NANOS = 1_000_000;
    /**
     * The maximum by which the growth of cpu between two readings may exceed wall-clock time. The first reading may be
     * behind, and the second ahead.
     */
    static final long WALL_TOLERANCE_NANOS = 100_000;

    private final String kind;
    private final Consumer<String> violations;
    private final ReadingErrors errors = new ReadingErrors();

    private long lastWallNanos;
    private long comparedCpu;
    private long lastCpu;
    private long lastUser;
    private long lastSystem;

    /** Constructs a validator that reports violations as text, with the kind of thread in front. */
    ReadingValidator(String kind, Consumer<String> violations) {
        this.kind = kind;
        this.violations = violations;
        changeThread();
    }

    /** Prepares for readings of another thread. */
    void changeThread() {
        lastWallNanos = System.nanoTime();
        comparedCpu = 0;
        lastCpu = 0;
        lastUser = 0;
        lastSystem = 0;
    }

    /**
     * Returns how far a reading is ahead of the kernel's next reading. If negative, the reading is behind the kernel's
     * previous one.
     */
    static long error(long before, long cpu, long after) {
        return cpu > after ? cpu - after : Math.min(cpu - before, 0);
    }

    /**
     * Checks a reading against the kernel's readings before and after it, and against the wall clock before and after
     * those.
     *
     * @param recorded whether to record its error
     */
    void checkCpu(long wallBefore, long before, long cpu, long after, long wallAfter, boolean recorded) {
        long error = error(before, cpu, after);
        if (Math.abs(error) > MAX_ERROR_NANOS)
            report("cpu " + cpu + " is " + error + " ns off the kernel's " + before + " to " + after);
        checkNext(cpu);
        long excess = cpu - comparedCpu - (wallAfter - lastWallNanos);
        // The first reading includes CPU time from before the first wall-clock time.
        if (comparedCpu != 0 && excess > WALL_TOLERANCE_NANOS)
            report("cpu grew by " + excess + " ns more than wall time");
        comparedCpu = cpu;
        lastWallNanos = wallBefore;
        if (recorded) errors.record(error, after - before);
    }

    /** Checks a reading against the previous one only. */
    void checkNext(long cpu) {
        checkMonotonic("cpu", lastCpu, cpu);
        lastCpu = cpu;
    }

    /** Checks user and system of a reading whose cpu was checked. */
    void checkParts(long cpu, long user, long system) {
        if (user + system != cpu || user < 0 || system < 0)
            report("user " + user + " and system " + system + " are not cpu " + cpu);
        checkUser(user);
        checkSystem(system);
    }

    /** Checks user against the previous reading. */
    void checkUser(long user) {
        checkMonotonic("user", lastUser, user);
        lastUser = user;
    }

    /** Checks system against the previous reading. */
    void checkSystem(long system) {
        checkMonotonic("system", lastSystem, system);
        lastSystem = system;
    }

    private void checkMonotonic(String part, long last, long now) {
        if (now < last) report(part + " went back by " + (last - now) + " ns, from " + last);
    }

    private void report(String description) {
        violations.accept(kind + ": " + description);
    }

    ReadingErrors errors() {
        return errors;
    }
}
