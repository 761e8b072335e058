// SPDX-License-Identifier: Apache-2.0
// Copyright the TaskClock authors

/**
 * The CPU time of many hosts, from a server with Prometheus' HTTP API. It samples nothing itself. Its queries read only
 * what deploy/prometheus/taskclock-fleet.rules.yml records, and the JVMs of one service, and never a series for each
 * thread. {@link org.taskclock.web.fleet.PrometheusApi} sends queries, and {@link org.taskclock.web.fleet.FleetApi}
 * makes them and what the page shows of the answers.
 *
 * <p>Live threads, stacks, and evidence remain with the {@code taskclock serve} of each host, to which the page links.
 * A proxy would add a copy of each host's API, and a place that may act on all of them. With the same login on all
 * hosts, a link is enough.
 */
package org.taskclock.web.fleet;
