// SPDX-License-Identifier: Apache-2.0
// Copyright the TaskClock authors

/** The CPU time of a JVM by thread pool, for OpenTelemetry. */
// OpenTelemetry's modules are automatic, with names that their manifests fix.
@SuppressWarnings({"requires-automatic", "requires-transitive-automatic"})
module org.taskclock.opentelemetry {
    requires transitive io.opentelemetry.api;
    requires transitive io.opentelemetry.context;
    requires transitive org.taskclock.bindings;
    requires transitive org.taskclock.metrics;
    requires java.logging;
    // Only for histograms and spans.
    requires static transitive io.opentelemetry.sdk.common;
    requires static transitive io.opentelemetry.sdk.metrics;
    requires static transitive io.opentelemetry.sdk.trace;
    // Only for the extension of OpenTelemetry's agent, which loads it from the class path.
    requires static io.opentelemetry.javaagent_extension_api;
    requires static io.opentelemetry.sdk;
    requires static io.opentelemetry.sdk.autoconfigure;
    requires static transitive io.opentelemetry.sdk.autoconfigure.spi;

    exports org.taskclock.opentelemetry;
}
