// SPDX-License-Identifier: Apache-2.0
// Copyright the TaskClock authors
package org.taskclock.monitor.fleet;

import java.net.URLDecoder;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.Locale;
import java.util.function.UnaryOperator;

/**
 * What a program's own configuration of OpenTelemetry says of its service. As in OpenTelemetry's SDK for Java, system
 * properties precede environment variables, and OTEL_SERVICE_NAME precedes the name in OTEL_RESOURCE_ATTRIBUTES.
 * Missing values are empty.
 */
record OtelService(String name, String version) {
    private static final String NAME = "otel.service.name";
    private static final String ATTRIBUTES = "otel.resource.attributes";

    /**
     * Returns the service of a program.
     *
     * @param environment returns the value of a variable of the program's environment; empty if there is none
     */
    static OtelService of(List<String> command, UnaryOperator<String> environment) {
        String name = setting(command, environment, NAME);
        String attributes = setting(command, environment, ATTRIBUTES);
        return new OtelService(
                name.isEmpty() ? attribute(attributes, "service.name") : name,
                attribute(attributes, "service.version"));
    }

    private static String setting(List<String> command, UnaryOperator<String> environment, String property) {
        String option = "-D" + property + "=";
        for (String argument : command) if (argument.startsWith(option)) return argument.substring(option.length());
        return environment.apply(property.toUpperCase(Locale.ROOT).replace('.', '_'));
    }

    /** Returns a value of a list such as a=1,b=2, whose values are percent-encoded. */
    private static String attribute(String attributes, String name) {
        for (String attribute : attributes.split(",", -1)) {
            int equals = attribute.indexOf('=');
            if (equals < 0 || !attribute.substring(0, equals).strip().equals(name)) continue;
            String value = attribute.substring(equals + 1).strip();
            try {
                return URLDecoder.decode(value.replace("+", "%2B"), StandardCharsets.UTF_8);
            } catch (IllegalArgumentException e) {
                return value;
            }
        }
        return "";
    }
}
