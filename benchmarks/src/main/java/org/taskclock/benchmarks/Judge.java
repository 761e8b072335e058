// SPDX-License-Identifier: Apache-2.0
// Copyright the TaskClock authors
package org.taskclock.benchmarks;

import java.util.function.Consumer;

/** Judges the readings of one thread after the other: what is inexact goes to the errors, what is wrong is told. */
final class Judge {
    /** A base lives no longer, so no reading can be further off. */
    static final long MOST_ERROR_NANOS = 1_000_000;
    /** By how much cpu may outrun the wall clock between two readings: the first may be behind, the second ahead. */
    static final long WALL_TOLERANCE_NANOS = 100_000;

    private final String kind;
    private final Consumer<String> wrong;
    private final Errors errors = new Errors();

    private long lastWallNanos;
    private long comparedCpu;
    private long lastCpu;
    private long lastUser;
    private long lastSystem;

    Judge(String kind, Consumer<String> wrong) {
        this.kind = kind;
        this.wrong = wrong;
        changeThread();
    }

    /** The readings that follow are of another thread. */
    void changeThread() {
        lastWallNanos = System.nanoTime();
        comparedCpu = 0;
        lastCpu = 0;
        lastUser = 0;
        lastSystem = 0;
    }

    /** How far a reading is ahead of the kernel's after it, or, negative, behind the kernel's before it. */
    static long error(long before, long cpu, long after) {
        return cpu > after ? cpu - after : Math.min(cpu - before, 0);
    }

    /**
     * A reading of cpu, the kernel's before and after it, and the wall clock before and after these.
     *
     * @param recorded whether its error is to be recorded, too
     */
    void cpu(long wallBefore, long before, long cpu, long after, long wallAfter, boolean recorded) {
        long error = error(before, cpu, after);
        if (Math.abs(error) > MOST_ERROR_NANOS)
            wrong("cpu " + cpu + " is " + error + " ns off the kernel's " + before + " to " + after);
        next(cpu);
        long outrun = cpu - comparedCpu - (wallAfter - lastWallNanos);
        // What a thread used before its first reading, nobody timed.
        if (comparedCpu != 0 && outrun > WALL_TOLERANCE_NANOS)
            wrong("cpu grew by " + outrun + " ns more than wall time");
        comparedCpu = cpu;
        lastWallNanos = wallBefore;
        if (recorded) errors.record(error, after - before);
    }

    /** A reading that is compared with the last one alone. */
    void next(long cpu) {
        notBack("cpu", lastCpu, cpu);
        lastCpu = cpu;
    }

    /** The other parts of a reading whose cpu was judged. */
    void parts(long cpu, long user, long system) {
        if (user + system != cpu) wrong("user " + user + " and system " + system + " are not cpu " + cpu);
        user(user);
        system(system);
    }

    void user(long user) {
        notBack("user", lastUser, user);
        lastUser = user;
    }

    void system(long system) {
        notBack("system", lastSystem, system);
        lastSystem = system;
    }

    private void notBack(String what, long last, long now) {
        if (now < last) wrong(what + " went back by " + (last - now) + " ns, from " + last);
    }

    private void wrong(String what) {
        wrong.accept(kind + ": " + what);
    }

    Errors errors() {
        return errors;
    }
}
