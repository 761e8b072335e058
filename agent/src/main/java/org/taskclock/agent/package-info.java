// SPDX-License-Identifier: Apache-2.0
// Copyright the TaskClock authors

/**
 * The agent. Without changes to the program, it makes ThreadMXBean read from the clock, accounts for virtual threads,
 * and counts or suppresses {@code Thread.yield}.
 *
 * <p>The JVM calls {@link org.taskclock.agent.Agent}. Everything else is loaded by
 * {@link org.taskclock.agent.AgentLoader}, so it is invisible to the program, and
 * {@link org.taskclock.agent.AgentController} installs the features. The code that has to be in {@code java.lang} and
 * {@code javax.management} is in {@code src/main/hooks}; {@code Hooks} defines it.
 */
package org.taskclock.agent;
