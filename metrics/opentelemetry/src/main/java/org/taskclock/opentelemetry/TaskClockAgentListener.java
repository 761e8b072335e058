// SPDX-License-Identifier: Apache-2.0
// Copyright the TaskClock authors
package org.taskclock.opentelemetry;

import io.opentelemetry.javaagent.extension.AgentListener;
import io.opentelemetry.sdk.autoconfigure.AutoConfiguredOpenTelemetrySdk;
import io.opentelemetry.sdk.autoconfigure.internal.AutoConfigureUtil;
import io.opentelemetry.sdk.autoconfigure.spi.ConfigProperties;
import java.util.EnumSet;
import java.util.Set;
import java.util.logging.Level;
import java.util.logging.Logger;
import org.taskclock.metrics.Metric;
import org.taskclock.metrics.PoolCounters;

/**
 * The extension of OpenTelemetry's Java agent, which calls it when the program is about to start. If the metrics cannot
 * be created, it logs a warning, and the program runs on.
 */
@SuppressWarnings("exports") // only OpenTelemetry's agent uses this class
public final class TaskClockAgentListener implements AgentListener {
    private static final Logger LOGGER = Logger.getLogger(TaskClockAgentListener.class.getName());

    private static final String PREFIX = "otel.instrumentation.taskclock.";

    /** Creates the listener. */
    public TaskClockAgentListener() {}

    @Override
    public void afterAgent(AutoConfiguredOpenTelemetrySdk sdk) {
        try {
            // Null if the agent is configured declaratively. There are no properties then.
            ConfigProperties config = AutoConfigureUtil.getConfig(sdk);
            if (config == null) start(sdk, PoolCounters.DEFAULT_MAX_POOLS, false);
            else if (isEnabled(config))
                start(sdk, maxPools(config), config.getBoolean(PREFIX + "thread-count.enabled", false));
        } catch (RuntimeException | LinkageError e) {
            LOGGER.log(Level.WARNING, "TaskClock reports no metrics: " + e);
        }
    }

    static boolean isEnabled(ConfigProperties config) {
        return config.getBoolean(
                PREFIX + "enabled", config.getBoolean("otel.instrumentation.common.default-enabled", true));
    }

    static int maxPools(ConfigProperties config) {
        return config.getInt(PREFIX + "max-pools", PoolCounters.DEFAULT_MAX_POOLS);
    }

    /** The agent itself reports the number of threads, so that a sum over both would count each thread twice. */
    @SuppressWarnings("resource") // reports until the JVM exits
    private static void start(AutoConfiguredOpenTelemetrySdk sdk, int maxPools, boolean hasThreadCount) {
        Set<Metric> metrics = EnumSet.allOf(Metric.class);
        if (!hasThreadCount) metrics.remove(Metric.THREAD_COUNT);
        TaskClockMetrics.create(sdk.getOpenTelemetrySdk(), maxPools, metrics);
    }
}
