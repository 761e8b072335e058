// SPDX-License-Identifier: Apache-2.0
// Copyright the TaskClock authors
package org.taskclock.soak;

/** The part of the agent's bean that soak tests use. docs/agent.md describes the bean. */
public interface AgentMXBean {
    String NAME = "org.taskclock:type=TaskClock";

    boolean isEnabled();

    void setEnabled(boolean enabled);

    void setThreadMXBeanReplaced(boolean fromClock);

    void setVirtualThreadAccounting(boolean enabled);

    void setYieldMode(String mode);

    void setVirtualYieldMode(String mode);

    Feature[] getFeatures();

    long getMounts();

    int getFailures();

    String getLastFailure();

    long getMemoryBytes();

    interface Feature {
        String getName();

        String getState();

        /** Returns why the feature is not installed, or null if it is. */
        String getProblem();
    }
}
