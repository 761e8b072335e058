// SPDX-License-Identifier: Apache-2.0
// Copyright the TaskClock authors

/** Finds problems in what threads and pools use, with the evidence for each. */
package org.taskclock.monitor.finding;
