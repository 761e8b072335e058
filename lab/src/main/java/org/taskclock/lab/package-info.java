// SPDX-License-Identifier: Apache-2.0
// Copyright the TaskClock authors

/**
 * The commands {@code bench} and {@code experiment}, which repeat published measurements and check published claims.
 */
package org.taskclock.lab;
