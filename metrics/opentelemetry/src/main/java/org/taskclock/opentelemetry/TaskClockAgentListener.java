// SPDX-License-Identifier: Apache-2.0
// Copyright the TaskClock authors
package org.taskclock.opentelemetry;

import io.opentelemetry.javaagent.extension.AgentListener;
import io.opentelemetry.sdk.autoconfigure.AutoConfiguredOpenTelemetrySdk;
import io.opentelemetry.sdk.autoconfigure.internal.AutoConfigureUtil;
import io.opentelemetry.sdk.autoconfigure.spi.ConfigProperties;
import java.util.logging.Level;
import java.util.logging.Logger;
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
    @SuppressWarnings("resource") // reports until the JVM exits
    public void afterAgent(AutoConfiguredOpenTelemetrySdk sdk) {
        try {
            // Null if the agent is configured declaratively. There are no properties then.
            ConfigProperties config = AutoConfigureUtil.getConfig(sdk);
            if (config == null) TaskClockMetrics.create(sdk.getOpenTelemetrySdk());
            else if (isEnabled(config)) TaskClockMetrics.create(sdk.getOpenTelemetrySdk(), maxPools(config));
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
}
