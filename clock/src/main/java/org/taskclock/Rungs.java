// SPDX-License-Identifier: Apache-2.0
// Copyright the TaskClock authors
package org.taskclock;

import java.util.ArrayList;
import java.util.List;

/**
 * Chooses the rung, and remembers why. Until that is decided, which a thread of its own does as it takes long, the kernel is asked at each
 * reading. A rung that is forced is decided at once.
 */
final class Rungs {
    static final String PROPERTY = "taskclock.rung";

    /** By the numbers of taskclock.h; the first says that nothing is wrong. */
    private static final String[] REFUSALS = {
        "",
        "the time-stamp counter is not steady here: /sys/devices/system/clocksource does not offer tsc",
        "this process may not read the time-stamp counter: prctl(PR_SET_TSC) forbids it",
        "the C library has registered no restartable-sequences area: it is not glibc 2.35 or later, or was told not to",
        "the C library has registered its own area: start the JVM with GLIBC_TUNABLES=glibc.pthread.rseq=0",
        "the kernel has no restartable-sequences area of this thread, and takes none",
        "it cannot be tried: no child process can be started (clone is refused: a limit of processes, or seccomp?)",
        "it cannot be tried: sched_setaffinity is not permitted",
        "the kernel kills a process that uses it, as it does with rseq_debug: seen in a child process that was made to try it",
        "the kernel keeps the marker of a thread that blocks: 6.19 keeps both kinds, 7.0 and later that of rseq, those before"
                + " 6.3 that of rseq-own",
        "the kernel keeps the marker of a thread that is preempted",
        "it cannot be tried: a thread was never preempted within two seconds",
        "the kernel removes the marker at each system call, as it does with rseq_debug, so it is of no use",
        "the rate of the time-stamp counter does not settle",
        "there is no memory for it"
    };

    private static final String EXACT =
            "-D" + AccuracyBudget.PROPERTY + "=exact: the kernel is to be asked at each reading";

    /** -1 without the property, where the native half has its own default: {@link AccuracyBudget} need not be loaded for that. */
    private static final long BUDGET =
            System.getProperty(AccuracyBudget.PROPERTY) == null ? -1 : AccuracyBudget.nanos();

    /** What was found out, by the rung's number: empty if it is usable, null if it was not tried. */
    private static final String[] TRIED = new String[Rung.values().length];

    private static volatile Rung inUse;
    /** What decides at the moment, or did; null where nothing is to be decided. */
    private static volatile Startup startup;

    private static long restoresSeen;

    /** Whether the native library is in use, on whichever rung. */
    static final boolean IS_NATIVE = begin(System.getProperty(PROPERTY));

    private Rungs() {}

    private static boolean begin(String forced) {
        if (forced != null) {
            force(named(forced), forced);
        } else if (libraryRefusal() != null) {
            inUse = Rung.MXBEAN;
        } else {
            inUse = Rung.SYSCALL;
        }
        boolean isNative = inUse != Rung.MXBEAN;
        if (isNative) {
            if (BUDGET > 0) Library.setAccuracy(BUDGET);
            startup = new Startup(forced == null);
            startup.start();
        }
        return isNative;
    }

    private static void force(Rung rung, String text) {
        String refusal = refusal(rung);
        if (refusal != null) {
            throw new IllegalStateException("-D" + PROPERTY + "=" + text + ": the rung cannot be used here: " + refusal
                    + "; omit the property to use the best rung that works");
        }
        inUse = rung;
    }

    private static Rung named(String name) {
        for (Rung rung : Rung.values()) if (rung.toString().equals(name)) return rung;
        throw new IllegalArgumentException(
                "-D" + PROPERTY + "=" + name + ": no such rung; there are " + List.of(Rung.values()));
    }

    static Rung inUse() {
        return inUse;
    }

    static Rung decided() {
        if (startup != null) startup.awaitDecision();
        return inUse;
    }

    /** Tries what is better than a system call, best first. */
    static synchronized void decide() {
        restoresSeen = Library.restores();
        inUse = refusal(Rung.RSEQ) == null ? Rung.RSEQ : refusal(Rung.RSEQ_OWN) == null ? Rung.RSEQ_OWN : Rung.SYSCALL;
    }

    /** Decides anew: this may be another machine. */
    static void decideAfterRestore() {
        Startup last = startup;
        if (last == null || !last.isDeciding()) return; // the rung was forced, and is not ours to change
        Library.machineChanged();
        decide();
    }

    /** Tries a rung, and changes to it where it is usable. */
    private static String refusal(Rung rung) {
        if (rung == Rung.MXBEAN) return MxbeanClock.refusal();
        String refusal = libraryRefusal();
        if (refusal == null && rung != Rung.SYSCALL && BUDGET == AccuracyBudget.EXACT) refusal = EXACT;
        if (refusal == null) {
            int code = Library.selectRung(rung.number);
            refusal = code == 0 ? null : REFUSALS[code];
        }
        TRIED[rung.number] = refusal == null ? "" : refusal;
        return refusal;
    }

    private static String libraryRefusal() {
        if (!Library.isLoaded()) return Library.failure();
        int errno = Library.kernelRefusal();
        return errno == 0 ? null : "the kernel refuses clock_gettime or getrusage with errno " + errno + " (seccomp?)";
    }

    static ClockStatus status() {
        if (startup != null) startup.await();
        if (IS_NATIVE && Library.restores() != restoresSeen) decideAfterRestore();
        return describe();
    }

    private static synchronized ClockStatus describe() {
        List<ClockStatus.Verdict> verdicts = new ArrayList<>();
        for (Rung rung : Rung.values()) verdicts.add(verdict(rung));
        boolean loaded = Library.isLoaded();
        String glibc = loaded ? Library.libc() : null;
        return new ClockStatus(
                inUse,
                List.copyOf(verdicts),
                loaded ? Native.binding() : "none",
                Library.tickNanos(),
                !loaded
                        ? ClockStatus.Accounting.UNKNOWN
                        : Library.isPrecise() ? ClockStatus.Accounting.PRECISE : ClockStatus.Accounting.TICK,
                Library.state(),
                glibc != null ? "glibc " + glibc : loaded ? "not glibc" : "unknown",
                readsCounter() ? calibration() : null,
                readsCounter() ? accuracy() : null);
    }

    private static boolean readsCounter() {
        return inUse == Rung.RSEQ || inUse == Rung.RSEQ_OWN;
    }

    private static ClockStatus.Calibration calibration() {
        return new ClockStatus.Calibration(
                Library.counterHertz(), Library.calibratedOverNanos(), Library.calibrationResets());
    }

    private static ClockStatus.Accuracy accuracy() {
        return new ClockStatus.Accuracy(
                Library.budgetNanos(), Library.lifeNanos(), Library.observedNanos(), Library.aheadNanos());
    }

    private static ClockStatus.Verdict verdict(Rung rung) {
        String refusal;
        String tried = TRIED[rung.number];
        if (rung == Rung.MXBEAN) refusal = MxbeanClock.refusal();
        else if (rung == Rung.SYSCALL) refusal = libraryRefusal();
        else if (tried != null) refusal = tried.isEmpty() ? null : tried;
        else refusal = Library.isLoaded() ? "not tried, as " + inUse + " is in use" : Library.failure();
        return new ClockStatus.Verdict(rung, refusal == null, refusal == null ? description(rung) : refusal);
    }

    private static String description(Rung rung) {
        if (rung == Rung.MXBEAN) return "ThreadMXBean of this JVM";
        String others =
                Library.knowsJavaThreads() ? "" : "; other threads by ThreadMXBean, as libjvm's tables are not visible";
        String how =
                switch (rung) {
                    case RSEQ -> "time-stamp counter, and a marker in the C library's area";
                    case RSEQ_OWN -> "time-stamp counter, and a marker in an area of our own";
                    default -> "one clock_gettime, id 0";
                };
        return how + ", by " + Native.binding() + others;
    }
}
