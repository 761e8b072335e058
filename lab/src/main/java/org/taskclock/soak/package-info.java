// SPDX-License-Identifier: Apache-2.0
// Copyright the TaskClock authors

/**
 * Soak tests of the agent in real engines: while a program runs under load with the agent, the soak test performs every
 * action that an operator might. The programs are in {@code dev/integration}.
 */
package org.taskclock.soak;
