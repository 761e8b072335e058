// SPDX-License-Identifier: Apache-2.0
// Copyright the TaskClock authors

/** Benchmarks of TaskClock: JMH classes, programs that measure cost and accuracy, and a soak test of its readings. */
package org.taskclock.benchmarks;
