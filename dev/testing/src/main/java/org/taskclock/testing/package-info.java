// SPDX-License-Identifier: Apache-2.0
// Copyright the TaskClock authors

/**
 * Test support that several modules share. {@link org.taskclock.testing.LoadJvm} runs
 * {@link org.taskclock.testing.LoadProgram}, a program whose threads have known loads, in a child JVM.
 */
package org.taskclock.testing;
