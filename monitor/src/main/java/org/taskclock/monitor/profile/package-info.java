// SPDX-License-Identifier: Apache-2.0
// Copyright the TaskClock authors

/** Samples the stacks of threads with async-profiler, JFR, or thread dumps. */
package org.taskclock.monitor.profile;
