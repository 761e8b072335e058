// SPDX-License-Identifier: Apache-2.0
// Copyright the TaskClock authors
package org.taskclock.agent;

import java.lang.instrument.Instrumentation;
import java.util.ArrayList;
import java.util.List;
import org.taskclock.internal.JdkVersions;

/** Makes ThreadMXBean read from the clock, by replacing natives of sun.management.ThreadImpl. */
final class ThreadTimes {
    private static final String THREAD_IMPL = "sun.management.ThreadImpl";
    private static final int NANOS_PER_MILLI = 1_000_000;

    private final TaskClockHooks hooks;
    private final Instrumentation instrumentation;
    private final Class<?> threadImpl;
    private final ThreadUserTimes userTimes;
    /** Null if no method is changed. */
    private ClassPatch patch;

    private List<ClassPatch.Change> virtualChanges = List.of();
    /** Whether {@link #correct} has changed the class, so that {@link #install} changes it again. */
    private boolean isCorrected;

    private boolean installed;
    private boolean answersVirtual;
    /** Whether ThreadMXBean may have answered from the JVM. */
    private boolean mayHaveAnswered;
    /** Null before the first check. */
    private Boolean readsText;

    ThreadTimes(TaskClockHooks hooks, Instrumentation instrumentation) throws FeatureException {
        this.hooks = hooks;
        this.instrumentation = instrumentation;
        this.userTimes = new ThreadUserTimes(hooks);
        try {
            mayHaveAnswered = hooks.isInitialized(Class.forName(THREAD_IMPL, false, null));
            // Loads libmanagement, but does not create the platform's beans.
            Class.forName("sun.management.ManagementFactoryHelper");
            threadImpl = Class.forName(THREAD_IMPL);
        } catch (ClassNotFoundException | LinkageError e) {
            throw new FeatureException(
                    "this JVM has no " + THREAD_IMPL + ": is the module java.management missing?", e);
        }
        FeatureException.throwIf(hooks.prepareTimes(userTimes, userTimes));
    }

    boolean isInstalled() {
        return installed;
    }

    /**
     * Replaces the natives. With {@code virtual}, ThreadMXBean also answers for virtual threads that are accounted for.
     */
    void install(boolean virtual) throws FeatureException {
        if (installed) {
            if (virtual == answersVirtual) return;
            remove();
        }
        installed = true; // before the call, which may have replaced the natives if it fails
        try {
            FeatureException.throwIf(hooks.takeTimes(threadImpl, readsUserTimeAsText(), mayHaveAnswered));
            mayHaveAnswered = true;
            String disagreement = disagreement();
            if (disagreement != null)
                throw new FeatureException("not installed, because the clock and the JVM disagree: " + disagreement);
            if (virtual && VirtualThreadPatch.isSupported()) change(true);
            else if (isCorrected) change(false);
        } catch (FeatureException | RuntimeException | Error e) {
            remove();
            throw e;
        }
        if (virtual && VirtualThreadPatch.isSupported()) answerVirtual();
    }

    /**
     * Corrects getThreadUserTime of JDK 21 to 24, which returns the CPU time if the id is the caller's own. This is
     * only done with -javaagent: in a JVM with an attached agent, changing the class discards all compiled code.
     */
    void correct() throws FeatureException {
        if (!installed || patch != null || !hasUserTimeBug()) return;
        change(false);
        isCorrected = true;
    }

    void remove() throws FeatureException {
        if (!installed) return;
        hooks.setAnswersVirtual(false);
        answersVirtual = false;
        hooks.stopTimes();
        installed = false;
        userTimes.clear();
        // On other JDKs the patch stays, because each redefinition leaves a class behind. Its hook now returns the
        // JVM's answers.
        ClassPatch applied = patch;
        if (applied == null || !hasUserTimeBug()) return;
        patch = null;
        applied.undo();
    }

    /**
     * Returns whether the JVM reads another thread's user time from /proc as text, in steps of 10 ms. Observes the JVM
     * if possible; otherwise decides by its version.
     */
    private boolean readsUserTimeAsText() {
        if (readsText == null) {
            int observed = hooks.userTimeIsText();
            readsText = observed >= 0 ? observed == 1 : isTextInThisJdk();
        }
        return readsText;
    }

    static boolean isTextInThisJdk() {
        return JdkVersions.readsUserTimeAsText(Runtime.version());
    }

    /** Returns whether getThreadUserTime with the caller's own id returns the CPU time. */
    static boolean hasUserTimeBug() {
        int feature = Runtime.version().feature();
        return feature >= JdkVersions.OWN_USER_TIME_WRONG && feature < JdkVersions.OWN_USER_TIME_RIGHT;
    }

    private void change(boolean virtual) throws FeatureException {
        if (patch != null) return; // the patch stayed when the natives were restored
        ClassPatch.Change correction =
                ClassPatch.redirect("getThreadUserTime", "([J)[J", "getThreadTotalCpuTime0", "getThreadUserCpuTime0");
        virtualChanges = !virtual
                ? List.of()
                : List.of(
                        ClassPatch.replaceIsVirtual("getCurrentThreadCpuTime", "()J", "isTimeUnknown"),
                        ClassPatch.replaceIsVirtual("getCurrentThreadUserTime", "()J", "isTimeUnknown"),
                        ClassPatch.replaceIsVirtual("getThreadCpuTime", "([J)[J", "isTimeUnknown"),
                        ClassPatch.replaceIsVirtual("getThreadUserTime", "([J)[J", "isTimeUnknown"));
        List<ClassPatch.Change> changes = new ArrayList<>(virtualChanges);
        if (hasUserTimeBug()) changes.add(correction);
        ClassPatch newPatch = new ClassPatch(instrumentation, threadImpl, changes);
        newPatch.apply();
        patch = newPatch;
        if (hasUserTimeBug()) patch.require(correction);
    }

    /** Makes ThreadMXBean answer for virtual threads. If this fails, everything else stays installed. */
    private void answerVirtual() throws FeatureException {
        for (ClassPatch.Change change : virtualChanges) patch.require(change);
        hooks.setAnswersVirtual(true);
        answersVirtual = true;
    }

    // ---- the check after installation

    private static final int MAX_TRIES = 20;
    /**
     * If the kernel deducts time that a hypervisor stole, its clock may stop while ours runs on until the next base.
     */
    private static final long CPU_TOLERANCE = NANOS_PER_MILLI;

    private static final long USER_TOLERANCE = 30L * NANOS_PER_MILLI;

    /** Compares the clock's natives with the JVM's own. Returns null, or how they disagree. */
    private String disagreement() {
        long before = 0;
        long ours = 0;
        for (int i = 0; i < MAX_TRIES; i++) {
            before = hooks.stockCpuNanos(0);
            ours = hooks.cpuNanos(threadImpl);
            long after = hooks.stockCpuNanos(0);
            if (before - CPU_TOLERANCE <= ours && ours <= after + CPU_TOLERANCE) return userDisagreement(after);
        }
        return "CPU time " + ours + " ns, JVM " + before + " ns";
    }

    private String userDisagreement(long cpu) {
        long ours = hooks.userNanos(threadImpl);
        long stock = hooks.stockUserNanos(0);
        if (ours < 0 || ours > cpu + USER_TOLERANCE) return "user time " + ours + " ns of " + cpu + " ns";
        // Later JVMs return the plain tick count, which can have any value.
        if (readsUserTimeAsText() && Math.abs(ours - stock) > USER_TOLERANCE) {
            return "user time " + ours + " ns, JVM " + stock + " ns";
        }
        return null;
    }
}
