// SPDX-License-Identifier: Apache-2.0
// Copyright the TaskClock authors
package org.taskclock.micrometer;

import java.util.Map;
import java.util.Set;
import java.util.regex.Pattern;
import org.apache.commons.logging.Log;
import org.apache.commons.logging.LogFactory;
import org.springframework.boot.context.properties.bind.Bindable;
import org.springframework.boot.context.properties.bind.Binder;
import org.springframework.core.env.Environment;

/**
 * The properties of {@link TaskClockAccountsAutoConfiguration}. They are not bound to a class, because a wrong value
 * would then stop the application.
 */
final class AccountProperties {
    private static final String PREFIX = "taskclock.accounts";
    static final String TENANT_HEADER = PREFIX + ".tenant.header";
    static final String ENDPOINT = PREFIX + ".endpoint";
    static final String JOB = PREFIX + ".job";

    private static final Set<String> NAMES = Set.of(TENANT_HEADER, ENDPOINT, JOB);

    /** A token of HTTP, see RFC 9110, 5.6.2. */
    private static final Pattern HEADER = Pattern.compile("[!#$%&'*+.^_`|~0-9A-Za-z-]+");

    private static final Log LOG = LogFactory.getLog(TaskClockAccountsAutoConfiguration.class);

    private AccountProperties() {}

    static boolean isHeader(String value) {
        return HEADER.matcher(value).matches();
    }

    /** Warns of properties that have no effect. */
    static void check(Environment environment) {
        try {
            Binder.get(environment)
                    .bind(PREFIX, Bindable.mapOf(String.class, String.class))
                    .ifBound(AccountProperties::check);
        } catch (RuntimeException e) {
            LOG.warn("TaskClock cannot read the properties " + PREFIX, e);
        }
    }

    private static void check(Map<String, String> properties) {
        properties.forEach((suffix, value) -> {
            String name = PREFIX + "." + suffix;
            if (!NAMES.contains(name)) warn(name, value, "there is no such property");
            else if (name.equals(TENANT_HEADER)) {
                if (!isHeader(value)) warn(name, value, "the value is not the name of an HTTP header");
            } else if (!value.equalsIgnoreCase("true") && !value.equalsIgnoreCase("false"))
                warn(name, value, "the value is neither true nor false");
        });
    }

    private static void warn(String name, String value, String reason) {
        LOG.warn("TaskClock ignores the property " + name + "=" + value + ": " + reason);
    }
}
