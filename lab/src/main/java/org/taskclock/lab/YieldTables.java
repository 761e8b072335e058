// SPDX-License-Identifier: Apache-2.0
// Copyright the TaskClock authors
package org.taskclock.lab;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collections;
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
        List<List<Object>> rows = new ArrayList<>();
        for (YieldRun run : runs.complete(YieldRun.Mode.PLAIN)) {
            boolean several = run.threads() > 1;
            List<Object> row = new ArrayList<>(List.of(run.description(), run.jdk()));
            row.addAll(figures(run.end().evenNumbers(), run.end().seconds(), runs.slowdown(run), run.times()));
            Newsletter.Figures published = Newsletter.of(several, run.virtual(), run.yielding());
            double slowdown = Newsletter.slowdown(several, run.virtual(), run.yielding());
            row.addAll(
                    published == null
                            ? Collections.nCopies(9, null)
                            : figures(published.evenNumbers(), Newsletter.SECONDS, slowdown, published.times()));
            rows.add(row);
        }
        List<Result.Column> columns = columns("threads", "", "JDK", "");
        for (String whose : List.of("", "newsletter: ")) {
            columns.addAll(columns(whose + "even numbers", "", "per second", "10^6", "slowdown by yielding", "x"));
            columns.addAll(columns("real", "s", "user", "s", "sys", "s", "processors", "", "sys", "%"));
            columns.add(new Result.Column(whose + "per CPU second", "10^6"));
        }
        return new Result.Table(
                "Threads that count even numbers",
                "Newsletter: " + Newsletter.MACHINE + ", " + Newsletter.SECONDS
                        + " s each; it has no figures for virtual threads that do not yield. real, user, and sys are "
                        + "those of the whole process, as reported by the shell's time; processors is (user + sys) / "
                        + "real. Other load on the machine affects the figure per CPU second least."
                        + disturbance(runs),
                columns,
                rows);
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

    private static List<Object> figures(long evenNumbers, double seconds, double slowdown, ExperimentJvm.Times times) {
        List<Object> cells = new ArrayList<>(List.of(evenNumbers, evenNumbers / seconds / 1e6));
        cells.add(slowdown == 1 ? null : known(slowdown));
        cells.addAll(times(times));
        cells.add(times.cores());
        cells.add(times.systemPercent());
        cells.add(evenNumbers / times.cpuSeconds() / 1e6);
        return cells;
    }

    static Result.Table seconds(YieldRuns runs) {
        List<List<Object>> rows = new ArrayList<>();
        for (YieldRun run : runs.all()) {
            for (EvenNumberProgram.Second second : run.seconds()) {
                long[] sums = new long[3];
                for (ThreadSampler.Usage usage : second.threads()) {
                    rows.add(row(
                            run, second, usage.name(), usage.cpuNanos(), usage.userNanos(), usage.systemNanos(), null));
                    sums[0] += usage.cpuNanos();
                    sums[1] += usage.userNanos();
                    sums[2] += usage.systemNanos();
                }
                rows.add(row(run, second, "Total", sums[0], sums[1], sums[2], second.progress()));
            }
        }
        List<Result.Column> columns = columns("threads", "", "JDK", "", "with", "", "carriers", "", "at", "s");
        columns.addAll(columns("thread", "", "cpu", "ms", "usr", "ms", "sys", "ms", "progress", ""));
        return new Result.Table(
                SECONDS,
                "Threads that used CPU time, and their sum. progress is even numbers since the start, in units of "
                        + EvenNumberProgram.STEP + ".",
                columns,
                rows);
    }

    private static List<Object> row(
            YieldRun run,
            EvenNumberProgram.Second second,
            String thread,
            long cpu,
            long user,
            long system,
            Object progress) {
        return Arrays.asList(
                run.description(),
                run.jdk(),
                run.mode().text,
                run.carriers() == 0 ? null : run.carriers(),
                Math.round(second.at() * 10) / 10.0,
                thread,
                cpu / 1e6,
                user / 1e6,
                system / 1e6,
                progress);
    }

    /** Splits the CPU time of carriers into that of virtual threads and scheduling. */
    static Result.Table shares(YieldRuns runs) {
        List<List<Object>> rows = new ArrayList<>();
        for (YieldRun run : runs.complete(YieldRun.Mode.ACCOUNTED)) {
            double yields = run.end().evenNumbers();
            rows.add(Arrays.asList(
                    run.description(),
                    run.jdk(),
                    run.end().carriers().size(),
                    run.perSecond() / 1e6,
                    run.cores(),
                    run.end().virtual().cpuNanos() / 1e9,
                    run.schedulerNanos() / 1e9,
                    run.schedulerPercent(),
                    run.end().virtual().cpuNanos() / yields,
                    run.carriersNanos() / yields,
                    run.blockedPerThousand(),
                    run.systemPercent()));
        }
        List<Result.Column> columns = columns("threads", "", "JDK", "", "carriers", "", "yields per second", "10^6");
        columns.addAll(columns("processors in use", "", "threads' own cpu", "s", "scheduling", "s", "scheduling", "%"));
        columns.addAll(columns("own cpu per yield", "ns", "all cpu per yield", "ns", "blocked per 1,000 yields", ""));
        columns.addAll(columns("sys of cpu", "%"));
        return new Result.Table(
                "CPU time of virtual threads and their carriers",
                "Measured by the agent, which makes yields slower. Scheduling is the CPU time of carriers without a "
                        + "mounted thread: looking for a thread to run, waking each other, and going to sleep.",
                columns,
                rows);
    }

    static Result.Table silenced(YieldRuns runs) {
        List<List<Object>> rows = new ArrayList<>();
        for (YieldRun run : runs.all()) {
            if (!run.isComplete() || run.mode() == YieldRun.Mode.PLAIN || run.mode() == YieldRun.Mode.ACCOUNTED)
                continue;
            boolean several = run.threads() > 1;
            YieldRun yielding = runs.plain(run.jdk(), run.virtual(), several, true);
            YieldRun not = runs.plain(run.jdk(), run.virtual(), several, false);
            List<Object> row =
                    new ArrayList<>(List.of(run.description(), run.jdk(), run.mode().text, run.perSecond() / 1e6));
            row.add(yielding == null ? null : run.perSecond() / yielding.perSecond());
            row.add(not == null ? null : 100 * run.perSecond() / not.perSecond());
            row.addAll(times(run.times()));
            row.add(run.systemPercent());
            rows.add(row);
        }
        List<Result.Column> columns = columns("threads", "", "JDK", "", "with", "", "per second", "10^6");
        columns.addAll(
                columns("faster than yielding", "x", "of not yielding", "%", "real", "s", "user", "s", "sys", "s"));
        columns.addAll(columns("sys of cpu", "%"));
        return new Result.Table("Silenced yields", "", columns, rows);
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
        String with = run.mode() == YieldRun.Mode.PLAIN ? "" : ", " + run.mode().text;
        String carriers = run.carriers() == 0 ? "" : ", carriers: " + run.carriers();
        return new Result.Timeline(
                run.description() + ", JDK " + run.jdk() + with + carriers,
                "CPU time of the sampled threads.",
                "ms/s",
                true,
                series);
    }

    private static List<Object> times(ExperimentJvm.Times times) {
        return List.of(times.realSeconds(), times.userSeconds(), times.systemSeconds());
    }

    static Object known(double value) {
        return Double.isFinite(value) ? value : null;
    }

    /** Returns columns from alternating names and units. */
    static List<Result.Column> columns(String... namesAndUnits) {
        List<Result.Column> columns = new ArrayList<>();
        for (int i = 0; i < namesAndUnits.length; i += 2) {
            columns.add(new Result.Column(namesAndUnits[i], namesAndUnits[i + 1]));
        }
        return columns;
    }
}
