// SPDX-License-Identifier: Apache-2.0
// Copyright the TaskClock authors

/**
 * The JVMs of a machine: finds them, and samples the thread pools of all of them with
 * {@link org.taskclock.monitor.fleet.PoolSamplers}, or one of them in detail with
 * {@link org.taskclock.monitor.fleet.LiveJvm}.
 */
package org.taskclock.monitor.fleet;
