// SPDX-License-Identifier: Apache-2.0
// Copyright the TaskClock authors

/**
 * Soaks of the agent in real engines: a program under load runs with the agent while the soak does to it everything
 * that an operator might do. The programs are in the directory {@code integration}.
 */
package org.taskclock.soak;
