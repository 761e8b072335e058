// SPDX-License-Identifier: Apache-2.0
// Copyright the TaskClock authors
package org.taskclock.monitor.fleet;

import java.util.List;

/** The labels that identify a JVM in the metrics. Missing values are empty. */
public record JvmLabels(long pid, String service, String containerId, String podUid) {
    public static final List<String> NAMES = List.of("pid", "service", "container_id", "pod_uid");

    /** Returns the values in the order of {@link #NAMES}. */
    public List<String> values() {
        return List.of(Long.toString(pid), service, containerId, podUid);
    }
}
