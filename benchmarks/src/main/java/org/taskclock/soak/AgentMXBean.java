// SPDX-License-Identifier: Apache-2.0
// Copyright the TaskClock authors
package org.taskclock.soak;

/** What a soak uses of the agent's bean; docs/agent.md describes it. */
public interface AgentMXBean {
    String NAME = "org.taskclock:type=TaskClock";

    boolean isEnabled();

    void setEnabled(boolean enabled);

    void setThreadTimes(boolean fromClock);

    void setAccountingVirtualThreads(boolean wanted);

    void setYieldMode(String mode);

    void setVirtualYieldMode(String mode);

    Part[] getParts();

    long getMounts();

    int getFailures();

    String getLastFailure();

    long getMemoryBytes();

    /** A feature of the agent. */
    interface Part {
        String getName();

        String getState();

        /** Returns why it is not there; null if it is. */
        String getProblem();
    }
}
