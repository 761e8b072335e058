// SPDX-License-Identifier: Apache-2.0
// Copyright the TaskClock authors

/** The CPU time of a JVM by thread pool, for Micrometer and Spring Boot. */
// Micrometer and Spring are automatic modules whose names their manifests fix.
@SuppressWarnings({"requires-automatic", "requires-transitive-automatic"})
module org.taskclock.micrometer {
    requires transitive micrometer.core;
    requires transitive micrometer.commons;
    requires transitive micrometer.observation;
    requires transitive org.taskclock.bindings;
    requires transitive org.taskclock.metrics;
    requires jdk.management;
    // Only for the auto-configurations, which are ignored without Spring Boot.
    requires static jakarta.servlet;
    requires static spring.beans;
    requires static spring.boot;
    requires static spring.boot.actuator;
    requires static spring.boot.actuator.autoconfigure;
    requires static spring.boot.autoconfigure;
    requires static spring.context;
    requires static spring.core;
    requires static spring.jcl;
    requires static spring.web;
    requires static spring.webmvc;

    exports org.taskclock.micrometer;

    // Spring Boot creates the auto-configurations and their properties by reflection.
    opens org.taskclock.micrometer;
}
