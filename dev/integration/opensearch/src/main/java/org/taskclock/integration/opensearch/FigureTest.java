// SPDX-License-Identifier: Apache-2.0
// Copyright the TaskClock authors
package org.taskclock.integration.opensearch;

import static java.nio.charset.StandardCharsets.UTF_8;

import java.io.IOException;
import java.net.InetSocketAddress;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.Future;
import java.util.function.ToDoubleFunction;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/** Compares OpenSearch's figures for tasks with the kernel's for the threads, while nothing else is searched. */
final class FigureTest {
    private static final int REPETITIONS = 5;
    private static final int RUNNING_SEARCHES = 3;
    private static final int SMALL_SEARCHES = 2_000;
    private static final Pattern TOTAL = Pattern.compile("\"total\":\\{\"cpu_time_in_nanos\":(-?\\d+)");
    private static final byte[] TASKS =
            HttpConnection.request("GET", "/_tasks?detailed&actions=indices:data/read/search*", "");

    private final Report report;
    private final Switches switches;
    private final TaskFigures figures;
    private final InetSocketAddress address;

    /** Of one repetition, in seconds. */
    private record Sums(double executions, double largest, double tasks, double searchThreads, double nodeThreads) {}

    private interface Searches {
        int run() throws Exception;
    }

    FigureTest(Report report, Switches switches, TaskFigures figures, InetSocketAddress address) {
        this.report = report;
        this.switches = switches;
        this.figures = figures;
        this.address = address;
    }

    void warmUp() throws Exception {
        for (boolean isConcurrent : new boolean[] {true, false}) {
            switches.concurrentSearch(isConcurrent);
            for (int i = 0; i < 4; i++) large(30);
        }
        try (SearchLoad load = new SearchLoad(address, "docs", 4)) {
            load.run(20);
        }
    }

    void appendHead() {
        report.append("| clock | searches | executions per search | largest search, s | all tasks, s |"
                + " kernel: search threads, s | kernel: node's threads, s | tasks / search threads |"
                + " tasks / node's threads |%n|---|---|---:|---:|---:|---:|---:|---:|---:|%n");
    }

    void measure(String clock) throws Exception {
        switches.concurrentSearch(false);
        Sums one = measure(clock, "one aggregation", () -> large(30));
        check(clock, "one aggregation", one, 0.97);
        switches.concurrentSearch(true);
        Sums concurrent = measure(clock, "one aggregation, three slices", () -> large(30));
        check(clock, "three slices", concurrent, 0.97);
        report.check(concurrent.executions > one.executions, "%s: the search was not concurrent", clock);
        Sums two = measure(clock, "two aggregations at a time", () -> {
            Future<Integer> other = start(10);
            return large(30) + other.get();
        });
        check(clock, "two aggregations", two, 0.97);
        switches.concurrentSearch(false);
        Sums small = measure(clock, SMALL_SEARCHES + " small searches", this::small);
        check(clock, "small searches", small, 0.3);
    }

    private void check(String clock, String searches, Sums sums, double least) {
        double ratio = sums.tasks / sums.searchThreads;
        report.check(ratio > least, "%s, %s: tasks / search threads = %.3f", clock, searches, ratio);
        // With this patch, tasks include other threads.
        double most = clock.equals("start.patch") ? sums.nodeThreads : sums.searchThreads;
        report.check(sums.tasks < 1.01 * most, "%s, %s: tasks use more than threads", clock, searches);
    }

    private Sums measure(String clock, String name, Searches searches) throws Exception {
        List<Sums> repetitions = new ArrayList<>();
        for (int i = 0; i < REPETITIONS; i++) repetitions.add(run(searches));
        Sums medians = new Sums(
                median(repetitions, Sums::executions),
                median(repetitions, Sums::largest),
                median(repetitions, Sums::tasks),
                median(repetitions, Sums::searchThreads),
                median(repetitions, Sums::nodeThreads));
        report.append(
                "| %s | %s | %.1f | %.4f | %.3f | %.3f | %.3f | %.3f | %.3f |%n",
                clock,
                name,
                medians.executions,
                medians.largest,
                medians.tasks,
                medians.searchThreads,
                medians.nodeThreads,
                median(repetitions, sums -> sums.tasks / sums.searchThreads),
                median(repetitions, sums -> sums.tasks / sums.nodeThreads));
        return medians;
    }

    private Sums run(Searches searches) throws Exception {
        figures.start();
        KernelTimes before = KernelTimes.read();
        int count = searches.run();
        List<TaskFigures.Figure> found = figures.stop(count);
        KernelTimes after = KernelTimes.read();
        report.check(
                found.stream().filter(TaskFigures.Figure::isParent).count() == count,
                "figures for %d tasks instead of %d searches",
                found.size(),
                count);
        Map<Long, Long> bySearch = new HashMap<>();
        for (TaskFigures.Figure figure : found) bySearch.merge(figure.search(), figure.cpuNanos(), Long::sum);
        return new Sums(
                found.stream().mapToInt(TaskFigures.Figure::executions).sum() / (double) count,
                bySearch.values().stream().mapToLong(nanos -> nanos).max().orElse(0) / 1e9,
                found.stream().mapToLong(TaskFigures.Figure::cpuNanos).sum() / 1e9,
                after.since(before, KernelTimes::isSearch) / 1e9,
                after.since(before, KernelTimes::isNode) / 1e9);
    }

    private int large(int times) throws IOException {
        try (HttpConnection connection = new HttpConnection(address)) {
            connection.send(Documents.large("docs", times, 5));
        }
        return 1;
    }

    private Future<Integer> start(int times) {
        return CompletableFuture.supplyAsync(() -> {
            try {
                return large(times);
            } catch (IOException e) {
                throw new IllegalStateException(e);
            }
        });
    }

    private int small() throws IOException {
        try (HttpConnection connection = new HttpConnection(address)) {
            for (int i = 0; i < SMALL_SEARCHES; i++) connection.send(Documents.small("docs", i));
        }
        return SMALL_SEARCHES;
    }

    /** Reads the figures of running tasks and compares each with the kernel's figures before and after it. */
    void measureRunning(String clock) throws Exception {
        switches.concurrentSearch(true);
        List<Double> below = new ArrayList<>();
        List<Double> above = new ArrayList<>();
        try (HttpConnection connection = new HttpConnection(address)) {
            for (int i = 0; i < RUNNING_SEARCHES; i++) {
                KernelTimes start = KernelTimes.read();
                Future<Integer> search = start(60);
                while (!search.isDone()) {
                    Thread.sleep(20);
                    double least = KernelTimes.read().since(start, KernelTimes::isSearch) / 1e6;
                    String tasks = new String(connection.send(TASKS), UTF_8);
                    double most = KernelTimes.read().since(start, KernelTimes::isSearch) / 1e6;
                    // Once the shard's task has ended, it is no longer in the list.
                    if (!tasks.contains("[phase/query]")) continue;
                    double figure = 0;
                    for (Matcher total = TOTAL.matcher(tasks); total.find(); ) {
                        figure += Long.parseLong(total.group(1)) / 1e6;
                    }
                    below.add(Math.max(0, least - figure));
                    above.add(Math.max(0, figure - most));
                }
                search.get();
            }
        }
        switches.concurrentSearch(false);
        report.append(
                "| %s | %d | %.2f | %.2f | %.2f | %.2f |%n",
                clock,
                below.size(),
                Report.median(below),
                Report.quantile(below, 1),
                Report.median(above),
                Report.quantile(above, 1));
        report.check(below.size() >= 10, "%s: only %d readings of running tasks", clock, below.size());
    }

    private static double median(List<Sums> sums, ToDoubleFunction<Sums> value) {
        return Report.median(sums.stream().map(value::applyAsDouble).toList());
    }
}
