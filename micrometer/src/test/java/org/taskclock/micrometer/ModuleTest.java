// SPDX-License-Identifier: Apache-2.0
// Copyright the TaskClock authors
package org.taskclock.micrometer;

import static org.assertj.core.api.Assertions.assertThat;

import io.micrometer.common.KeyValue;
import io.micrometer.core.instrument.MeterRegistry;
import io.micrometer.observation.ObservationRegistry;
import java.lang.module.Configuration;
import java.lang.module.ModuleFinder;
import java.net.URISyntaxException;
import java.nio.file.Path;
import java.util.List;
import java.util.Set;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.taskclock.TaskClock;
import org.taskclock.metrics.PoolCounters;

/** The jar as a module, without Spring Boot, which is optional. */
class ModuleTest {
    private static final String NAME = "org.taskclock.micrometer";

    private static Path jar(Class<?> type) {
        try {
            return Path.of(
                    type.getProtectionDomain().getCodeSource().getLocation().toURI());
        } catch (URISyntaxException e) {
            throw new AssertionError(e);
        }
    }

    @Test
    void shouldBindToARegistry() throws Exception {
        Path[] jars = Stream.of(
                        TaskClock.class,
                        PoolCounters.class,
                        TaskClockMetrics.class,
                        MeterRegistry.class,
                        ObservationRegistry.class,
                        KeyValue.class)
                .map(ModuleTest::jar)
                .toArray(Path[]::new);
        Configuration modules =
                ModuleLayer.boot().configuration().resolve(ModuleFinder.of(jars), ModuleFinder.of(), Set.of(NAME));
        ClassLoader loader = ModuleLayer.boot()
                .defineModulesWithOneLoader(modules, ClassLoader.getPlatformClassLoader())
                .findLoader(NAME);

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
