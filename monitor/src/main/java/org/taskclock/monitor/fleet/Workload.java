// SPDX-License-Identifier: Apache-2.0
// Copyright the TaskClock authors
package org.taskclock.monitor.fleet;

import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.taskclock.monitor.proc.TargetText;

/**
 * The names that Kubernetes has for where a JVM runs.
 *
 * @param attributes the names as resource attributes of OpenTelemetry's semantic conventions, such as
 *     {@code k8s.pod.name}; those that do not apply are missing
 */
public record Workload(Map<String, String> attributes) {
    /** A JVM that is not in a pod, or in one whose names are not known. */
    public static final Workload UNKNOWN = new Workload(Map.of());

    private static final String PREFIX = "k8s.";
    private static final String NAME = ".name";

    /** The kinds of objects that own pods, most general first. */
    private static final List<String> KINDS =
            List.of("deployment", "statefulset", "daemonset", "cronjob", "job", "replicaset");

    /** A CronJob appends the minute for which it creates a job. */
    private static final Pattern OF_CRONJOB = Pattern.compile("(.+)-\\d{8,11}");

    /** The names of a container; an empty one is not known. */
    static Workload of(PodList.Pod pod, String container, String node) {
        PodList.Metadata metadata = pod.metadata();
        TreeMap<String, String> names = new TreeMap<>();
        put(names, "namespace", metadata.namespace());
        put(names, "pod", metadata.name());
        put(names, "container", container);
        put(names, "node", node);
        for (PodList.Owner owner : PodList.orEmpty(metadata.ownerReferences())) {
            if (!Boolean.TRUE.equals(owner.controller()) || owner.kind() == null || owner.name() == null) continue;
            switch (owner.kind()) {
                case "ReplicaSet" -> putReplicaSet(names, owner.name(), metadata.label("pod-template-hash"));
                case "Job" -> {
                    Matcher cron = OF_CRONJOB.matcher(owner.name());
                    if (cron.matches()) put(names, "cronjob", cron.group(1));
                    put(names, "job", owner.name());
                }
                case "StatefulSet" -> put(names, "statefulset", owner.name());
                case "DaemonSet" -> put(names, "daemonset", owner.name());
                default -> {
                    // Nodes own static pods, and operators may use kinds of their own.
                }
            }
        }
        return new Workload(names);
    }

    /** A Deployment appends the hash of its pods' template, which is also a label of them. */
    private static void putReplicaSet(Map<String, String> names, String replicaSet, String hash) {
        if (!hash.isEmpty() && replicaSet.endsWith("-" + hash))
            put(names, "deployment", replicaSet.substring(0, replicaSet.length() - hash.length() - 1));
        put(names, "replicaset", replicaSet);
    }

    private static void put(Map<String, String> names, String object, String name) {
        if (name != null && !name.isEmpty()) names.put(PREFIX + object + NAME, TargetText.sanitize(name));
    }

    /** Returns the name of the namespace, pod, container, or node; null if it is unknown. */
    public String nameOf(String object) {
        return attributes.get(PREFIX + object + NAME);
    }

    /** Returns the kind and name of what owns the pod, such as {@code deployment/orders}; null if unknown. */
    public String owner() {
        for (String kind : KINDS) if (nameOf(kind) != null) return kind + "/" + nameOf(kind);
        return null;
    }
}
