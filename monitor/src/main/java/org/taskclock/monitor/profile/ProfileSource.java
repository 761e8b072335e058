// SPDX-License-Identifier: Apache-2.0
// Copyright the TaskClock authors
package org.taskclock.monitor.profile;

/** The ways to sample stacks, best first. */
public enum ProfileSource {
    /** The first one below that works. */
    AUTO("auto"),
    ASYNC_PROFILER("async-profiler"),
    JFR("jfr"),
    /** Repeated thread dumps. */
    STACKS("stacks");

    private final String label;

    ProfileSource(String label) {
        this.label = label;
    }

    @Override
    public String toString() {
        return label;
    }
}
