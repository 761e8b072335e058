// SPDX-License-Identifier: Apache-2.0
// Copyright the TaskClock authors

/**
 * Soaks of the agent in real engines: a program under load runs with the agent while everything that an operator might do
 * is done to it. The programs are in the folder {@code integration}.
 */
package org.taskclock.soak;
