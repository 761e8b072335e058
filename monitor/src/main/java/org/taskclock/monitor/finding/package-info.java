// SPDX-License-Identifier: Apache-2.0
// Copyright the TaskClock authors

/**
 * Finds problems in what threads and pools use, with the evidence for each. An {@link Observation} is what is known
 * about a JVM in an interval, from threads and their stacks, or from pools. Each {@link FindingKind} of the registry
 * looks at it and returns its {@link Finding}s.
 */
package org.taskclock.monitor.finding;
