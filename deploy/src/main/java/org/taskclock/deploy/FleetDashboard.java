// SPDX-License-Identifier: Apache-2.0
// Copyright the TaskClock authors
package org.taskclock.deploy;

import com.google.gson.JsonObject;
import org.taskclock.metrics.Metric;

/** All JVMs. Its queries read what deploy/prometheus/taskclock.rules.yml records, so they stay fast with many JVMs. */
final class FleetDashboard {
    static final String UID = "taskclock-fleet";

    private static final String PROCESS = PrometheusName.of(Metric.PROCESS_CPU_TIME);
    private static final String PERIODS = PrometheusName.of(Metric.CONTAINER_CPU_PERIODS);
    private static final String THROTTLED = PrometheusName.of(Metric.CONTAINER_CPU_THROTTLED_PERIODS);
    private static final String YIELDS = PrometheusName.of(Metric.THREAD_YIELD_COUNT);

    private static final String FINDING = PrometheusName.of(Metric.FINDING);
    private static final String FINDING_START = PrometheusName.of(Metric.FINDING_START_TIME);

    private static final String SERVICE = "{job=~\"$job\", service=~\"$service\"}";
    private static final String POOL_CPU = "jvm_pool:taskclock_thread_cpu_time_seconds:rate5m" + SERVICE;
    private static final String POOL_SYSTEM = "jvm_pool:taskclock_thread_system_time_seconds:rate5m" + SERVICE;
    private static final String POOL_WAIT = "jvm_pool:taskclock_thread_wait_time_seconds:rate5m" + SERVICE;
    private static final String JVM_CPU = "jvm:taskclock_process_cpu_time_seconds:rate5m" + SERVICE;
    private static final String SERVICE_POOL_CPU = "service_pool:taskclock_thread_cpu_time_seconds:rate5m" + SERVICE;
    private static final String SERVICE_CPU = "service:taskclock_process_cpu_time_seconds:rate5m" + SERVICE;

    private FleetDashboard() {}

    static JsonObject create() {
        Dashboard dashboard = new Dashboard(
                UID,
                "TaskClock: fleet",
                "CPU time of all JVMs by service and thread pool. Requires the recording rules.");
        dashboard
                .variable("job", "Job", PROCESS)
                .variable("service", "Service", PROCESS + "{job=~\"$job\"}")
                .text("scheme", "Scheme of serve", "http")
                .link("One JVM", "/d/" + JvmDashboard.UID);
        dashboard
                .add(Panel.stat("JVMs", Panel.COUNT).query("count(" + JVM_CPU + ")", "JVMs"), 6, 4)
                .add(Panel.stat("Processors used", Panel.PROCESSORS).query("sum(" + JVM_CPU + ")", "processors"), 6, 4)
                .add(
                        Panel.stat("System time", Panel.SHARE)
                                .description("Share of the CPU time that threads spend in the kernel.")
                                .threshold(0.5, "red")
                                .query("sum(" + POOL_SYSTEM + ") / sum(" + POOL_CPU + ")", "system"),
                        6,
                        4)
                .add(
                        Panel.stat("Garbage collection", Panel.SHARE)
                                .description("Share of the CPU time.")
                                .threshold(0.1, "red")
                                .query(
                                        "sum(" + SERVICE_POOL_CPU.replace("}", ", taskclock_pool_kind=\"gc\"}")
                                                + ") / sum(" + SERVICE_CPU + ")",
                                        "gc"),
                        6,
                        4);
        dashboard
                .add(
                        Panel.stacked("Processors by service", Panel.PROCESSORS)
                                .query("sum by (job, service) (" + SERVICE_CPU + ")", "{{service}} ({{job}})"),
                        12,
                        9)
                .add(
                        Panel.bars("Processors by thread pool, the 20 busiest", Panel.PROCESSORS)
                                .last(
                                        "topk(20, sum by (service, taskclock_pool_name) (" + SERVICE_POOL_CPU + "))",
                                        "{{service}} {{taskclock_pool_name}}"),
                        12,
                        9)
                .add(
                        Panel.stacked("Processors by kind of thread", Panel.PROCESSORS)
                                .query(
                                        "sum by (taskclock_pool_kind) (" + SERVICE_POOL_CPU + ")",
                                        "{{taskclock_pool_kind}}"),
                        12,
                        8)
                .add(
                        Panel.lines("System time by service", Panel.SHARE)
                                .description("Share of the CPU time that threads spend in the kernel.")
                                .query(
                                        "sum by (job, service) (" + POOL_SYSTEM + ") / sum by (job, service) ("
                                                + POOL_CPU + ")",
                                        "{{service}} ({{job}})"),
                        12,
                        8)
                .add(
                        Panel.lines("Threads that wait for a processor, by host", Panel.PROCESSORS)
                                .description(
                                        "The average number of threads that are ready to run but have no processor.")
                                .query("sum by (instance) (" + POOL_WAIT + ")", "{{instance}}"),
                        8,
                        8)
                .add(
                        Panel.lines("Throttled by the CPU limit, by service", Panel.SHARE)
                                .description(
                                        "The share of the periods in which the container that is throttled most used up its limit.")
                                .query(
                                        "max by (job, service) (rate(" + THROTTLED + SERVICE
                                                + "[$__rate_interval]) / rate(" + PERIODS + SERVICE
                                                + "[$__rate_interval]))",
                                        "{{service}} ({{job}})"),
                        8,
                        8)
                .add(
                        Panel.lines("Calls of Thread.yield", Panel.PER_SECOND)
                                .description("Known only for JVMs with an agent that counts them.")
                                .query(
                                        "sum by (service, taskclock_pool_name) (rate(" + YIELDS + SERVICE
                                                + "[$__rate_interval])) > 0",
                                        "{{service}} {{taskclock_pool_name}}"),
                        8,
                        8);
        String page = "${scheme}://${__value.raw}/";
        String jvm = "/d/" + JvmDashboard.UID
                + "?var-instance=${__data.fields.instance}&var-jvm=${__data.fields.jvm}&${__url_time_range}";
        dashboard
                .add(
                        Panel.table("The 20 busiest JVMs", Panel.PROCESSORS)
                                .column("topk(20, " + JVM_CPU + ")", "Processors", Panel.PROCESSORS)
                                .label("service", "Service", jvm)
                                .label("instance", "Page of the host", page)
                                .sortedBy("Processors", "__name__"),
                        24,
                        10)
                .add(
                        Panel.table("Findings", Panel.TIME)
                                .column(
                                        "1000 * " + FINDING_START + SERVICE + " and " + FINDING + SERVICE + " == 1",
                                        "Since",
                                        Panel.TIME)
                                .label("taskclock_finding_kind", "Finding", "")
                                .label("service", "Service", jvm)
                                .sortedBy("Since"),
                        12,
                        10)
                .add(
                        Panel.table("Alerts", Panel.COUNT)
                                .column(
                                        "ALERTS{alertname=~\"TaskClock.*\", alertstate=\"firing\", job=~\"$job\","
                                                + " service=~\"$service\"}",
                                        "Firing",
                                        Panel.COUNT)
                                .label("alertname", "Alert", "")
                                .label("taskclock_pool_name", "Pool", "")
                                .sortedBy("Alert", "__name__", "alertstate", "Value #A"),
                        12,
                        10);
        return dashboard.json();
    }
}
