// SPDX-License-Identifier: Apache-2.0
// Copyright the TaskClock authors
package org.taskclock.opentelemetry;

import static org.assertj.core.api.Assertions.assertThat;

import io.opentelemetry.api.OpenTelemetry;
import io.opentelemetry.context.Context;
import org.junit.jupiter.api.Test;
import org.taskclock.TaskClock;
import org.taskclock.bindings.CurrentTask;
import org.taskclock.metrics.PoolCounters;
import org.taskclock.testing.NamedModule;

/** The jar as a module, without OpenTelemetry's SDK, which only the extension of its agent needs. */
class ModuleTest {
    private static final String NAME = "org.taskclock.opentelemetry";

    @Test
    void shouldCreateMetrics() throws Exception {
        ClassLoader loader = NamedModule.load(
                NAME,
                TaskClock.class,
                CurrentTask.class,
                PoolCounters.class,
                TaskClockMetrics.class,
                OpenTelemetry.class,
                Context.class);

        Class<?> metrics = loader.loadClass(TaskClockMetrics.class.getName());
        assertThat(metrics.getModule().getName()).isEqualTo(NAME);
        assertThat(metrics.getModule().getDescriptor().isAutomatic()).isFalse();
        Class<?> openTelemetry = loader.loadClass(OpenTelemetry.class.getName());
        Object noop = openTelemetry.getMethod("noop").invoke(null);
        try (AutoCloseable created =
                (AutoCloseable) metrics.getMethod("create", openTelemetry).invoke(null, noop)) {
            assertThat(created).isInstanceOf(metrics);
        }
    }
}
