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

/** What the newsletter says of yielding, and whether it holds here. */
final class YieldFindings {
    private static final double UNKNOWN = Double.NaN;
    private static final double PERCENT = 100;

    /** From here on a second processor is in use to no small part. */
    private static final double MORE_THAN_ONE = 1.3;

    private final YieldRuns runs;
    private final List<Result.Finding> findings = new ArrayList<>();

    private YieldFindings(YieldRuns runs) {
        this.runs = runs;
    }

    static List<Result.Finding> of(YieldRuns runs) {
        YieldFindings all = new YieldFindings(runs);
        all.judge();
        return all.findings;
    }

    private void judge() {
        add(
                "A platform thread that does not yield uses as much CPU time as time passes",
                "1.05 processors",
                "%.2f processors",
                value -> value > 0.85 && value < 1.2,
                jdk -> ifRun(runs.plain(jdk, false, false, false), YieldRun::watchedShare));
        add(
                "With a thread on each processor nearly as many times more is done",
                "9.1 times with 12 threads, 76 % of 12",
                "%.0f %% of the number of processors",
                value -> value > 60,
                jdk -> ratio(runs.plain(jdk, false, true, false), runs.plain(jdk, false, false, false), true));
        add(
                "Virtual threads that do not yield do as well as platform threads",
                "no figures",
                "%.0f %% of what a platform thread does",
                value -> value > 80 && value < 125,
                jdk -> ratio(runs.plain(jdk, true, false, false), runs.plain(jdk, false, false, false), false));
        double slower = Newsletter.slowdown(false, false, true);
        add(
                "One platform thread that yields does 127 times less",
                "127 x",
                "%.0f x",
                Claim.about(slower),
                slowdown(false, false));
        add(
                "More than 30 % of its CPU time is system time",
                "28 % of user and sys", "%.0f %%", value -> value > 30, systemPercent(false, false));
        add(
                "One virtual thread that yields does almost 1,200 times less",
                "1,200 x",
                "%.0f x",
                Claim.about(Newsletter.ONE_VIRTUAL_SLOWDOWN),
                slowdown(true, false));
        add(
                "One virtual thread that yields uses far more CPU time than one thread can",
                "7.4 processors of 12",
                "%.2f processors",
                value -> value > MORE_THAN_ONE,
                jdk -> ifRun(runs.plain(jdk, true, false, true), YieldRun::cores));
        add("71 % of that is system time", "71 %", "%.0f %%", Claim.near(71), systemPercent(true, false));
        add(
                "With a yielding platform thread on each processor 86 % of the CPU time is system time",
                "86 %", "%.0f %%", Claim.near(86), systemPercent(false, true));
        add(
                "As many virtual threads are about twice as fast",
                "1.8 x",
                "%.1f x",
                value -> value > 1.4 && value < 2.8,
                jdk -> ratio(runs.plain(jdk, true, true, true), runs.plain(jdk, false, true, true), false) / PERCENT);
        add(
                "They are still 500 times slower than without yields",
                "500 x",
                "%.0f x",
                Claim.about(Newsletter.SEVERAL_VIRTUAL_SLOWDOWN),
                slowdown(true, true));
        add("and use hardly any system time", "0.6 %", "%.1f %%", value -> value < 5, systemPercent(true, true));
        for (String jdk : runs.jdks()) why(jdk);
    }

    private void add(
            String text, String published, String format, DoublePredicate holds, ToDoubleFunction<String> figure) {
        Map<String, Double> figures = new LinkedHashMap<>();
        for (String jdk : runs.jdks()) figures.put(jdk, figure.applyAsDouble(jdk));
        findings.add(new Claim(text, Newsletter.SOURCE, published, format, holds).judge(figures));
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

    /** In percent; of what each thread does, if asked. */
    private static double ratio(YieldRun some, YieldRun other, boolean byThread) {
        if (some == null || other == null) return UNKNOWN;
        return PERCENT * some.perSecond() / other.perSecond() / (byThread ? some.threads() : 1);
    }

    /** The newsletter's open question. What tells is the same thread with one carrier, which has nobody to take it away. */
    private void why(String jdk) {
        YieldRun all = accounted(jdk, 0);
        YieldRun one = accounted(jdk, 1);
        if (all == null || one == null || all.carriersNanos() == 0) return;
        boolean wasted = all.cores() > MORE_THAN_ONE && one.cores() < all.cores() / MORE_THAN_ONE;
        String verdict = wasted ? Claim.CONFIRMED : Claim.CONTRADICTED;
        double own = all.end().virtual().cpuNanos();
        findings.add(new Result.Finding(
                "Perhaps one yielding virtual thread uses so much because carriers steal it from each other (an open question)",
                Newsletter.SOURCE,
                verdict,
                text(
                        "JDK %s: of the %.2f processors in use the thread itself accounts for %.2f. %.0f %% of its %d carriers'"
                                + " CPU time is not the thread's: they look for it. They went to sleep %.1f times for 1,000"
                                + " yields; %.0f %% of all is system time. On a single carrier, where nobody else can take"
                                + " it, %.2f processors are in use, and it yields %.1f times as often (%.2f million a second,"
                                + " not %.2f).%s",
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
                        many(jdk, one))));
    }

    /** What as many carriers as the newsletter had do here. */
    private String many(String jdk, YieldRun one) {
        YieldRun many = accounted(jdk, Newsletter.PROCESSORS);
        if (many == null) return "";
        return text(
                " With %d carriers it yields %.1f times as often as with one, and %.0f %% of their CPU time is not the thread's.",
                Newsletter.PROCESSORS, many.perSecond() / one.perSecond(), many.schedulerPercent());
    }

    private YieldRun accounted(String jdk, int carriers) {
        return runs.find(jdk, YieldRun.Mode.ACCOUNTED, true, false, true, carriers);
    }

    private static String text(String format, Object... values) {
        return String.format(Locale.ROOT, format, values);
    }
}
