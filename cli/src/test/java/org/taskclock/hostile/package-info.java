// SPDX-License-Identifier: Apache-2.0
// Copyright the TaskClock authors

/**
 * JVMs that try to mislead, block, or exhaust what watches them. {@link org.taskclock.hostile.Scenario} lists what they
 * do, and {@link org.taskclock.hostile.HostileRun} watches all of them at once, beside JVMs with a known load.
 */
package org.taskclock.hostile;
