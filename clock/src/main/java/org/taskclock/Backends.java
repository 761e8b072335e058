// SPDX-License-Identifier: Apache-2.0
// Copyright the TaskClock authors
package org.taskclock;

import java.util.ArrayList;
import java.util.List;

/**
 * Selects the backend and records the reasons. Selection is slow, so it runs on its own thread; until it is done, every
 * reading asks the kernel. A forced backend is selected at once. Which one is in use is a fact of the process: other
 * copies of the library, and the agent's kill switch, change it, too.
 */
final class Backends {
    static final String PROPERTY = "taskclock.backend";

    /** BACKEND_NO_TAKE in shared.h. */
    private static final int NO_TAKE = -3;

    private static final List<Backend> WITHOUT_SYSTEM_CALL = List.of(Backend.RSEQ, Backend.RSEQ_OWN);

    /** The backends that the property names; null if it is not set. */
    private static volatile List<Backend> forced;

    /** Null on {@link Backend#MXBEAN}, and while no thread can be started. */
    private static volatile StartupThread startup;

    // The fields below are guarded by the class.

    /** -1 if the property is not set. The native code then uses its default. */
    private static long budgetNanos;

    /** Test results by backend number: empty if the backend is usable, null if it was not tested. */
    private static String[] results;

    private static boolean isSelected;

    private static boolean isTakeAllowed;

    /** Whether a backend was rejected for lack of a process or of memory. */
    private static boolean mayImprove;

    private static long changesSeen;

    private Backends() {}

    /**
     * Loads the library, and selects a forced backend. Returns whether the library is in use.
     *
     * @throws IllegalStateException if a forced backend cannot be used
     */
    static synchronized boolean load() {
        if (results == null) results = new String[Backend.values().length];
        // Without the property, AccuracyBudget is not loaded.
        budgetNanos = System.getProperty(AccuracyBudget.PROPERTY) == null ? -1 : AccuracyBudget.nanos();
        String name = System.getProperty(PROPERTY);
        if (name != null) force(parse(name));
        if (libraryRefusal() != null) return false;
        if (budgetNanos > 0) Library.setAccuracy(budgetNanos);
        return true;
    }

    private static void force(List<Backend> backends) {
        mayImprove = false;
        String refusal = selectFirst(backends);
        boolean isTemporary = mayImprove || !Preparation.canOpenFiles();
        if (refusal != null && !isTemporary) {
            throw new IllegalStateException("-D" + PROPERTY + "=" + System.getProperty(PROPERTY)
                    + ": the backend cannot be used here: " + refusal
                    + "; omit the property to use the best backend that works");
        }
        // Until a later test succeeds, readings use what is left.
        forced = backends;
        isSelected = refusal == null;
    }

    private static List<Backend> parse(String names) {
        List<Backend> backends = new ArrayList<>();
        for (String name : names.split(",", -1))
            for (Backend backend : Backend.values()) if (backend.toString().equals(name)) backends.add(backend);
        boolean isAlone = backends.size() == 1 || !backends.contains(Backend.MXBEAN);
        if (isAlone && backends.size() == names.split(",", -1).length) return List.copyOf(backends);
        throw new IllegalArgumentException("-D" + PROPERTY + "=" + names + ": no such backend; valid values are "
                + List.of(Backend.values()) + ", or several without mxbean, separated by commas, best first");
    }

    /** Starts the thread that selects the backend, unless it is selected already, and upgrades the binding. */
    static synchronized boolean startSelection() {
        if (startup == null) {
            StartupThread thread = new StartupThread(!isSelected);
            thread.start();
            startup = thread;
        }
        return true;
    }

    static Backend inUse() {
        if (!TaskClock.isNative()) return Backend.MXBEAN;
        Library.ensureShared(); // the agent's library looks for the shared state next
        return nativeBackend();
    }

    private static Backend nativeBackend() {
        long number = Library.backendInUse();
        for (Backend backend : Backend.values()) if (backend.number == number) return backend;
        return Backend.SYSCALL;
    }

    static Backend decided() {
        if (TaskClock.isNative()) {
            StartupThread thread = startup;
            if (thread != null) thread.awaitSelection();
            improve();
        }
        return inUse();
    }

    /** Returns whether {@link #improve} may change something. */
    static synchronized boolean mayImprove() {
        return !isSelected || mayImprove || !Library.isShared();
    }

    /** Shares the state with other copies, and selects the backend, if that has not succeeded or is out of date. */
    static synchronized void improve() {
        Library.ensureShared();
        if (!isSelected || mayImprove || Library.changes() != changesSeen) select();
    }

    /** Selects the backend again, because this may be another machine. */
    static void selectAfterRestore() {
        // System calls work on every machine.
        if (List.of(Backend.SYSCALL).equals(forced)) return;
        Library.machineChanged();
        select();
    }

    /**
     * Tests the backends that need no system call, best first, and switches to the first usable one. Instead of forced
     * backends, only system calls may be used.
     */
    static synchronized void select() {
        isSelected = false;
        mayImprove = false;
        changesSeen = Library.changes();
        if (forced != null) selectFirst(forced);
        else if (selectFirst(WITHOUT_SYSTEM_CALL) != null && isTakeAllowed) trySelect(Backend.RSEQ_TAKE);
        isSelected = true;
    }

    /** Switches to the first backend that is usable. Returns null, or the reason why the last one is not. */
    private static String selectFirst(List<Backend> backends) {
        String refusal = null;
        for (Backend backend : backends) {
            refusal = trySelect(backend);
            if (refusal == null) break;
        }
        return refusal;
    }

    static String allowTake(boolean allowed) {
        boolean isNative = Preparation.runNow();
        setTakeAllowed(allowed);
        if (!isNative) return allowed ? beanInsteadOfLibrary() : null;
        return allowed && !readsCounter(nativeBackend()) ? takeRefusal() : null;
    }

    private static synchronized void setTakeAllowed(boolean allowed) {
        isTakeAllowed = allowed;
        if (!Preparation.isNative()) return;
        if (!allowed) {
            Library.selectBackend(NO_TAKE);
            results[Backend.RSEQ_TAKE.number] = null;
        }
        select();
    }

    private static synchronized String takeRefusal() {
        if (forced != null) return "-D" + PROPERTY + "=" + System.getProperty(PROPERTY) + " does not name it";
        return verdict(Backend.RSEQ_TAKE, Backend.SYSCALL).reason();
    }

    private static synchronized String beanInsteadOfLibrary() {
        return verdict(Backend.SYSCALL, Backend.MXBEAN).reason();
    }

    /** Tests a backend and switches the native code to it. Returns null, or the reason why it is not usable. */
    private static String trySelect(Backend backend) {
        if (backend == Backend.MXBEAN) {
            mayImprove |= !Preparation.isBeanUsable();
            return beanRefusal();
        }
        String refusal = libraryRefusal();
        if (refusal == null && backend != Backend.SYSCALL && budgetNanos == AccuracyBudget.EXACT) {
            refusal = "-D" + AccuracyBudget.PROPERTY + "=exact: every reading must ask the kernel";
        }
        if (refusal == null) {
            int code = Library.selectBackend(backend.number);
            refusal = ProbeResult.text(code);
            mayImprove |= ProbeResult.isTemporary(code);
        }
        results[backend.number] = refusal == null ? "" : refusal;
        return refusal;
    }

    private static String libraryRefusal() {
        String failure = Library.load();
        if (failure != null) return failure;
        int errno = Library.kernelRefusal();
        return errno == 0 ? null : "the kernel refuses clock_gettime or getrusage with errno " + errno + " (seccomp?)";
    }

    static ClockStatus status() {
        if (Preparation.runNow()) {
            StartupThread thread = startup;
            if (thread != null) thread.awaitCompletion();
            improve();
        }
        return describe();
    }

    private static synchronized ClockStatus describe() {
        // Does not prepare the clock, which would wait for this lock.
        Backend current = Preparation.isNative() ? nativeBackend() : Backend.MXBEAN;
        List<ClockStatus.Verdict> verdicts = new ArrayList<>();
        for (Backend backend : Backend.values()) verdicts.add(verdict(backend, current));
        boolean loaded = Library.isLoaded();
        String glibc = loaded ? Library.libc() : null;
        return new ClockStatus(
                current,
                List.copyOf(verdicts),
                loaded ? Native.binding() : "none",
                Library.tickNanos(),
                !loaded
                        ? ClockStatus.Accounting.UNKNOWN
                        : Library.isPrecise() ? ClockStatus.Accounting.PRECISE : ClockStatus.Accounting.TICK,
                Library.state(),
                glibc != null ? "glibc " + glibc : loaded ? "not glibc" : "unknown",
                readsCounter(current) ? calibration() : null,
                readsCounter(current) ? accuracy() : null);
    }

    private static boolean readsCounter(Backend backend) {
        return backend != Backend.SYSCALL && backend != Backend.MXBEAN;
    }

    private static ClockStatus.Calibration calibration() {
        return new ClockStatus.Calibration(
                Library.counterHertz(), Library.calibratedOverNanos(), Library.calibrationResets());
    }

    private static ClockStatus.Accuracy accuracy() {
        return new ClockStatus.Accuracy(
                Library.budgetNanos(), Library.lifeNanos(), Library.observedNanos(), Library.aheadNanos());
    }

    private static ClockStatus.Verdict verdict(Backend backend, Backend current) {
        boolean loaded = Library.isLoaded();
        String refusal;
        String result = results == null ? null : results[backend.number];
        if (backend == Backend.MXBEAN) refusal = beanRefusal();
        else if (!loaded) refusal = Library.failure();
        else if (backend == Backend.SYSCALL) refusal = libraryRefusal();
        else if (Library.isApart()) refusal = "another copy of TaskClock in this process shares its state";
        else if (Library.isOff() != 0) refusal = ProbeResult.text(ProbeResult.SWITCHED_OFF);
        else if (backend == current) refusal = null; // perhaps another copy has selected it
        else if (result != null) refusal = result.isEmpty() ? null : result;
        else if (backend == Backend.RSEQ_TAKE && current == Backend.SYSCALL)
            refusal = "not allowed: -D" + PROPERTY + "=rseq-take, or the agent's option rseq-take=on, allows it";
        else refusal = "not tested, because " + current + " is in use";
        return new ClockStatus.Verdict(
                backend, refusal == null, refusal == null ? description(backend, current) : refusal);
    }

    private static String beanRefusal() {
        return Preparation.isBeanUsable() ? MxbeanClock.refusal() : "not available now: no memory or no files are left";
    }

    private static String description(Backend backend, Backend current) {
        if (backend == Backend.MXBEAN) return "ThreadMXBean of this JVM";
        String method = "one clock_gettime call with id 0";
        if (backend == Backend.RSEQ) method = "time-stamp counter, with a marker in the C library's area";
        if (backend == Backend.RSEQ_OWN) method = "time-stamp counter, with a marker in our own area";
        if (backend == Backend.RSEQ_TAKE) method = "time-stamp counter, with our own area instead of the C library's";
        String others = Library.knowsJavaThreads()
                ? ""
                : "; other threads through ThreadMXBean, because libjvm's tables are not visible";
        boolean isOurArea = backend == Backend.RSEQ_OWN || backend == Backend.RSEQ_TAKE;
        boolean isAtRisk = isOurArea && current == backend && kernelHasRseqDebug();
        String risk = isAtRisk ? "; the kernel kills this process if root turns on rseq_debug in debugfs" : "";
        return method + ", through " + Native.binding() + others + risk;
    }

    /** Linux 6.19 introduced the switch. Only root can read it. */
    private static boolean kernelHasRseqDebug() {
        return System.getProperty("os.version", "").matches("(6\\.(19|[2-9]\\d)|[7-9]\\.|[1-9]\\d+\\.).*");
    }
}
