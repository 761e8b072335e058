// SPDX-License-Identifier: Apache-2.0
// Copyright the TaskClock authors

/**
 * The options of the lab's commands. They are in a module of their own, so that the command line can list them without
 * the lab.
 */
package org.taskclock.lab.options;
