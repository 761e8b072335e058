// SPDX-License-Identifier: Apache-2.0
// Copyright the TaskClock authors
package org.taskclock.deploy;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.taskclock.metrics.Metric;
import org.taskclock.monitor.fleet.JvmLabels;
import org.yaml.snakeyaml.Yaml;

/** The Prometheus rules, and the names that they and the dashboards may use. */
final class Rules {
    static final Path DIRECTORY = Path.of("prometheus");

    /** The rules, and those of a fleet. */
    static final List<String> NAMES = List.of("taskclock", "taskclock-fleet");

    private Rules() {}

    /** Returns the rules that have a property, such as {@code alert}. */
    static List<Map<String, Object>> with(String property) throws IOException {
        List<Map<String, Object>> found = new ArrayList<>();
        for (String name : NAMES)
            for (Map<String, Object> group : list(yaml(DIRECTORY.resolve(name + ".rules.yml")), "groups"))
                for (Map<String, Object> rule : list(group, "rules")) if (rule.containsKey(property)) found.add(rule);
        return found;
    }

    static Map<String, Object> yaml(Path file) throws IOException {
        return new Yaml().load(Files.readString(file));
    }

    @SuppressWarnings("unchecked")
    static List<Map<String, Object>> list(Map<String, Object> map, String key) {
        return (List<Map<String, Object>>) map.getOrDefault(key, List.of());
    }

    @SuppressWarnings("unchecked")
    static Map<String, String> strings(Map<String, Object> map, String key) {
        return (Map<String, String>) map.get(key);
    }

    /** Returns the labels of each metric that exists: those of TaskClock, and those that the rules record. */
    static Map<String, Set<String>> labels() throws IOException {
        Map<String, Set<String>> labels = new HashMap<>();
        Set<String> all = new HashSet<>();
        for (Metric metric : Metric.values()) {
            labels.put(PrometheusName.of(metric), Set.copyOf(PrometheusName.labels(metric)));
            all.addAll(PrometheusName.labels(metric));
        }
        Set<String> info = new HashSet<>(PrometheusName.IDENTITY);
        info.addAll(JvmLabels.INFO_NAMES);
        labels.put("taskclock_jvm_info", info);
        all.addAll(info);
        for (Map<String, Object> rule : with("record")) labels.put((String) rule.get("record"), all);
        labels.put("up", Set.of("job", "instance"));
        Set<String> alert = new HashSet<>(all);
        alert.addAll(Set.of("alertname", "alertstate"));
        labels.put("ALERTS", alert);
        return labels;
    }

    static Set<String> allLabels() throws IOException {
        Set<String> all = new HashSet<>();
        labels().values().forEach(all::addAll);
        return all;
    }
}
