// SPDX-License-Identifier: Apache-2.0
// Copyright the TaskClock authors
package org.taskclock.agent;

import java.lang.instrument.Instrumentation;
import java.util.ArrayList;
import java.util.List;

/** The clock behind ThreadMXBean: ours in place of natives of sun.management.ThreadImpl. */
final class ThreadTimes {
    private static final String THREAD_IMPL = "sun.management.ThreadImpl";
    private static final int MILLIS = 1_000_000;

    private final Hooks hooks;
    private final Instrumentation jvm;
    private final Class<?> threadImpl;
    private final OtherThreads others;
    /** Null where no method is changed. */
    private Rewriting rewriting;

    private List<Rewriting.Change> virtualToo = List.of();
    /** Whether {@link #correct} found something to correct, which is corrected again after the kill switch. */
    private boolean isCorrected;

    private boolean installed;
    private boolean answersVirtual;
    /** Null before it was looked at. */
    private Boolean isText;

    ThreadTimes(Hooks hooks, Instrumentation jvm) throws Refused {
        this.hooks = hooks;
        this.jvm = jvm;
        this.others = new OtherThreads(hooks);
        try {
            // Loads libmanagement; the platform's beans are not made yet.
            Class.forName("sun.management.ManagementFactoryHelper");
            threadImpl = Class.forName(THREAD_IMPL);
        } catch (ClassNotFoundException | LinkageError e) {
            throw new Refused("this JVM has no " + THREAD_IMPL + ": is java.management among its modules?", e);
        }
        Refused.unlessNull((String) hooks.call("prepareTimes", others, others));
    }

    boolean isInstalled() {
        return installed;
    }

    /** {@code virtual}: ThreadMXBean answers for a virtual thread that is accounted for. */
    void install(boolean virtual) throws Refused {
        if (installed) {
            if (virtual == answersVirtual) return;
            remove();
        }
        Refused.unlessNull((String) hooks.call("takeTimes", threadImpl, readsUserTimeAsText()));
        installed = true;
        try {
            String disagreement = disagreement();
            if (disagreement != null)
                throw new Refused("left as it is, as the clock and the JVM disagree: " + disagreement);
            if (virtual && VirtualThreads.exist()) change(true);
            else if (isCorrected) change(false);
        } catch (Refused e) {
            remove();
            throw e;
        }
        if (virtual && VirtualThreads.exist()) answerVirtual();
    }

    /**
     * Corrects the getThreadUserTime of JDK 21 to 24, which answers with the CPU time where the id is the caller's own. Changing
     * the class costs a JVM that was attached to all of its compiled code, so it is done only before the program starts.
     */
    void correct() throws Refused {
        if (!installed || rewriting != null || !asksForCpuInstead()) return;
        change(false);
        isCorrected = true;
    }

    void remove() throws Refused {
        if (!installed) return;
        Refused.unlessNull((String) hooks.call("restoreTimes", threadImpl));
        installed = false;
        others.forget();
        hooks.call("setAnswersVirtual", false);
        answersVirtual = false;
        // The questions whether a thread is virtual stay, with the JVM's answers: each redefinition leaves a class
        // behind.
        Rewriting made = rewriting;
        if (made == null || !asksForCpuInstead()) return;
        rewriting = null;
        made.undo();
    }

    /**
     * Whether the JVM reads another thread's user time from /proc, as text, in steps of 10 ms. Seen by what it does; where that
     * cannot be seen, by the JDK: JDK-8372584 ended it with JDK 26, and with 25.0.5.
     */
    private boolean readsUserTimeAsText() {
        if (isText == null) {
            int seen = (int) hooks.call("userTimeIsText");
            isText = seen >= 0 ? seen == 1 : isTextInThisJdk();
        }
        return isText;
    }

    static boolean isTextInThisJdk() {
        Runtime.Version version = Runtime.version();
        boolean before25U5 = version.feature() == 25 && version.interim() == 0 && version.update() < 5;
        return version.feature() < 25 || before25U5;
    }

    /** JDK 21's getThreadUserTime with the caller's own id asks for the CPU time. */
    private static boolean asksForCpuInstead() {
        int feature = Runtime.version().feature();
        return feature >= 21 && feature < 25;
    }

    private void change(boolean virtual) throws Refused {
        if (rewriting != null) return; // since an earlier time
        Rewriting.Change correction =
                Rewriting.redirect("getThreadUserTime", "([J)[J", "getThreadTotalCpuTime0", "getThreadUserCpuTime0");
        virtualToo = !virtual
                ? List.of()
                : List.of(
                        Rewriting.askWhetherVirtual("getCurrentThreadCpuTime", "()J", "isUnknown"),
                        Rewriting.askWhetherVirtual("getCurrentThreadUserTime", "()J", "isUnknown"),
                        Rewriting.askWhetherVirtual("getThreadCpuTime", "([J)[J", "isUnknown"),
                        Rewriting.askWhetherVirtual("getThreadUserTime", "([J)[J", "isUnknown"));
        List<Rewriting.Change> changes = new ArrayList<>(virtualToo);
        if (asksForCpuInstead()) changes.add(correction);
        Rewriting made = new Rewriting(jvm, threadImpl, changes);
        made.apply();
        rewriting = made;
        if (asksForCpuInstead()) rewriting.demand(correction);
    }

    /** Where that is refused, the rest is installed all the same. */
    private void answerVirtual() throws Refused {
        for (Rewriting.Change change : virtualToo) rewriting.demand(change);
        hooks.call("setAnswersVirtual", true);
        answersVirtual = true;
    }

    // ---- the check of ourselves

    private static final int TRIES = 20;
    /** A kernel that takes back what a hypervisor stole may let its clock stand while ours goes on to the next base. */
    private static final long CPU_TOLERANCE = MILLIS;

    private static final long USER_TOLERANCE = 30L * MILLIS;

    /** Compares what the natives say now with what the JVM would have said. Null, or what is wrong. */
    private String disagreement() {
        long before = 0;
        long ours = 0;
        for (int i = 0; i < TRIES; i++) {
            before = (long) hooks.call("stockCpuNanos", 0L);
            ours = (long) hooks.call("cpuNanos", threadImpl);
            long after = (long) hooks.call("stockCpuNanos", 0L);
            if (before - CPU_TOLERANCE <= ours && ours <= after + CPU_TOLERANCE) return userDisagreement(after);
        }
        return "CPU time " + ours + " ns, " + before + " ns says the JVM";
    }

    private String userDisagreement(long cpu) {
        long ours = (long) hooks.call("userNanos", threadImpl);
        long stock = (long) hooks.call("stockUserNanos", 0L);
        if (ours < 0 || ours > cpu + USER_TOLERANCE) return "user time " + ours + " ns of " + cpu + " ns";
        // Later JVMs give the ticks as they were counted, which may be anything.
        if (readsUserTimeAsText() && Math.abs(ours - stock) > USER_TOLERANCE) {
            return "user time " + ours + " ns, " + stock + " ns says the JVM";
        }
        return null;
    }
}
