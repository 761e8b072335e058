// SPDX-License-Identifier: Apache-2.0
// Copyright the TaskClock authors
package org.taskclock.deploy;

import com.google.gson.JsonObject;
import org.taskclock.metrics.Metric;

/** One JVM. It needs no recording rules. */
final class JvmDashboard {
    static final String UID = "taskclock-jvm";

    private static final String CPU = PrometheusName.of(Metric.THREAD_CPU_TIME);
    private static final String COUNT = PrometheusName.of(Metric.THREAD_COUNT);
    private static final String WAIT = PrometheusName.of(Metric.THREAD_WAIT_TIME);
    private static final String SWITCHES = PrometheusName.of(Metric.THREAD_CONTEXT_SWITCHES);
    private static final String YIELDS = PrometheusName.of(Metric.THREAD_YIELD_COUNT);
    private static final String VIRTUAL = PrometheusName.of(Metric.VIRTUAL_THREAD_COUNT);
    private static final String ACCOUNT = PrometheusName.of(Metric.ACCOUNT_CPU_TIME);
    private static final String SECTIONS = PrometheusName.of(Metric.ACCOUNT_SECTION_CPU_TIME);
    private static final String PROCESS = PrometheusName.of(Metric.PROCESS_CPU_TIME);
    private static final String PERIODS = PrometheusName.of(Metric.CONTAINER_CPU_PERIODS);
    private static final String THROTTLED = PrometheusName.of(Metric.CONTAINER_CPU_THROTTLED_PERIODS);
    private static final String LIMIT = PrometheusName.of(Metric.CONTAINER_CPU_LIMIT);

    private static final String JVM = "job=~\"$job\", service=~\"$service\", instance=~\"$instance\", jvm=~\"$jvm\"";
    private static final String POOL = "{{taskclock_pool_name}}";
    private static final String ACCOUNT_NAME = "{{taskclock_account_type}} {{taskclock_account_name}}";
    /** Where taskclock serve runs, which Prometheus scrapes, if a single instance is chosen. */
    private static final String PAGE = "${scheme}://${instance:raw}/";

    private static final String LIVE = "Threads and stacks, live";
    private static final String BY_POOL = "sum by (taskclock_pool_name) ";

    private JvmDashboard() {}

    static JsonObject create() {
        Dashboard dashboard = new Dashboard(UID, "TaskClock: one JVM", "CPU time of a JVM by thread pool.");
        dashboard
                .variable("job", "Job", PROCESS)
                .variable("service", "Service", PROCESS + "{job=~\"$job\"}")
                .variable("instance", "Instance", PROCESS + "{job=~\"$job\", service=~\"$service\"}")
                .variable("jvm", "JVM", PROCESS + "{job=~\"$job\", service=~\"$service\", instance=~\"$instance\"}")
                .text("scheme", "Scheme of serve", "http")
                .link("Fleet", "/d/" + FleetDashboard.UID);
        String process = "sum(" + rate(PROCESS, "") + ")";
        dashboard
                .add(Panel.stat("Processors used", Panel.PROCESSORS).query(process, "processors"), 5, 4)
                .add(
                        Panel.stat("CPU limit", Panel.PROCESSORS)
                                .description("Of the container. Empty if there is none.")
                                .query("max(" + LIMIT + "{" + JVM + "})", "limit"),
                        4,
                        4)
                .add(
                        Panel.stat("System time", Panel.SHARE)
                                .description("Share of the CPU time that the JVM spends in the kernel.")
                                .threshold(0.5, "red")
                                .query("sum(" + rate(PROCESS, ", cpu_mode=\"system\"") + ") / " + process, "system"),
                        5,
                        4)
                .add(
                        Panel.stat("Garbage collection", Panel.SHARE)
                                .description("Share of the JVM's CPU time.")
                                .threshold(0.1, "red")
                                .query("sum(" + rate(CPU, ", taskclock_pool_kind=\"gc\"") + ") / " + process, "gc"),
                        5,
                        4)
                .add(
                        Panel.stat("Threads", Panel.COUNT)
                                .query("sum(" + COUNT + "{" + JVM + ", taskclock_pool_kind!=\"virtual\"})", "threads"),
                        5,
                        4);
        dashboard
                .add(
                        Panel.stacked("Processors by thread pool", Panel.PROCESSORS)
                                .link(LIVE, PAGE)
                                .description("Numbers in thread names are replaced with #.")
                                .query(BY_POOL + "(" + rate(CPU, "") + ")", POOL),
                        16,
                        11)
                .add(
                        Panel.stacked("User and system time", Panel.PROCESSORS)
                                .query("sum by (cpu_mode) (" + rate(PROCESS, "") + ")", "{{cpu_mode}}")
                                .query("max(" + LIMIT + "{" + JVM + "})", "limit"),
                        8,
                        11)
                .add(
                        Panel.stacked("Processors by kind of thread", Panel.PROCESSORS)
                                .query(
                                        "sum by (taskclock_pool_kind) (" + rate(CPU, "") + ")",
                                        "{{taskclock_pool_kind}}"),
                        8,
                        8)
                .add(
                        Panel.lines("System time by thread pool", Panel.PROCESSORS)
                                .link(LIVE, PAGE)
                                .query(BY_POOL + "(" + rate(CPU, ", cpu_mode=\"system\"") + ")", POOL),
                        8,
                        8)
                .add(
                        Panel.lines("Threads that wait for a processor", Panel.PROCESSORS)
                                .link(LIVE, PAGE)
                                .description(
                                        "The average number of threads that are ready to run but have no processor.")
                                .query(BY_POOL + "(" + rate(WAIT, "") + ")", POOL),
                        8,
                        8)
                .add(
                        Panel.lines("Context switches", Panel.PER_SECOND)
                                .description(
                                        "Voluntary: a thread blocked. Involuntary: it was preempted, or it yielded.")
                                .query(
                                        "sum by (process_context_switch_type) (" + rate(SWITCHES, "") + ")",
                                        "{{process_context_switch_type}}"),
                        5,
                        8)
                .add(
                        Panel.lines("Calls of Thread.yield", Panel.PER_SECOND)
                                .link(LIVE, PAGE)
                                .description("Known only with an agent that counts them.")
                                .query(BY_POOL + "(" + rate(YIELDS, "") + ") > 0", POOL),
                        5,
                        8)
                .add(
                        Panel.lines("Threads by pool", Panel.COUNT)
                                .query(BY_POOL + "(" + COUNT + "{" + JVM + "}) > 0", POOL),
                        5,
                        8)
                .add(
                        Panel.stacked("Virtual threads", Panel.COUNT)
                                .description("Known only with the agent. Queued: runnable, but without a carrier.")
                                .query(
                                        "sum by (taskclock_virtual_thread_state) (" + VIRTUAL + "{" + JVM
                                                + ", taskclock_virtual_thread_state!=\"waiting\"})",
                                        "{{taskclock_virtual_thread_state}}"),
                        5,
                        8)
                .add(
                        Panel.lines("Throttled by the CPU limit", Panel.SHARE)
                                .description("The share of the periods in which the container used up its limit.")
                                .query("max(" + rate(THROTTLED, "") + " / " + rate(PERIODS, "") + ")", "throttled"),
                        4,
                        8)
                .add(
                        Panel.lines("Processors by account", Panel.PROCESSORS)
                                .description("Of the accounts that the program defines, such as tenants, if any.")
                                .query(
                                        "sum by (taskclock_account_type, taskclock_account_name) (" + rate(ACCOUNT, "")
                                                + ") > 0",
                                        ACCOUNT_NAME),
                        12,
                        8)
                .add(
                        Panel.lines("CPU time that 99 % of sections do not exceed", Panel.SECONDS)
                                .description("By account, if the program counts the sections of this type by CPU time.")
                                .query(
                                        "histogram_quantile(0.99, sum by (le, taskclock_account_type,"
                                                + " taskclock_account_name) (" + rate(SECTIONS, "") + "))",
                                        ACCOUNT_NAME),
                        12,
                        8)
                .add(
                        Panel.table("Thread pools in this time range", Panel.SECONDS)
                                .link(LIVE, PAGE)
                                .column(byPoolAndKind(CPU, ""), "CPU", Panel.SECONDS)
                                .column(byPoolAndKind(CPU, ", cpu_mode=\"system\""), "System", Panel.SECONDS)
                                .column(byPoolAndKind(WAIT, ""), "Waited", Panel.SECONDS)
                                .column(
                                        "sum by (taskclock_pool_name, taskclock_pool_kind) (" + COUNT + "{" + JVM
                                                + "})",
                                        "Threads",
                                        Panel.COUNT)
                                .label("taskclock_pool_name", "Pool", "")
                                .label("taskclock_pool_kind", "Kind", "")
                                .sortedBy("CPU"),
                        24,
                        12);
        return dashboard.json();
    }

    private static String rate(String metric, String labels) {
        return "rate(" + metric + "{" + JVM + labels + "}[$__rate_interval])";
    }

    private static String byPoolAndKind(String metric, String labels) {
        return "sum by (taskclock_pool_name, taskclock_pool_kind) (increase(" + metric + "{" + JVM + labels
                + "}[$__range]))";
    }
}
