// SPDX-License-Identifier: Apache-2.0
// Copyright the TaskClock authors
package org.taskclock.integration.flink;

import java.util.Map;
import java.util.Properties;
import java.util.concurrent.ConcurrentHashMap;
import org.apache.flink.metrics.Gauge;
import org.apache.flink.metrics.Metric;
import org.apache.flink.metrics.MetricConfig;
import org.apache.flink.metrics.MetricGroup;
import org.apache.flink.metrics.reporter.MetricReporter;
import org.apache.flink.metrics.reporter.MetricReporterFactory;

/** Keeps the gauges of running tasks, by name of the task and name of the metric, so that the test can read them. */
public final class TaskFigures implements MetricReporter, MetricReporterFactory {
    private static final Map<String, Gauge<?>> GAUGES = new ConcurrentHashMap<>();

    /** Returns the value of a gauge of the task that begins with this operator, or -1 if the task does not run. */
    static double read(String operator, String metric) {
        Gauge<?> gauge = GAUGES.get(operator + " " + metric);
        return gauge == null ? -1 : ((Number) gauge.getValue()).doubleValue();
    }

    @Override
    public MetricReporter createMetricReporter(Properties properties) {
        return new TaskFigures();
    }

    @Override
    public void open(MetricConfig config) {}

    @Override
    public void close() {}

    @Override
    public void notifyOfAddedMetric(Metric metric, String name, MetricGroup group) {
        String key = key(name, group);
        if (key != null && metric instanceof Gauge<?> gauge) GAUGES.put(key, gauge);
    }

    @Override
    public void notifyOfRemovedMetric(Metric metric, String name, MetricGroup group) {
        String key = key(name, group);
        if (key != null) GAUGES.remove(key);
    }

    private static String key(String metric, MetricGroup group) {
        String task = group.getAllVariables().get("<task_name>");
        return task == null ? null : task.replaceFirst(" -> .*", "") + " " + metric;
    }
}
