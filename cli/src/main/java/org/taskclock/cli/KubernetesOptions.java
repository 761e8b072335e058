// SPDX-License-Identifier: Apache-2.0
// Copyright the TaskClock authors
package org.taskclock.cli;

import picocli.CommandLine.Option;

/** The options of a command that runs in a pod. */
final class KubernetesOptions {
    @Option(
            names = "--kubernetes-node",
            paramLabel = "NAME",
            description = "In a pod: name of its node, to show the names of pods, containers, and workloads. The"
                    + " service account must be allowed to list pods.")
    String node;
}
