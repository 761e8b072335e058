// SPDX-License-Identifier: Apache-2.0
// Copyright the TaskClock authors
package org.taskclock.micrometer;

import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.function.Predicate;
import java.util.regex.Pattern;
import org.apache.commons.logging.Log;
import org.apache.commons.logging.LogFactory;
import org.springframework.boot.context.properties.bind.Bindable;
import org.springframework.boot.context.properties.bind.Binder;
import org.springframework.core.env.Environment;
import org.taskclock.metrics.PoolCounters;

/**
 * The properties of the auto-configurations. They are not bound to a class, because a wrong value would then stop the
 * application.
 */
final class TaskClockProperties {
    static final String ENABLED = "taskclock.metrics.enabled";
    static final String MAX_POOLS = "taskclock.metrics.max-pools";
    static final String TENANT_HEADER = "taskclock.accounts.tenant.header";
    static final String ENDPOINT = "taskclock.accounts.endpoint";
    static final String JOB = "taskclock.accounts.job";

    /** A token of HTTP, see RFC 9110, 5.6.2. */
    private static final Pattern HEADER = Pattern.compile("[!#$%&'*+.^_`|~0-9A-Za-z-]+");

    private static final Log LOG = LogFactory.getLog(TaskClockProperties.class);

    private record Rule(Predicate<String> isValid, String problem) {}

    private static final Rule SWITCH = new Rule(
            value -> value.equalsIgnoreCase("true") || value.equalsIgnoreCase("false"),
            "the value is neither true nor false");

    private static final Map<String, Rule> RULES = new TreeMap<>(Map.of(
            ENABLED, SWITCH,
            MAX_POOLS,
                    new Rule(
                            TaskClockProperties::isMaxPools,
                            "the value is not a number of at least " + PoolCounters.MIN_POOLS),
            TENANT_HEADER, new Rule(TaskClockProperties::isHeader, "the value is not the name of an HTTP header"),
            ENDPOINT, SWITCH,
            JOB, SWITCH));

    private TaskClockProperties() {}

    static boolean isHeader(String value) {
        return HEADER.matcher(value).matches();
    }

    private static boolean isMaxPools(String value) {
        try {
            return Integer.parseInt(value) >= PoolCounters.MIN_POOLS;
        } catch (NumberFormatException e) {
            return false;
        }
    }

    static int maxPools(Environment environment) {
        String value = environment.getProperty(MAX_POOLS);
        return value != null && isMaxPools(value) ? Integer.parseInt(value) : PoolCounters.DEFAULT_MAX_POOLS;
    }

    /** Warns of properties that have no effect. */
    static void check(Environment environment) {
        for (String prefix : List.of("taskclock.metrics", "taskclock.accounts")) {
            try {
                Binder.get(environment)
                        .bind(prefix, Bindable.mapOf(String.class, String.class))
                        .ifBound(properties -> check(prefix, properties));
            } catch (RuntimeException e) {
                LOG.warn("TaskClock cannot read the properties " + prefix, e);
            }
        }
    }

    private static void check(String prefix, Map<String, String> properties) {
        properties.forEach((suffix, value) -> {
            String name = prefix + "." + suffix;
            Rule rule = RULES.get(name);
            if (rule == null) warn(name, value, "there is no such property");
            else if (!rule.isValid.test(value)) warn(name, value, rule.problem);
        });
    }

    private static void warn(String name, String value, String reason) {
        LOG.warn("TaskClock ignores the property " + name + "=" + value + ": " + reason);
    }
}
