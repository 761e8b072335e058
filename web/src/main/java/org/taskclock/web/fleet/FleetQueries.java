// SPDX-License-Identifier: Apache-2.0
// Copyright the TaskClock authors
package org.taskclock.web.fleet;

import java.util.Collection;
import java.util.List;
import java.util.Map;
import java.util.stream.Collectors;

/**
 * The queries of one view: all services, or one of them. Each reads recorded series, and returns a limited number.
 *
 * @param service null for all
 */
record FleetQueries(Dimension dimension, String service) {
    /** The rows of a table. */
    static final int MAX_ROWS = 1_000;

    static final int MAX_FINDINGS = 200;
    static final int MAX_VERSIONS = 50;
    static final String VERSION = Dimension.VERSION.labels.get(0);

    private static final String WEEK_EARLIER = " offset 1w";
    private static final String OUTLIERS = "service:taskclock_jvm_outliers:count";
    private static final String MEDIAN = "service:taskclock_process_cpu_time_seconds:median_rate5m";
    private static final String INFO = "taskclock_jvm_info";
    private static final String FINDINGS = "jvm_finding:taskclock_finding_start_time_seconds:active";

    /** Used by readiness: the sum of all. */
    static final FleetQueries ALL = new FleetQueries(Dimension.SERVICE, null);

    private String selector() {
        return service == null ? "" : "{service=" + PromQl.string(service) + "}";
    }

    /** Returns the selector with more matchers. */
    private String selector(Map<String, String> matchers) {
        String own = service == null ? "" : "service=" + PromQl.string(service) + ",";
        return matchers.entrySet().stream()
                .map(matcher -> matcher.getKey() + matcher.getValue())
                .sorted()
                .collect(Collectors.joining(",", "{" + own, "}"));
    }

    List<String> labels() {
        return dimension.labels(service != null);
    }

    private String byLabels(String expression) {
        return "sum by (" + String.join(", ", labels()) + ") (" + expression + ")";
    }

    private String metric() {
        return dimension.metric(service != null) + selector();
    }

    private static String largest(int rows, String expression) {
        return "topk(" + rows + ", " + expression + ")";
    }

    String rows() {
        return largest(MAX_ROWS, byLabels(metric()));
    }

    String rowsWeekEarlier() {
        return largest(MAX_ROWS, byLabels(metric() + WEEK_EARLIER));
    }

    /** Processors at each sample of the range, added. All rows of a fleet have too many samples of five minutes. */
    String rowsInRange(FleetRange range) {
        String samples = isHourly(range) ? dimension.hourly() + range.hourlySubquery() : metric() + range.subquery();
        return largest(MAX_ROWS, byLabels("sum_over_time(" + samples + ")"));
    }

    private boolean isHourly(FleetRange range) {
        return service == null && range.isLong();
    }

    /** Returns what a value of {@link #rowsInRange} is multiplied by to give hours. */
    double hoursPerSample(FleetRange range) {
        return isHourly(range) ? range.hoursPerHourlySample() : range.hoursPerSample();
    }

    /** Returns null if the numbers of JVMs are not recorded. */
    String jvms() {
        if (dimension.jvms == null || (dimension == Dimension.HOST && service != null)) return null;
        return largest(MAX_ROWS, byLabels(dimension.jvms + selector()));
    }

    String outliers() {
        return largest(MAX_ROWS, "sum by (service) (" + OUTLIERS + selector() + ")");
    }

    /** The number of findings by service, host, or JVM. */
    String findingCounts() {
        return largest(MAX_ROWS, "count by (" + String.join(", ", labels()) + ") (" + FINDINGS + selector() + ")");
    }

    String median() {
        return "max(" + MEDIAN + selector() + ")";
    }

    /** What is known about the JVMs of the service. */
    String info() {
        return largest(10 * MAX_ROWS, INFO + selector());
    }

    private String serviceCpu() {
        return service == null ? Dimension.SERVICE.fleetSum() : Dimension.SERVICE.metric(true) + selector();
    }

    String total() {
        return "sum(" + serviceCpu() + ")";
    }

    String totalWeekEarlier() {
        return "sum(" + serviceCpu() + WEEK_EARLIER + ")";
    }

    String totalInRange(FleetRange range) {
        return "sum(sum_over_time(" + serviceCpu() + range.subquery() + "))";
    }

    String totalInRangeWeekEarlier(FleetRange range) {
        return "sum(sum_over_time(" + serviceCpu() + range.subquery() + WEEK_EARLIER + "))";
    }

    /** Rows with these names over time. Returns also those that share some of the labels. */
    String lines(Map<String, ? extends Collection<String>> names) {
        Map<String, String> matchers = names.entrySet().stream()
                .filter(label -> !label.getKey().equals("service") || service == null)
                .collect(Collectors.toMap(Map.Entry::getKey, label -> "=~" + PromQl.anyOf(label.getValue())));
        return byLabels(dimension.metric(service != null) + selector(matchers));
    }

    /** All rows over time, or all accounts of a type. */
    String sum(String accountType, boolean weekEarlier) {
        String sum = service == null ? dimension.fleetSum() : dimension.metric(true);
        String selected = sum
                + (accountType == null
                        ? selector()
                        : selector(Map.of(Dimension.ACCOUNT.labels.get(1), "=" + PromQl.string(accountType))));
        return "sum(" + selected + (weekEarlier ? WEEK_EARLIER : "") + ")";
    }

    String findings() {
        return largest(MAX_FINDINGS, FINDINGS + selector());
    }

    /** Also those that ended in the range. */
    String findingsInRange(FleetRange range) {
        return largest(MAX_FINDINGS, "last_over_time(" + FINDINGS + selector() + range.selector() + ")");
    }

    /** Versions that run now but did not at the beginning of the range, of services that did. */
    String newVersions(FleetRange range) {
        String before = Dimension.VERSION.jvms + selector() + range.offset();
        return largest(
                MAX_VERSIONS,
                "sum by (service, " + VERSION + ") (" + Dimension.VERSION.jvms + selector() + " unless " + before
                        + " and on (service) " + before + ")");
    }

    /** The number of JVMs of some versions over time. Returns also those that share a name. */
    String jvmsOf(Collection<String> services, Collection<String> versions) {
        return "sum by (service, " + VERSION + ") (" + Dimension.VERSION.jvms + "{service=~" + PromQl.anyOf(services)
                + "," + VERSION + "=~" + PromQl.anyOf(versions) + "})";
    }

    String versionCpu() {
        return "sum by (" + VERSION + ") (" + Dimension.VERSION.metric(true) + selector() + ")";
    }

    String versionJvms() {
        return "sum by (" + VERSION + ") (" + Dimension.VERSION.jvms + selector() + ")";
    }
}
