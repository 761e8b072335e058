// SPDX-License-Identifier: Apache-2.0
// Copyright the TaskClock authors
package org.taskclock.micrometer;

import io.micrometer.core.instrument.MeterRegistry;
import java.util.List;
import org.springframework.boot.autoconfigure.AutoConfiguration;
import org.springframework.boot.autoconfigure.condition.ConditionalOnBean;
import org.springframework.boot.autoconfigure.condition.ConditionalOnClass;
import org.springframework.boot.autoconfigure.condition.ConditionalOnMissingBean;
import org.springframework.boot.autoconfigure.condition.ConditionalOnProperty;
import org.springframework.boot.context.properties.EnableConfigurationProperties;
import org.springframework.context.annotation.Bean;

/**
 * Binds {@link TaskClockMetrics} to the registries of a Spring Boot application, version 3 or 4. The property
 * {@code taskclock.metrics.enabled=false} switches it off, {@code taskclock.metrics.max-pools} limits the number of
 * pools. A bean of type {@link TaskClockMetrics} replaces the one defined here.
 */
@SuppressWarnings("exports") // only Spring Boot, which is optional, uses this class
@AutoConfiguration(
        // By name, because the package differs between Spring Boot 3 and 4. These define the registries.
        afterName = {
            "org.springframework.boot.actuate.autoconfigure.metrics.CompositeMeterRegistryAutoConfiguration",
            "org.springframework.boot.micrometer.metrics.autoconfigure.CompositeMeterRegistryAutoConfiguration"
        })
@ConditionalOnClass(MeterRegistry.class)
@ConditionalOnBean(MeterRegistry.class)
@ConditionalOnProperty(name = "taskclock.metrics.enabled", matchIfMissing = true)
@EnableConfigurationProperties(TaskClockMetricsProperties.class)
public class TaskClockMetricsAutoConfiguration {
    /** Creates the configuration. */
    public TaskClockMetricsAutoConfiguration() {}

    @Bean
    @ConditionalOnMissingBean
    TaskClockMetrics taskClockMetrics(TaskClockMetricsProperties properties) {
        return new TaskClockMetrics(properties.maxPools(), List.of());
    }
}
