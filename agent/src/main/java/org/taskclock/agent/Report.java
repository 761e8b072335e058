// SPDX-License-Identifier: Apache-2.0
// Copyright the TaskClock authors
package org.taskclock.agent;

import java.io.File;
import java.io.IOException;
import java.lang.instrument.Instrumentation;
import java.util.List;
import java.util.Map;
import java.util.function.Supplier;
import org.taskclock.CpuTime;
import org.taskclock.ProcessClock;
import org.taskclock.TaskClock;

/**
 * What the agent knows, as JSON, for the command line: in the property {@code taskclock.report} of those that the JVM hands out to
 * tools that attach, and at the end of a process in a file. Times in ns.
 */
public final class Report implements Supplier<String> {
    /** So many places, the busiest. */
    private static final int SITES = 200;

    private static final int YIELDERS = 200;

    private final Agency agency;
    private final Hooks hooks;
    private boolean defined;

    Report(Agency agency, Hooks hooks) {
        this.agency = agency;
        this.hooks = hooks;
    }

    void install(Instrumentation jvm) throws Refused {
        if (!defined) {
            try {
                Hooks.define(jvm, Thread.class, "java.lang.TaskClockReport");
            } catch (IllegalAccessException | IOException | LinkageError e) {
                throw new Refused("cannot define the report in java.lang: " + e, e);
            }
            defined = true;
        }
        Refused.unlessNull((String) hooks.call("setReport", this, requestFile()));
    }

    void remove() throws Refused {
        if (defined) Refused.unlessNull((String) hooks.call("setReport", null, requestFile()));
    }

    /**
     * The tool that wants the report creates this file, in the JVM's mount namespace, where it exists while it asks. Other tools
     * ask for the same properties, and are not to wait for a report that they do not want. By the id that the JVM has itself.
     */
    private static String requestFile() {
        try {
            // ProcessHandle would start threads, and cost 14 ms.
            return "/tmp/.taskclock_report_"
                    + new File("/proc/self").getCanonicalFile().getName();
        } catch (IOException e) {
            return "/tmp/.taskclock_report_" + ProcessHandle.current().pid();
        }
    }

    @Override
    public String get() {
        return of(agency, Map.of());
    }

    /** {@code elapsedNanos} has no origin; {@code reportNanos} is what CPU time this took. */
    static String of(Agency agency, Map<String, Summary.Pool> pools) {
        long start = TaskClock.cpuNanos();
        Json json = new Json();
        json.member("version", Agency.version());
        json.member("pid", ProcessHandle.current().pid());
        json.member("java", System.getProperty("java.version"));
        json.member("command", System.getProperty("sun.java.command", ""));
        json.member("elapsedNanos", System.nanoTime());
        CpuTime process = ProcessClock.current().now();
        json.member("cpuNanos", process.cpuNanos());
        json.member("userNanos", process.userNanos());
        json.list("pools", pools.entrySet(), pool -> json.object(() -> pool(json, pool.getKey(), pool.getValue())));
        json.list("virtualThreads", agency.accounts().groups(), group -> json.object(() -> group(json, group)));
        json.list("carriers", agency.accounts().carriers(), carrier -> json.object(() -> carrier(json, carrier)));
        yields(json, agency.yields());
        health(json, agency.health());
        json.member(
                "overflown",
                agency.yields().counts().isOverflown() || agency.accounts().isOverflown());
        json.member("reportNanos", TaskClock.cpuNanos() - start);
        return json.end();
    }

    private static void health(Json json, Health health) {
        json.object("health", () -> {
            json.list(
                    "parts",
                    health.parts(),
                    part -> json.object(() -> {
                        json.member("name", part.name());
                        json.member("state", part.state());
                        if (part.problem() != null) json.member("problem", part.problem());
                    }));
            json.member("mounts", health.mounts());
            json.member("stacks", health.stacks());
            json.member("failures", health.failures());
            if (health.lastFailure() != null) json.member("lastFailure", health.lastFailure());
            json.member("memoryBytes", health.memoryBytes());
        });
    }

    private static void pool(Json json, String name, Summary.Pool pool) {
        json.member("name", name);
        json.member("example", pool.example);
        json.member("java", pool.java);
        json.member("threads", pool.threads);
        json.member("cpuNanos", pool.cpuNanos);
        json.member("userNanos", pool.userNanos);
    }

    private static void group(Json json, VirtualAccounts.Group group) {
        json.member("name", group.name());
        json.member("live", group.live());
        json.member("ended", group.ended());
        json.member("cpuNanos", group.cpuNanos());
        json.member("userNanos", group.userNanos());
    }

    private static void carrier(Json json, VirtualAccounts.Carrier carrier) {
        json.member("tid", carrier.tid());
        json.member("cpuNanos", carrier.cpuNanos());
        json.member("userNanos", carrier.userNanos());
        json.member("carriedNanos", carrier.carriedNanos());
        json.member("carriedUserNanos", carrier.carriedUserNanos());
    }

    private static void yields(Json json, Yields yields) {
        List<YieldCounts.Yielder> yielders = yields.yielders();
        long platform = 0;
        long virtual = 0;
        long nanos = 0;
        for (YieldCounts.Yielder yielder : yielders) {
            platform += yielder.yields();
            virtual += yielder.virtualYields();
            // Where each yield switches, those that are measured take longer, by the measuring.
            nanos += Math.min(yielder.yieldNanos(), yielder.userNanos() + yielder.systemNanos());
        }
        json.member("yieldMode", yields.mode().toString());
        json.member("platformYields", platform);
        json.member("virtualYields", virtual);
        json.member("platformYieldNanos", nanos);
        List<YieldCounts.Yielder> live =
                yielders.stream().filter(y -> y.tid() != 0).limit(YIELDERS).toList();
        json.list(
                "yielders",
                live,
                yielder -> json.object(() -> {
                    json.member("tid", yielder.tid());
                    json.member("yields", yielder.yields() + yielder.virtualYields());
                }));
        List<YieldCounts.Site> sites =
                yields.counts().sites().stream().limit(SITES).toList();
        json.list(
                "yieldSites",
                sites,
                site -> json.object(() -> {
                    json.member("yields", site.yields());
                    json.member("virtualYields", site.virtualYields());
                    json.list("stack", site.frames(), frame -> json.quote(frame.toString()));
                }));
    }
}
