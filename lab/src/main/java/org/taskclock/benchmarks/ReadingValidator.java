// SPDX-License-Identifier: Apache-2.0
// Copyright the TaskClock authors
package org.taskclock.benchmarks;

import java.util.function.Consumer;

/**
 * Validates the readings of one thread at a time. Records inaccuracies, and reports violations of the clock's contract
 * to soak tests and {@code taskclock doctor}.
 */
public final class ReadingValidator {
    /** The kinds of violations. */
    public enum Violation {
        /** cpu differs from the kernel's clock by more than the life of a base. */
        ERROR,
        /** cpu grew faster than wall-clock time. */
        WALL_TIME,
        /** user and system do not add up to cpu, or one of them is negative. */
        SUM,
        /** A value decreased. */
        BACKWARD
    }

    /** Receives violations. */
    public interface Listener {
        /** Called for each violation, on the thread that validates. */
        void report(Violation violation, String description);
    }

    /** The life of a base, and therefore the largest possible error. */
    static final long MAX_ERROR_NANOS = 1_000_000;
    /**
     * The maximum by which the growth of cpu between two readings may exceed wall-clock time. The first reading may be
     * behind, and the second ahead.
     */
    static final long WALL_TOLERANCE_NANOS = 100_000;

    private final Listener listener;
    private final ReadingErrors errors = new ReadingErrors();

    private long lastWallNanos;
    private long comparedCpu;
    private long lastCpu;
    private long lastUser;
    private long lastSystem;

    /** Constructs a validator for the readings of a first thread. */
    public ReadingValidator(Listener listener) {
        this.listener = listener;
        changeThread();
    }

    /** Constructs a validator that reports violations as text, with the kind of thread in front. */
    static ReadingValidator ofKind(String kind, Consumer<String> violations) {
        return new ReadingValidator((violation, description) -> violations.accept(kind + ": " + description));
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
    public static long error(long before, long cpu, long after) {
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
            listener.report(
                    Violation.ERROR, "cpu " + cpu + " is " + error + " ns off the kernel's " + before + " to " + after);
        checkNext(cpu);
        long excess = cpu - comparedCpu - (wallAfter - lastWallNanos);
        // The first reading includes CPU time from before the first wall-clock time.
        if (comparedCpu != 0 && excess > WALL_TOLERANCE_NANOS)
            listener.report(Violation.WALL_TIME, "cpu grew by " + excess + " ns more than wall time");
        comparedCpu = cpu;
        lastWallNanos = wallBefore;
        if (recorded) errors.record(error, after - before);
    }

    /** Checks a reading against the previous one only. */
    public void checkNext(long cpu) {
        checkMonotonic("cpu", lastCpu, cpu);
        lastCpu = cpu;
    }

    /** Checks user and system of a reading whose cpu was checked. */
    public void checkParts(long cpu, long user, long system) {
        if (user + system != cpu || user < 0 || system < 0)
            listener.report(Violation.SUM, "user " + user + " and system " + system + " are not cpu " + cpu);
        checkUser(user);
        checkSystem(system);
    }

    /** Checks user against the previous reading. */
    public void checkUser(long user) {
        checkMonotonic("user", lastUser, user);
        lastUser = user;
    }

    /** Checks system against the previous reading. */
    public void checkSystem(long system) {
        checkMonotonic("system", lastSystem, system);
        lastSystem = system;
    }

    private void checkMonotonic(String part, long last, long now) {
        if (now < last)
            listener.report(Violation.BACKWARD, part + " went back by " + (last - now) + " ns, from " + last);
    }

    ReadingErrors errors() {
        return errors;
    }
}
