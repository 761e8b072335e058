// SPDX-License-Identifier: Apache-2.0
// Copyright the TaskClock authors
package org.taskclock.agent;

import java.io.File;
import java.io.IOException;
import java.lang.instrument.Instrumentation;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.function.Supplier;
import org.taskclock.AccountReading;
import org.taskclock.AccountUsage;
import org.taskclock.ClockId;
import org.taskclock.CpuAccounts;
import org.taskclock.CpuTime;
import org.taskclock.ProcessClock;
import org.taskclock.TaskClock;
import org.taskclock.ThreadClock;

/**
 * Writes the agent's report as JSON for the command line. Attached tools read it from the agent property
 * {@code taskclock.report}, and the summary at exit is a file in the same format. Times are in ns.
 */
public final class AgentReportWriter implements Supplier<String> {
    private static final int MAX_SITES = 200;
    private static final int MAX_YIELDERS = 200;

    private final AgentController controller;
    private final TaskClockHooks hooks;
    private boolean isDefined;

    AgentReportWriter(AgentController controller, TaskClockHooks hooks) {
        this.controller = controller;
        this.hooks = hooks;
    }

    void install(Instrumentation instrumentation) throws FeatureException {
        if (!isDefined) {
            try {
                Hooks.defineClass(instrumentation, Thread.class, "java.lang.TaskClockReport");
            } catch (IllegalAccessException | IOException | LinkageError e) {
                throw new FeatureException("cannot define the report in java.lang: " + e, e);
            }
            isDefined = true;
        }
        FeatureException.throwIf(hooks.setReport(this, file("report"), file("command")));
    }

    void remove() throws FeatureException {
        if (isDefined) FeatureException.throwIf(hooks.setReport(null, file("report"), file("command")));
    }

    /**
     * Returns the path of a request file. A tool that requests the report, or changes the agent's options, creates it,
     * in the JVM's mount namespace, for the duration of the request. The report is generated only while its file
     * exists. Otherwise, other tools that read the same properties would wait for a report that they do not need. The
     * path contains the process id that the JVM itself sees.
     */
    private static String file(String request) {
        return "/tmp/.taskclock_" + request + "_" + processId();
    }

    private static String processId() {
        try {
            // ProcessHandle would start threads and take 14 ms.
            return new File("/proc/self").getCanonicalFile().getName();
        } catch (IOException e) {
            return Long.toString(ProcessHandle.current().pid());
        }
    }

    @Override
    public String get() {
        return report(controller, Map.of());
    }

    /**
     * Returns the report. {@code elapsedNanos} has an arbitrary origin; {@code reportNanos} is the CPU time of this
     * call.
     */
    static String report(AgentController controller, Map<String, ExitSummary.Pool> pools) {
        long start = TaskClock.cpuNanos();
        JsonWriter json = new JsonWriter();
        json.member("version", AgentController.version());
        json.member("pid", ProcessHandle.current().pid());
        json.member("java", System.getProperty("java.version"));
        json.member("command", System.getProperty("sun.java.command", ""));
        CpuTime process = ProcessClock.current().now();
        json.member("cpuNanos", process.cpuNanos());
        json.member("userNanos", process.userNanos());
        json.list("pools", pools.entrySet(), pool -> json.object(() -> pool(json, pool.getKey(), pool.getValue())));
        json.list("virtualThreads", controller.accounts().groups(), group -> json.object(() -> group(json, group)));
        json.member("queuedVirtualThreads", controller.accounts().queued());
        json.member("virtualThreadParallelism", controller.accounts().parallelism());
        json.list("carriers", controller.accounts().carriers(), carrier -> json.object(() -> carrier(json, carrier)));
        yields(json, controller.yields());
        accounts(json, CpuAccounts.read());
        health(json, controller.health());
        json.member(
                "truncated",
                controller.yields().counts().isTruncated()
                        || controller.accounts().isTruncated());
        json.member("reportNanos", TaskClock.cpuNanos() - start);
        return json.end();
    }

    private static void health(JsonWriter json, Health health) {
        json.object("health", () -> {
            json.list(
                    "features",
                    health.features(),
                    feature -> json.object(() -> {
                        json.member("name", feature.getName());
                        json.member("state", feature.getState());
                        if (feature.getProblem() != null) json.member("problem", feature.getProblem());
                    }));
            json.member("mounts", health.mounts().count());
            json.member("mountClockCalls", health.mounts().clockCalls());
            json.member("mountUsageCalls", health.mounts().usageCalls());
            json.member("stacks", health.stacks());
            json.member("failures", health.failures());
            if (health.lastFailure() != null) json.member("lastFailure", health.lastFailure());
            json.member("memoryBytes", health.memoryBytes());
        });
    }

    private static void pool(JsonWriter json, String name, ExitSummary.Pool pool) {
        json.member("name", name);
        json.member("example", pool.example);
        json.member("java", pool.isJava);
        json.member("threads", pool.threads);
        json.member("cpuNanos", pool.cpuNanos);
        json.member("userNanos", pool.userNanos);
    }

    private static void group(JsonWriter json, VirtualAccounts.Group group) {
        json.member("name", group.getName());
        json.member("live", group.getLive());
        json.member("mounted", group.getMounted());
        json.member("ended", group.getEnded());
        json.member("cpuNanos", group.getCpuNanos());
        json.member("userNanos", group.getUserNanos());
    }

    private static void carrier(JsonWriter json, VirtualAccounts.Carrier carrier) {
        json.member("tid", carrier.getTid());
        json.member("cpuNanos", carrier.getCpuNanos());
        json.member("userNanos", carrier.getUserNanos());
        json.member("carriedNanos", carrier.getCarriedNanos());
        json.member("carriedUserNanos", carrier.carriedUserNanos());
    }

    private static void accounts(JsonWriter json, List<AccountReading> readings) {
        json.list(
                "accounts",
                readings.stream().flatMap(type -> type.rows().stream()).toList(),
                account -> json.object(() -> account(json, account)));
        json.list(
                "openSections",
                readings.stream().flatMap(type -> type.openSections().stream()).toList(),
                section -> json.object(() -> {
                    json.member("type", section.type());
                    json.member("name", section.name());
                    json.member("thread", section.thread().getName());
                    json.member("javaId", section.threadId());
                    json.member("tid", ThreadClock.of(section.thread()).tid());
                    json.member("openNanos", section.openNanos());
                    json.member("cpuNanos", section.cpuNanos());
                }));
    }

    private static void account(JsonWriter json, AccountUsage account) {
        json.member("type", account.type());
        json.member("name", account.name());
        json.member("cpuNanos", account.cpuNanos());
        json.member("userNanos", account.userNanos());
        json.member("waitNanos", account.waitNanos());
        json.member("allocatedBytes", account.allocatedBytes());
        json.member("sections", account.sections());
        json.member("uncounted", account.uncounted());
        json.member("unclosed", account.unclosed());
        json.member("misclosed", account.misclosed());
        if (account.distribution() == null) return;
        // The CPU time of the sections, and as most buckets are empty, the index of each of the others, and its number.
        long[] counts = account.distribution().counts();
        List<Long> values = new ArrayList<>();
        values.add(account.distribution().sumNanos());
        for (int i = 0; i < counts.length; i++) {
            if (counts[i] == 0) continue;
            values.add((long) i);
            values.add(counts[i]);
        }
        json.list("distribution", values, json::value);
    }

    private static void yields(JsonWriter json, YieldControl yields) {
        // The sites first: they must not include yields that the totals lack.
        List<YieldCounts.Site> sites =
                yields.counts().sites().stream().limit(MAX_SITES).toList();
        List<YieldCounts.Yielder> yielders = yields.yielders();
        // Taken together with the counts, because a report takes long on a busy machine.
        json.member("elapsedNanos", System.nanoTime());
        long platform = 0;
        long virtual = 0;
        long nanos = 0;
        for (YieldCounts.Yielder yielder : yielders) {
            platform += yielder.getYields();
            virtual += yielder.getVirtualYields();
            nanos += yielder.getYieldNanos();
        }
        json.member("yieldMode", yields.mode().toString());
        json.member("platformYields", platform);
        json.member("virtualYields", virtual);
        json.member("platformYieldNanos", nanos);
        List<YieldCounts.Yielder> live = yielders.stream()
                .filter(y -> y.getTid() != 0)
                .limit(MAX_YIELDERS)
                .toList();
        json.list(
                "yielders",
                live,
                yielder -> json.object(() -> {
                    json.member("tid", yielder.getTid());
                    json.member("yields", yielder.getYields() + yielder.getVirtualYields());
                    json.member("yieldNanos", yielder.getYieldNanos());
                    json.member(
                            "cpuNanos",
                            ClockId.thread((int) yielder.getTid(), ClockId.Kind.SCHED)
                                    .nanos());
                }));
        json.list(
                "yieldSites",
                sites,
                site -> json.object(() -> {
                    json.member("yields", site.getYields());
                    json.member("virtualYields", site.virtualYields());
                    json.list("stack", site.getStack(), json::quote);
                }));
    }
}
