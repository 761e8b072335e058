// SPDX-License-Identifier: Apache-2.0
// Copyright the TaskClock authors
package org.taskclock.opentelemetry;

import static org.assertj.core.api.Assertions.assertThat;

import io.opentelemetry.api.OpenTelemetry;
import io.opentelemetry.context.Context;
import java.lang.module.Configuration;
import java.lang.module.ModuleFinder;
import java.net.URISyntaxException;
import java.nio.file.Path;
import java.util.Set;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.taskclock.TaskClock;
import org.taskclock.metrics.PoolCounters;

/** The jar as a module, without OpenTelemetry's SDK, which only the extension of its agent needs. */
class ModuleTest {
    private static final String NAME = "org.taskclock.opentelemetry";

    private static Path jar(Class<?> type) {
        try {
            return Path.of(
                    type.getProtectionDomain().getCodeSource().getLocation().toURI());
        } catch (URISyntaxException e) {
            throw new AssertionError(e);
        }
    }

    @Test
    void shouldCreateMetrics() throws Exception {
        Path[] jars = Stream.of(
                        TaskClock.class, PoolCounters.class, TaskClockMetrics.class, OpenTelemetry.class, Context.class)
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
        Class<?> openTelemetry = loader.loadClass(OpenTelemetry.class.getName());
        Object noop = openTelemetry.getMethod("noop").invoke(null);
        try (AutoCloseable created =
                (AutoCloseable) metrics.getMethod("create", openTelemetry).invoke(null, noop)) {
            assertThat(created).isInstanceOf(metrics);
        }
    }
}
