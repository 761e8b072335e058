// SPDX-License-Identifier: Apache-2.0
// Copyright the TaskClock authors
/**
 * The exporter: the CPU time of all JVMs of a machine by thread pool, for Prometheus and OpenTelemetry.
 * {@link org.taskclock.monitor.fleet.JvmFleet} reads the JVMs; {@link org.taskclock.web.metrics.WebServer} serves the
 * metrics, and {@link org.taskclock.web.metrics.OtlpPusher} pushes them.
 */
package org.taskclock.web.metrics;
