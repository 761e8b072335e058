// SPDX-License-Identifier: Apache-2.0
// Copyright the TaskClock authors
package org.taskclock.opentelemetry;

import io.opentelemetry.sdk.autoconfigure.spi.AutoConfigurationCustomizer;
import io.opentelemetry.sdk.autoconfigure.spi.AutoConfigurationCustomizerProvider;

/**
 * Adds {@link SpanCpuTime} to the SDK that OpenTelemetry's Java agent or auto-configuration builds, if the property
 * {@value #ENABLED} is true.
 */
public final class SpanCpuTimeCustomizer implements AutoConfigurationCustomizerProvider {
    static final String ENABLED = "otel.instrumentation.taskclock.span-cpu-time.enabled";

    /** Creates the customizer. */
    public SpanCpuTimeCustomizer() {}

    @Override
    public void customize(AutoConfigurationCustomizer customizer) {
        customizer.addTracerProviderCustomizer((builder, config) ->
                config.getBoolean(ENABLED, false) ? builder.addSpanProcessor(SpanCpuTime.create()) : builder);
    }
}
