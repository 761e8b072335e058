// SPDX-License-Identifier: Apache-2.0
// Copyright the TaskClock authors
package org.taskclock.agent;

import org.taskclock.PoolName;

/** The names under which the agent adds up threads. */
final class GroupNames {
    /** Stands for all for which there is no room. */
    static final String OTHER = "(other)";

    private GroupNames() {}

    /** Returns the name for a virtual thread. Most have none of their own. */
    static String ofVirtual(Thread thread) {
        String name = thread.getName();
        return name.isEmpty() ? "(unnamed)" : PoolName.of(name);
    }
}
