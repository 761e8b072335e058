// SPDX-License-Identifier: Apache-2.0
// Copyright the TaskClock authors
package org.taskclock.micrometer;

import static org.assertj.core.api.Assertions.assertThat;

import io.micrometer.common.KeyValue;
import io.micrometer.core.instrument.MeterRegistry;
import io.micrometer.observation.ObservationRegistry;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.taskclock.TaskClock;
import org.taskclock.bindings.CurrentTask;
import org.taskclock.metrics.PoolCounters;
import org.taskclock.testing.NamedModule;

/** The jar as a module, without Spring Boot, which is optional. */
class ModuleTest {
    private static final String NAME = "org.taskclock.micrometer";

    @Test
    void shouldBindToARegistry() throws Exception {
        ClassLoader loader = NamedModule.load(
                NAME,
                TaskClock.class,
                CurrentTask.class,
                PoolCounters.class,
                TaskClockMetrics.class,
                MeterRegistry.class,
                ObservationRegistry.class,
                KeyValue.class);

        Class<?> metrics = loader.loadClass(TaskClockMetrics.class.getName());
        assertThat(metrics.getModule().getName()).isEqualTo(NAME);
        assertThat(metrics.getModule().getDescriptor().isAutomatic()).isFalse();
        Object registry = loader.loadClass("io.micrometer.core.instrument.simple.SimpleMeterRegistry")
                .getConstructor()
                .newInstance();
        metrics.getMethod("bindTo", loader.loadClass(MeterRegistry.class.getName()))
                .invoke(metrics.getConstructor().newInstance(), registry);
        assertThat((List<?>) registry.getClass().getMethod("getMeters").invoke(registry))
                .isNotEmpty();
    }
}
