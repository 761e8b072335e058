// SPDX-License-Identifier: Apache-2.0
// Copyright the TaskClock authors
package org.taskclock.monitor.fleet;

import java.time.Duration;
import java.util.List;

/**
 * Which JVMs to read, and how.
 *
 * @param service the rules of {@link ServiceName}
 * @param match part of the command lines of the JVMs to read, ignoring case; null for all
 * @param maxPools for each JVM
 * @param keepEnded how long the counters of a JVM stay after its end
 * @param attach whether to ask JVMs for the names of their threads
 * @param accountsInterval how old the named accounts in {@link JvmFleet#sample} may be, unless the JVM is busy
 * @param kubernetesNode the node of the Kubernetes cluster that this process runs on, whose pods have names; null for
 *     none
 */
public record FleetOptions(
        List<String> service,
        String match,
        int maxPools,
        Duration keepEnded,
        boolean attach,
        Duration accountsInterval,
        String kubernetesNode) {
    /** Outside of a Kubernetes cluster, with accounts in each sample. */
    public FleetOptions(List<String> service, String match, int maxPools, Duration keepEnded, boolean attach) {
        this(service, match, maxPools, keepEnded, attach, Duration.ZERO, null);
    }
}
