// SPDX-License-Identifier: Apache-2.0
// Copyright the TaskClock authors
package org.taskclock.opentelemetry;

import io.opentelemetry.sdk.autoconfigure.spi.AutoConfigurationCustomizer;
import io.opentelemetry.sdk.autoconfigure.spi.AutoConfigurationCustomizerProvider;
import io.opentelemetry.sdk.autoconfigure.spi.ConfigProperties;
import org.taskclock.metrics.PoolCounters;

/**
 * Adds what only the SDK can have to the one that OpenTelemetry's Java agent or auto-configuration builds:
 * {@link SectionHistograms}, unless TaskClock's metrics are off, {@link SpanCpuTime}, if the property
 * {@value #SPAN_CPU_TIME} is true, and {@link SpanAccounts} with its sampler, if {@value #SPAN_ACCOUNTS} is.
 */
public final class TaskClockCustomizer implements AutoConfigurationCustomizerProvider {
    static final String SPAN_CPU_TIME = "otel.instrumentation.taskclock.span-cpu-time.enabled";
    static final String SPAN_ACCOUNTS = "otel.instrumentation.taskclock.span-accounts.enabled";

    /** Creates the customizer. */
    public TaskClockCustomizer() {}

    @Override
    public void customize(AutoConfigurationCustomizer customizer) {
        customizer.addTracerProviderCustomizer((builder, config) ->
                config.getBoolean(SPAN_CPU_TIME, false) ? builder.addSpanProcessor(SpanCpuTime.create()) : builder);
        customizer.addTracerProviderCustomizer((builder, config) ->
                config.getBoolean(SPAN_ACCOUNTS, false) ? builder.addSpanProcessor(SpanAccounts.create()) : builder);
        customizer.addSamplerCustomizer((sampler, config) ->
                config.getBoolean(SPAN_ACCOUNTS, false) ? SpanAccounts.recordingAll(sampler) : sampler);
        customizer.addMeterProviderCustomizer((builder, config) ->
                hasMetrics(config) ? builder.registerMetricProducer(new SectionHistograms()) : builder);
    }

    /** Returns whether {@link TaskClockAgentListener} will not refuse to create metrics, of which these are a part. */
    private static boolean hasMetrics(ConfigProperties config) {
        return TaskClockAgentListener.isEnabled(config)
                && TaskClockAgentListener.maxPools(config) >= PoolCounters.MIN_POOLS;
    }
}
