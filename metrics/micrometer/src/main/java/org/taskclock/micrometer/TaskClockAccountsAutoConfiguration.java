// SPDX-License-Identifier: Apache-2.0
// Copyright the TaskClock authors
package org.taskclock.micrometer;

import io.micrometer.observation.ObservationRegistry;
import jakarta.servlet.DispatcherType;
import jakarta.servlet.Filter;
import org.springframework.beans.factory.ObjectProvider;
import org.springframework.boot.autoconfigure.AutoConfiguration;
import org.springframework.boot.autoconfigure.condition.ConditionalOnClass;
import org.springframework.boot.autoconfigure.condition.ConditionalOnProperty;
import org.springframework.boot.autoconfigure.condition.ConditionalOnWebApplication;
import org.springframework.boot.web.servlet.FilterRegistrationBean;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.core.Ordered;
import org.springframework.core.annotation.Order;
import org.springframework.core.env.Environment;
import org.springframework.scheduling.annotation.SchedulingConfigurer;
import org.springframework.scheduling.support.ScheduledTaskObservationContext;
import org.springframework.web.servlet.handler.MappedInterceptor;
import org.taskclock.CpuAccounts;
import org.taskclock.bindings.AccountFilter;
import org.taskclock.bindings.EndpointInterceptor;

/**
 * Counts the CPU time of a Spring Boot application, version 3 or 4, for named accounts. All of it is off by default:
 *
 * <ul>
 *   <li>{@code taskclock.accounts.tenant.header=X-Tenant}: requests by the tenant that a header names
 *   <li>{@code taskclock.accounts.endpoint=true}: requests by Spring MVC's best matching pattern
 *   <li>{@code taskclock.accounts.job=true}: methods with {@code @Scheduled}, by class and method
 * </ul>
 *
 * <p>A wrong property is logged as a warning and has no effect. Requests are counted in applications with servlets.
 */
@SuppressWarnings("exports") // only Spring Boot, which is optional, uses this class
@AutoConfiguration
public class TaskClockAccountsAutoConfiguration {
    /**
     * Creates the configuration.
     *
     * @param environment the properties of TaskClock, all of which are checked
     */
    public TaskClockAccountsAutoConfiguration(Environment environment) {
        TaskClockProperties.check(environment);
    }

    @Configuration(proxyBeanMethods = false)
    @ConditionalOnClass({Filter.class, FilterRegistrationBean.class})
    @ConditionalOnWebApplication(type = ConditionalOnWebApplication.Type.SERVLET)
    static class Servlets {
        @Bean
        @ConditionalOnProperty(TaskClockProperties.TENANT_HEADER)
        FilterRegistrationBean<AccountFilter> taskClockTenantFilter(Environment environment) {
            String header = environment.getRequiredProperty(TaskClockProperties.TENANT_HEADER);
            FilterRegistrationBean<AccountFilter> filter =
                    register(AccountFilter.byHeader(header), "taskClockTenantFilter");
            filter.setEnabled(TaskClockProperties.isHeader(header));
            return filter;
        }

        @Bean
        @ConditionalOnProperty(name = TaskClockProperties.ENDPOINT, havingValue = "true")
        FilterRegistrationBean<AccountFilter> taskClockEndpointFilter() {
            return register(AccountFilter.byEndpoint(), "taskClockEndpointFilter");
        }

        private static FilterRegistrationBean<AccountFilter> register(AccountFilter filter, String name) {
            FilterRegistrationBean<AccountFilter> registration = new FilterRegistrationBean<>(filter);
            registration.setName(name);
            registration.setOrder(Ordered.HIGHEST_PRECEDENCE);
            registration.setDispatcherTypes(DispatcherType.REQUEST, DispatcherType.ASYNC, DispatcherType.ERROR);
            return registration;
        }
    }

    @Configuration(proxyBeanMethods = false)
    @ConditionalOnClass(MappedInterceptor.class)
    @ConditionalOnWebApplication(type = ConditionalOnWebApplication.Type.SERVLET)
    @ConditionalOnProperty(name = TaskClockProperties.ENDPOINT, havingValue = "true")
    static class SpringMvc {
        /** All handler mappings, including those of actuator, find it. */
        @Bean
        MappedInterceptor taskClockEndpointInterceptor() {
            return new MappedInterceptor(null, new EndpointInterceptor());
        }
    }

    @Configuration(proxyBeanMethods = false)
    @ConditionalOnClass({ObservationRegistry.class, ScheduledTaskObservationContext.class})
    @ConditionalOnProperty(name = TaskClockProperties.JOB, havingValue = "true")
    static class Jobs {
        /** With actuator, the registry of the application finds it. */
        @Bean
        ObservationAccounts taskClockJobAccounts() {
            return new ObservationAccounts(
                    CpuAccounts.type("job"),
                    context -> context instanceof ScheduledTaskObservationContext task
                            ? task.getTargetClass().getName() + "."
                                    + task.getMethod().getName()
                            : null);
        }

        /** Without actuator, nothing observes jobs, so that a registry of our own does not hide another one. */
        @Bean
        @Order(Ordered.LOWEST_PRECEDENCE)
        SchedulingConfigurer taskClockJobObservations(
                ObservationAccounts taskClockJobAccounts, ObjectProvider<ObservationRegistry> registries) {
            return tasks -> {
                if (tasks.getObservationRegistry() != null) return;
                tasks.setObservationRegistry(registries.getIfAvailable(() -> observing(taskClockJobAccounts)));
            };
        }

        private static ObservationRegistry observing(ObservationAccounts accounts) {
            ObservationRegistry registry = ObservationRegistry.create();
            registry.observationConfig().observationHandler(accounts);
            return registry;
        }
    }
}
