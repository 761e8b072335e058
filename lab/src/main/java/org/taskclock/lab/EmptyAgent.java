// SPDX-License-Identifier: Apache-2.0
// Copyright the TaskClock authors
package org.taskclock.lab;

/**
 * An agent that does nothing, for comparison with ours: with any agent, the JVM does more work at each mount of a
 * virtual thread. The manifest of the lab's jar names this class.
 */
public final class EmptyAgent {
    private EmptyAgent() {}

    /** Does nothing. Called by the JVM. */
    public static void premain(String options) {}
}
