// SPDX-License-Identifier: Apache-2.0
// Copyright the TaskClock authors

/**
 * The CPU time of all JVMs of a machine by thread pool, for Prometheus and OpenTelemetry.
 * {@link org.taskclock.monitor.fleet.JvmFleet} reads the JVMs; {@link org.taskclock.web.metrics.MetricsEndpoint}
 * answers scrapes, and {@link org.taskclock.web.metrics.OtlpPusher} pushes. {@link org.taskclock.web.metrics.Exporter}
 * is {@code taskclock exporter}.
 */
package org.taskclock.web.metrics;
