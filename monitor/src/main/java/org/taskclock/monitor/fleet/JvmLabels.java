// SPDX-License-Identifier: Apache-2.0
// Copyright the TaskClock authors
package org.taskclock.monitor.fleet;

import java.util.ArrayList;
import java.util.List;

/**
 * The labels of a JVM in the metrics. Missing values are empty.
 *
 * @param serviceVersion of the program, from its configuration of OpenTelemetry
 * @param jdkVersion such as 17.0.12
 */
public record JvmLabels(
        long pid, String service, String serviceVersion, String jdkVersion, String containerId, String podUid) {
    /** The labels of all series of a JVM. */
    public static final List<String> NAMES = List.of("jvm", "service");

    /** The labels of the one series that has everything else that is known of a JVM. */
    public static final List<String> INFO_NAMES =
            List.of("jvm", "service", "pid", "service_version", "jdk_version", "container_id", "pod_uid");

    /** Returns what identifies the JVM on its machine, and a person can read in a dashboard. */
    public String jvm() {
        return service + "-" + pid;
    }

    /** Returns the values in the order of {@link #NAMES}. */
    public List<String> values() {
        return List.of(jvm(), service);
    }

    /** Returns the values in the order of {@link #INFO_NAMES}. */
    public List<String> infoValues() {
        List<String> values = new ArrayList<>(values());
        values.addAll(List.of(Long.toString(pid), serviceVersion, jdkVersion, containerId, podUid));
        return values;
    }
}
