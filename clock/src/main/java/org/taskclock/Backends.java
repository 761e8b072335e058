// SPDX-License-Identifier: Apache-2.0
// Copyright the TaskClock authors
package org.taskclock;

import java.util.ArrayList;
import java.util.List;

/**
 * Selects the backend and records the reasons. Selection is slow, so it runs on its own thread; until it is done, every
 * reading asks the kernel. A forced backend is selected at once.
 */
final class Backends {
    static final String PROPERTY = "taskclock.backend";

    /** Indexed by the PROBE_ numbers of shared.h; the first means usable. */
    private static final String[] REFUSALS = {
        "",
        "the time-stamp counter is not reliable here: it is neither the current clock source nor listed and invariant",
        "this process may not read the time-stamp counter: prctl(PR_SET_TSC) forbids it",
        "the C library has not registered a restartable-sequences area: it is not glibc 2.35 or later, or"
                + " GLIBC_TUNABLES disables registration",
        "the C library has registered its own area: start the JVM with GLIBC_TUNABLES=glibc.pthread.rseq=0",
        "the kernel refuses to register a restartable-sequences area",
        "it cannot be tested: cannot start a child process (clone fails: process limit or seccomp?)",
        "it cannot be tested: sched_setaffinity is not permitted",
        "the kernel kills a process that uses it, as with rseq_debug: a child process that tested it was killed",
        "the kernel keeps the marker of a thread that blocks: 6.19 keeps both kinds, 7.0 and later keep that of rseq,"
                + " kernels before 6.3 keep that of rseq-own",
        "the kernel keeps the marker of a thread that is preempted",
        "it cannot be tested: no thread was preempted within two seconds",
        "the kernel removes the marker at each system call, as with rseq_debug, so it would save nothing",
        "the rate of the time-stamp counter does not settle",
        "out of memory",
        "reading the time-stamp counter takes longer than asking the kernel: the hypervisor or the kernel intercepts it"
    };

    private static final String EXACT_REFUSAL =
            "-D" + AccuracyBudget.PROPERTY + "=exact: every reading must ask the kernel";

    /**
     * -1 if the property is not set. The native code then uses its default, and {@link AccuracyBudget} is not loaded.
     */
    private static final long BUDGET =
            System.getProperty(AccuracyBudget.PROPERTY) == null ? -1 : AccuracyBudget.nanos();

    /** Test results by backend number: empty if the backend is usable, null if it was not tested. */
    private static final String[] RESULTS = new String[Backend.values().length];

    private static volatile Backend inUse;
    /** Selects the backend, unless it is forced, and upgrades the binding; null on {@link Backend#MXBEAN}. */
    private static volatile StartupThread startup;

    private static long restoresSeen;

    /** True if the native library is in use, on any backend. */
    static final boolean IS_NATIVE = initialize(System.getProperty(PROPERTY));

    private Backends() {}

    private static boolean initialize(String forced) {
        if (forced != null) {
            force(parse(forced), forced);
        } else if (libraryRefusal() != null) {
            inUse = Backend.MXBEAN;
        } else {
            inUse = Backend.SYSCALL;
        }
        boolean isNative = inUse != Backend.MXBEAN;
        if (isNative) {
            if (BUDGET > 0) Library.setAccuracy(BUDGET);
            startup = new StartupThread(forced == null);
            startup.start();
        }
        return isNative;
    }

    private static void force(Backend backend, String text) {
        String refusal = trySelect(backend);
        if (refusal != null) {
            throw new IllegalStateException("-D" + PROPERTY + "=" + text + ": the backend cannot be used here: "
                    + refusal + "; omit the property to use the best backend that works");
        }
        inUse = backend;
    }

    private static Backend parse(String name) {
        for (Backend backend : Backend.values()) if (backend.toString().equals(name)) return backend;
        throw new IllegalArgumentException(
                "-D" + PROPERTY + "=" + name + ": no such backend; valid values are " + List.of(Backend.values()));
    }

    static Backend inUse() {
        return inUse;
    }

    static Backend decided() {
        if (startup != null) startup.awaitSelection();
        return inUse;
    }

    /** Tests the backends that need no system call, best first, and switches to the first usable one. */
    static synchronized void selectBest() {
        restoresSeen = Library.restores();
        if (trySelect(Backend.RSEQ) == null) inUse = Backend.RSEQ;
        else inUse = trySelect(Backend.RSEQ_OWN) == null ? Backend.RSEQ_OWN : Backend.SYSCALL;
    }

    /** Selects the backend again, because this may be another machine. */
    static void selectAfterRestore() {
        // System calls work on every machine.
        if (startup == null || (!startup.selectsBackend() && !readsCounter())) return;
        Library.machineChanged();
        reselect();
    }

    /** Selects the backend again after the native code has switched to system calls. */
    private static synchronized void reselect() {
        if (startup.selectsBackend()) {
            selectBest();
            return;
        }
        restoresSeen = Library.restores();
        // A forced backend is used again if it is still usable. Otherwise only system calls may replace it.
        if (readsCounter() && trySelect(inUse) != null) inUse = Backend.SYSCALL;
    }

    /** Tests a backend and switches the native code to it. Returns null, or the reason why it is not usable. */
    private static String trySelect(Backend backend) {
        if (backend == Backend.MXBEAN) return MxbeanClock.refusal();
        String refusal = libraryRefusal();
        if (refusal == null && backend != Backend.SYSCALL && BUDGET == AccuracyBudget.EXACT) refusal = EXACT_REFUSAL;
        if (refusal == null) {
            int code = Library.selectBackend(backend.number);
            refusal = code == 0 ? null : REFUSALS[code];
        }
        RESULTS[backend.number] = refusal == null ? "" : refusal;
        return refusal;
    }

    private static String libraryRefusal() {
        if (!Library.isLoaded()) return Library.failure();
        int errno = Library.kernelRefusal();
        return errno == 0 ? null : "the kernel refuses clock_gettime or getrusage with errno " + errno + " (seccomp?)";
    }

    static ClockStatus status() {
        if (startup != null) startup.awaitCompletion();
        if (startup != null && Library.restores() != restoresSeen) reselect();
        return describe();
    }

    private static synchronized ClockStatus describe() {
        List<ClockStatus.Verdict> verdicts = new ArrayList<>();
        for (Backend backend : Backend.values()) verdicts.add(verdict(backend));
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
        return inUse == Backend.RSEQ || inUse == Backend.RSEQ_OWN;
    }

    private static ClockStatus.Calibration calibration() {
        return new ClockStatus.Calibration(
                Library.counterHertz(), Library.calibratedOverNanos(), Library.calibrationResets());
    }

    private static ClockStatus.Accuracy accuracy() {
        return new ClockStatus.Accuracy(
                Library.budgetNanos(), Library.lifeNanos(), Library.observedNanos(), Library.aheadNanos());
    }

    private static ClockStatus.Verdict verdict(Backend backend) {
        String refusal;
        String result = RESULTS[backend.number];
        if (backend == Backend.MXBEAN) refusal = MxbeanClock.refusal();
        else if (backend == Backend.SYSCALL) refusal = libraryRefusal();
        else if (result != null) refusal = result.isEmpty() ? null : result;
        else refusal = Library.isLoaded() ? "not tested, because " + inUse + " is in use" : Library.failure();
        return new ClockStatus.Verdict(backend, refusal == null, refusal == null ? description(backend) : refusal);
    }

    private static String description(Backend backend) {
        if (backend == Backend.MXBEAN) return "ThreadMXBean of this JVM";
        String others = Library.knowsJavaThreads()
                ? ""
                : "; other threads through ThreadMXBean, because libjvm's tables are not visible";
        String method =
                switch (backend) {
                    case RSEQ -> "time-stamp counter, with a marker in the C library's area";
                    case RSEQ_OWN -> "time-stamp counter, with a marker in our own area";
                    default -> "one clock_gettime call with id 0";
                };
        return method + ", through " + Native.binding() + others;
    }
}
