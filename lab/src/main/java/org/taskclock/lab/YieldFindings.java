// SPDX-License-Identifier: Apache-2.0
// Copyright the TaskClock authors
package org.taskclock.lab;

import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.function.DoublePredicate;
import java.util.function.ToDoubleFunction;
import org.taskclock.report.Result;

/** Checks the newsletter's claims about yielding. */
final class YieldFindings {
    private static final double UNKNOWN = Double.NaN;
    private static final double PERCENT = 100;

    /** Above this number of cores, a second processor is in substantial use. */
    private static final double MORE_THAN_ONE = 1.3;

    private final YieldRuns runs;
    private final List<Result.Finding> findings = new ArrayList<>();

    private YieldFindings(YieldRuns runs) {
        this.runs = runs;
    }

    static List<Result.Finding> of(YieldRuns runs) {
        YieldFindings all = new YieldFindings(runs);
        all.checkAll();
        return all.findings;
    }

    private void checkAll() {
        add(
                "A platform thread that does not yield keeps one processor busy",
                "1.05 processors",
                "%.2f processors",
                value -> value > 0.85 && value < 1.2,
                jdk -> ifRun(runs.plain(jdk, false, false, false), YieldRun::sampledCores));
        add(
                "One thread per processor multiplies throughput by almost the number of processors",
                "9.1 x with 12 threads, 76 % of 12",
                "%.0f %% of the number of processors",
                value -> value > 60,
                jdk -> ratio(runs.plain(jdk, false, true, false), runs.plain(jdk, false, false, false), true));
        add(
                "Virtual threads that do not yield are as fast as platform threads",
                "no figures",
                "%.0f %% of a platform thread's throughput",
                value -> value > 80 && value < 125,
                jdk -> ratio(runs.plain(jdk, true, false, false), runs.plain(jdk, false, false, false), false));
        double slower = Newsletter.slowdown(false, false, true);
        add(
                "Yielding makes one platform thread 127 times slower",
                "127 x",
                "%.0f x",
                ExperimentClaim.about(slower),
                slowdown(false, false));
        add(
                "A yielding platform thread spends more than 30 % of its CPU time in the kernel",
                "28 % of user + sys", "%.0f %%", value -> value > 30, systemPercent(false, false));
        add(
                "Yielding makes one virtual thread almost 1,200 times slower",
                "1,200 x",
                "%.0f x",
                ExperimentClaim.about(Newsletter.ONE_VIRTUAL_SLOWDOWN),
                slowdown(true, false));
        add(
                "One yielding virtual thread uses far more CPU time than one thread can",
                "7.4 processors of 12",
                "%.2f processors",
                value -> value > MORE_THAN_ONE,
                jdk -> ifRun(runs.plain(jdk, true, false, true), YieldRun::cores));
        add(
                "71 % of the CPU time of one yielding virtual thread is system time",
                "71 %", "%.0f %%", ExperimentClaim.near(71), systemPercent(true, false));
        add(
                "With one yielding platform thread per processor, 86 % of the CPU time is system time",
                "86 %", "%.0f %%", ExperimentClaim.near(86), systemPercent(false, true));
        add(
                "One yielding virtual thread per processor is about twice as fast as platform threads",
                "1.8 x",
                "%.1f x",
                value -> value > 1.4 && value < 2.8,
                jdk -> ratio(runs.plain(jdk, true, true, true), runs.plain(jdk, false, true, true), false) / PERCENT);
        add(
                "One yielding virtual thread per processor is still 500 times slower than without yielding",
                "500 x",
                "%.0f x",
                ExperimentClaim.about(Newsletter.SEVERAL_VIRTUAL_SLOWDOWN),
                slowdown(true, true));
        add(
                "One yielding virtual thread per processor uses almost no system time",
                "0.6 %",
                "%.1f %%",
                value -> value < 5,
                systemPercent(true, true));
        for (String jdk : runs.jdks()) checkStealing(jdk);
    }

    private void add(
            String text, String published, String format, DoublePredicate holds, ToDoubleFunction<String> figure) {
        Map<String, Double> figures = new LinkedHashMap<>();
        for (String jdk : runs.jdks()) figures.put(jdk, figure.applyAsDouble(jdk));
        findings.add(new ExperimentClaim(text, Newsletter.SOURCE, published, format, holds).check(figures));
    }

    private ToDoubleFunction<String> slowdown(boolean virtual, boolean several) {
        return jdk -> ifRun(runs.plain(jdk, virtual, several, true), runs::slowdown);
    }

    private ToDoubleFunction<String> systemPercent(boolean virtual, boolean several) {
        return jdk -> ifRun(runs.plain(jdk, virtual, several, true), YieldRun::systemPercent);
    }

    private static double ifRun(YieldRun run, ToDoubleFunction<YieldRun> figure) {
        return run == null ? UNKNOWN : figure.applyAsDouble(run);
    }

    /** Returns a ratio of throughput in percent, optionally per thread. */
    private static double ratio(YieldRun some, YieldRun other, boolean perThread) {
        if (some == null || other == null) return UNKNOWN;
        return PERCENT * some.perSecond() / other.perSecond() / (perThread ? some.threads() : 1);
    }

    /** Answers the newsletter's open question with a run on a single carrier, from which no other carrier can steal. */
    private void checkStealing(String jdk) {
        YieldRun all = accounted(jdk, 0);
        YieldRun one = accounted(jdk, 1);
        if (all == null || one == null || all.carriersNanos() == 0) return;
        boolean wasted = all.cores() > MORE_THAN_ONE && one.cores() < all.cores() / MORE_THAN_ONE;
        String verdict = wasted ? ExperimentClaim.CONFIRMED : ExperimentClaim.CONTRADICTED;
        double own = all.ownNanos();
        findings.add(new Result.Finding(
                "Open question: does one yielding virtual thread use so much CPU time because carriers steal it from "
                        + "each other?",
                Newsletter.SOURCE,
                verdict,
                text(
                        "JDK %s: %.2f processors are in use, %.2f of them by the thread itself. %.0f %% of the CPU "
                                + "time of its %d carriers is scheduling: they look for the thread. Carriers blocked "
                                + "%.1f times per 1,000 yields; %.0f %% of the CPU time is system time. With a "
                                + "single carrier, %.2f processors are in use, and the thread yields %.1f times as "
                                + "often (%.2f million yields per second instead of %.2f).%s",
                        jdk,
                        all.cores(),
                        own / 1e9 / all.end().seconds(),
                        all.schedulerPercent(),
                        all.end().carriers().size(),
                        all.blockedPerThousand(),
                        all.systemPercent(),
                        one.cores(),
                        one.perSecond() / all.perSecond(),
                        one.perSecond() / 1e6,
                        all.perSecond() / 1e6,
                        withManyCarriers(jdk, one))));
    }

    /** Describes the run with as many carriers as in the newsletter. */
    private String withManyCarriers(String jdk, YieldRun one) {
        YieldRun many = accounted(jdk, Newsletter.PROCESSORS);
        if (many == null) return "";
        return text(
                " With %d carriers, it yields %.1f times as often as with one, and %.0f %% of their CPU time is "
                        + "scheduling.",
                Newsletter.PROCESSORS, many.perSecond() / one.perSecond(), many.schedulerPercent());
    }

    private YieldRun accounted(String jdk, int carriers) {
        return runs.find(jdk, YieldRun.Mode.ACCOUNTED, true, false, true, carriers);
    }

    private static String text(String format, Object... values) {
        return String.format(Locale.ROOT, format, values);
    }
}
