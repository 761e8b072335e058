// SPDX-License-Identifier: Apache-2.0
// Copyright the TaskClock authors
package org.taskclock.lab;

import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.StringJoiner;
import org.taskclock.report.Result;

/** The tables and charts of {@code yield}. */
final class YieldTables {
    /** With more threads, a chart shows their sum. */
    private static final int MAX_THREADS_IN_CHART = 4;

    /** The minimum share of a processor for a thread that never blocks, if the machine is otherwise idle. */
    private static final double IDLE_SHARE = 0.9;

    static final String SECONDS = "Each second";

    private YieldTables() {}

    static Result.Table summary(YieldRuns runs) {
        return new TableBuilder<YieldRun>()
                .column("threads", "", YieldRun::description)
                .column("JDK", "", YieldRun::jdk)
                .columns(run -> Figures.of(runs, run), figures(""))
                .columns(Figures::published, figures("newsletter: "))
                .build(
                        "Threads that count even numbers",
                        "Newsletter: " + Newsletter.MACHINE + ", " + Newsletter.SECONDS
                                + " s each; it has no figures for virtual threads that do not yield. real, user, and "
                                + "sys are those of the whole process, as reported by the shell's time; processors is "
                                + "(user + sys) / real. Other load on the machine affects the figure per CPU second "
                                + "least." + disturbance(runs),
                        runs.complete(YieldRun.Mode.PLAIN));
    }

    private static TableBuilder<Figures> figures(String whose) {
        return new TableBuilder<Figures>()
                .column(whose + "even numbers", "", Figures::evenNumbers)
                .column("per second", "10^6", figures -> figures.evenNumbers / figures.seconds / 1e6)
                .column("slowdown by yielding", "x", figures -> figures.slowdown == 1 ? null : figures.slowdown)
                .columns(Figures::times, times())
                .column("processors", "", figures -> figures.times.cores())
                .column("sys", "%", figures -> figures.times.systemPercent())
                .column(
                        whose + "per CPU second",
                        "10^6",
                        figures -> figures.evenNumbers / figures.times.cpuSeconds() / 1e6);
    }

    private static TableBuilder<ExperimentJvm.Times> times() {
        return new TableBuilder<ExperimentJvm.Times>()
                .column("real", "s", ExperimentJvm.Times::realSeconds)
                .column("user", "s", ExperimentJvm.Times::userSeconds)
                .column("sys", "s", ExperimentJvm.Times::systemSeconds);
    }

    /**
     * The figures of a run, ours or published.
     *
     * @param slowdown by yielding; 1 or NaN if the threads do not yield
     */
    private record Figures(long evenNumbers, double seconds, double slowdown, ExperimentJvm.Times times) {
        static Figures of(YieldRuns runs, YieldRun run) {
            return new Figures(run.end().evenNumbers(), run.end().seconds(), runs.slowdown(run), run.times());
        }

        /** Returns null if there are none. */
        static Figures published(YieldRun run) {
            boolean several = run.threads() > 1;
            Newsletter.Figures found = Newsletter.of(several, run.virtual(), run.yielding());
            double slowdown = Newsletter.slowdown(several, run.virtual(), run.yielding());
            return found == null ? null : new Figures(found.evenNumbers(), Newsletter.SECONDS, slowdown, found.times());
        }
    }

    /** Returns a warning if the machine was not idle: a thread that never blocks did not get a whole processor. */
    private static String disturbance(YieldRuns runs) {
        StringJoiner text = new StringJoiner("");
        for (String jdk : runs.jdks()) {
            YieldRun run = runs.plain(jdk, false, false, false);
            if (run == null || run.sampledCores() > IDLE_SHARE) continue;
            text.add(String.format(
                    Locale.ROOT,
                    " JDK %s: the machine was not idle: a thread that never blocks got %.0f %% of a processor. "
                            + "Repeat the measurement on an idle machine.",
                    jdk,
                    100 * run.sampledCores()));
        }
        return text.toString();
    }

    /** A row for a thread, or for all threads, in one second. */
    private record SecondRow(YieldRun run, EvenNumberProgram.Second second, ThreadSampler.Usage usage, Long progress) {}

    static Result.Table seconds(YieldRuns runs) {
        List<SecondRow> rows = new ArrayList<>();
        for (YieldRun run : runs.all()) {
            for (EvenNumberProgram.Second second : run.seconds()) {
                for (ThreadSampler.Usage usage : second.threads()) rows.add(new SecondRow(run, second, usage, null));
                rows.add(new SecondRow(run, second, ThreadSampler.Usage.sum(second.threads()), second.progress()));
            }
        }
        return new TableBuilder<SecondRow>()
                .column("threads", "", row -> row.run.description())
                .column("JDK", "", row -> row.run.jdk())
                .column("with", "", row -> row.run.mode().text)
                .column("carriers", "", row -> row.run.carriers() == 0 ? null : row.run.carriers())
                .column("at", "s", row -> Math.round(row.second.at() * 10) / 10.0)
                .column("thread", "", row -> row.usage.name())
                .column("cpu", "ms", row -> row.usage.cpuNanos() / 1e6)
                .column("usr", "ms", row -> row.usage.userNanos() / 1e6)
                .column("sys", "ms", row -> row.usage.systemNanos() / 1e6)
                .column("progress", "", SecondRow::progress)
                .build(
                        SECONDS,
                        "Threads that used CPU time, and their sum. progress is even numbers since the start, in "
                                + "units of " + EvenNumberProgram.STEP + ".",
                        rows);
    }

    /** Splits the CPU time of carriers into that of virtual threads and scheduling. */
    static Result.Table shares(YieldRuns runs) {
        return new TableBuilder<YieldRun>()
                .column("threads", "", YieldRun::description)
                .column("JDK", "", YieldRun::jdk)
                .column("carriers", "", run -> run.end().carriers().size())
                .column("yields per second", "10^6", run -> run.perSecond() / 1e6)
                .column("processors in use", "", YieldRun::cores)
                .column("threads' own cpu", "s", run -> run.ownNanos() / 1e9)
                .column("scheduling", "s", run -> run.schedulerNanos() / 1e9)
                .column("scheduling", "%", YieldRun::schedulerPercent)
                .column(
                        "own cpu per yield",
                        "ns",
                        run -> (double) run.ownNanos() / run.end().evenNumbers())
                .column(
                        "all cpu per yield",
                        "ns",
                        run -> (double) run.carriersNanos() / run.end().evenNumbers())
                .column("blocked per 1,000 yields", "", YieldRun::blockedPerThousand)
                .column("sys of cpu", "%", YieldRun::systemPercent)
                .build(
                        "CPU time of virtual threads and their carriers",
                        "Measured by the agent, which makes yields slower. Scheduling is the CPU time of carriers "
                                + "without a mounted thread: looking for a thread to run, waking each other, and going "
                                + "to sleep.",
                        runs.complete(YieldRun.Mode.ACCOUNTED));
    }

    static Result.Table silenced(YieldRuns runs) {
        List<YieldRun> silenced = runs.all().stream()
                .filter(run ->
                        run.isComplete() && (run.mode() == YieldRun.Mode.SILENCED || run.mode() == YieldRun.Mode.FLAG))
                .toList();
        return new TableBuilder<YieldRun>()
                .column("threads", "", YieldRun::description)
                .column("JDK", "", YieldRun::jdk)
                .column("with", "", run -> run.mode().text)
                .column("per second", "10^6", run -> run.perSecond() / 1e6)
                .column("faster than yielding", "x", run -> runs.speedup(run, true))
                .column("of not yielding", "%", run -> 100 * runs.speedup(run, false))
                .columns(YieldRun::times, times())
                .column("sys of cpu", "%", YieldRun::systemPercent)
                .build("Silenced yields", "", silenced);
    }

    static Result.Bars bars(YieldRuns runs) {
        List<Result.Bar> bars = new ArrayList<>();
        for (YieldRun run : runs.complete(YieldRun.Mode.PLAIN)) {
            if (!run.yielding()) continue;
            double slowdown = runs.slowdown(run);
            if (slowdown > 0)
                bars.add(new Result.Bar(run.description() + ", JDK " + run.jdk(), slowdown, null, null, false));
        }
        for (boolean virtual : new boolean[] {false, true}) {
            for (boolean several : new boolean[] {false, true}) {
                String name = (several ? Newsletter.PROCESSORS + " " : "one ") + (virtual ? "virtual" : "platform")
                        + (several ? " threads" : " thread") + ", newsletter";
                bars.add(new Result.Bar(name, Newsletter.slowdown(several, virtual, true), null, null, true));
            }
        }
        return new Result.Bars("Slowdown by yielding", "", "x", bars);
    }

    /** Returns user and system time of the sampled threads for each second. */
    static Result.Timeline timeline(YieldRun run) {
        long threads = run.seconds().stream()
                .flatMap(second -> second.threads().stream())
                .map(ThreadSampler.Usage::tid)
                .distinct()
                .count();
        Map<String, double[]> values = new LinkedHashMap<>();
        int count = run.seconds().size();
        for (int i = 0; i < count; i++) {
            EvenNumberProgram.Second second = run.seconds().get(i);
            for (ThreadSampler.Usage usage : second.threads()) {
                String name = threads > MAX_THREADS_IN_CHART ? "all" : usage.name();
                values.computeIfAbsent(name + " user", unused -> new double[count])[i] +=
                        usage.userNanos() / 1e6 / second.seconds();
                values.computeIfAbsent(name + " system", unused -> new double[count])[i] +=
                        usage.systemNanos() / 1e6 / second.seconds();
            }
        }
        List<Result.Series> series = new ArrayList<>();
        values.forEach((name, perSecond) -> {
            List<double[]> points = new ArrayList<>();
            for (int i = 0; i < count; i++)
                points.add(new double[] {run.seconds().get(i).at(), perSecond[i]});
            series.add(new Result.Series(name, false, points));
        });
        return new Result.Timeline(
                run.description() + ", JDK " + run.jdk() + run.options(),
                "CPU time of the sampled threads.",
                "ms/s",
                true,
                series);
    }
}
