// SPDX-License-Identifier: Apache-2.0
// Copyright the TaskClock authors
package org.taskclock.micrometer;

import io.micrometer.core.instrument.MeterRegistry;
import java.util.List;
import org.springframework.beans.factory.ObjectProvider;
import org.springframework.boot.actuate.autoconfigure.endpoint.condition.ConditionalOnAvailableEndpoint;
import org.springframework.boot.autoconfigure.AutoConfiguration;
import org.springframework.boot.autoconfigure.condition.ConditionalOnBean;
import org.springframework.boot.autoconfigure.condition.ConditionalOnClass;
import org.springframework.boot.autoconfigure.condition.ConditionalOnMissingBean;
import org.springframework.boot.autoconfigure.condition.ConditionalOnProperty;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.core.env.Environment;

/**
 * Binds {@link TaskClockMetrics} to the registries of a Spring Boot application, version 3 or 4. The property
 * {@code taskclock.metrics.enabled=false} switches it off, {@code taskclock.metrics.max-pools} limits the number of
 * pools; a wrong value is logged as a warning and has no effect. A bean of type {@link TaskClockMetrics} replaces the
 * one defined here. With actuator, {@link TaskClockEndpoint} is an endpoint that can be exposed.
 */
@SuppressWarnings("exports") // only Spring Boot, which is optional, uses this class
@AutoConfiguration(
        // By name, because the package differs between Spring Boot 3 and 4. These define the registries.
        afterName = {
            "org.springframework.boot.actuate.autoconfigure.metrics.CompositeMeterRegistryAutoConfiguration",
            "org.springframework.boot.micrometer.metrics.autoconfigure.CompositeMeterRegistryAutoConfiguration"
        })
@ConditionalOnClass(MeterRegistry.class)
public class TaskClockMetricsAutoConfiguration {
    /** Creates the configuration. */
    public TaskClockMetricsAutoConfiguration() {}

    @Configuration(proxyBeanMethods = false)
    @ConditionalOnBean(MeterRegistry.class)
    @ConditionalOnProperty(name = TaskClockProperties.ENABLED, matchIfMissing = true)
    static class Meters {
        @Bean
        @ConditionalOnMissingBean
        TaskClockMetrics taskClockMetrics(Environment environment) {
            return new TaskClockMetrics(TaskClockProperties.maxPools(environment), List.of());
        }
    }

    @Configuration(proxyBeanMethods = false)
    @ConditionalOnClass(ConditionalOnAvailableEndpoint.class)
    static class Actuator {
        @Bean
        @ConditionalOnMissingBean
        @ConditionalOnAvailableEndpoint
        TaskClockEndpoint taskClockEndpoint(ObjectProvider<TaskClockMetrics> metrics) {
            return new TaskClockEndpoint(metrics.getIfUnique(TaskClockMetrics::new));
        }
    }
}
