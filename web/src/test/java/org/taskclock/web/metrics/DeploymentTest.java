// SPDX-License-Identifier: Apache-2.0
// Copyright the TaskClock authors
package org.taskclock.web.metrics;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.yaml.snakeyaml.LoaderOptions;
import org.yaml.snakeyaml.Yaml;
import org.yaml.snakeyaml.constructor.SafeConstructor;

/** The files in deploy/. */
class DeploymentTest {
    private static final Path DEPLOY = Path.of("..", "deploy");
    private static final String EXIT = "-XX:+ExitOnOutOfMemoryError";

    @TempDir
    private Path directory;

    /** Errors that end the exporter are failures, and so is an exit because of a full heap (3). */
    @Test
    void shouldRestartAfterErrors() throws IOException {
        assertThat(Files.readString(DEPLOY.resolve("systemd/taskclock-exporter.service")))
                .contains(EXIT, "\nRestart=on-failure\n", "\nRestartPreventExitStatus=2\n");
    }

    @Test
    void shouldHaveAValidSystemdUnit() throws IOException, InterruptedException {
        Path tool = Path.of("/usr/bin/systemd-analyze");
        assumeTrue(Files.isExecutable(tool), "NOT RUN: systemd-analyze is not installed");
        // Only the paths depend on the machine.
        String unit = Files.readString(DEPLOY.resolve("systemd/taskclock-exporter.service"));
        Path copy = Files.writeString(
                directory.resolve("taskclock-exporter.service"), unit.replace("/usr/bin/java", "/bin/true"));
        Process check = new ProcessBuilder(tool.toString(), "verify", "--man=no", copy.toString())
                .redirectErrorStream(true)
                .start();
        String output = new String(check.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
        assertThat(check.waitFor()).as(output).isZero();
        assertThat(output.lines().filter(line -> line.contains("taskclock-exporter.service")))
                .isEmpty();
    }

    private static List<Map<?, ?>> documents(String file) throws IOException {
        List<Map<?, ?>> documents = new ArrayList<>();
        String text = Files.readString(DEPLOY.resolve("kubernetes").resolve(file));
        for (Object document : new Yaml(new SafeConstructor(new LoaderOptions())).loadAll(text))
            documents.add((Map<?, ?>) document);
        return documents;
    }

    /** Returns the value at a path of keys and, in lists, indexes. */
    private static Object at(Object from, Object... path) {
        Object value = from;
        for (Object key : path)
            value = key instanceof Integer i ? ((List<?>) value).get(i) : ((Map<?, ?>) value).get(key);
        return value;
    }

    @Test
    void shouldHaveConsistentKubernetesResources() throws IOException {
        Map<Object, Map<?, ?>> byKind = new HashMap<>();
        for (Map<?, ?> document : documents("daemonset.yaml")) byKind.put(document.get("kind"), document);
        assertThat(byKind).containsOnlyKeys("Namespace", "ServiceAccount", "DaemonSet", "Service");
        Map<?, ?> daemonSet = byKind.get("DaemonSet");
        Object labels = at(daemonSet, "spec", "template", "metadata", "labels");
        Object pod = at(daemonSet, "spec", "template", "spec");
        Object container = at(pod, "containers", 0);
        assertThat(at(daemonSet, "spec", "selector", "matchLabels")).isEqualTo(labels);
        assertThat(at(pod, "hostPID")).isEqualTo(true);
        assertThat(at(pod, "serviceAccountName")).isEqualTo(at(byKind.get("ServiceAccount"), "metadata", "name"));
        assertThat(at(container, "command").toString()).contains(EXIT);
        assertThat(at(container, "volumeMounts").toString())
                .contains("{name=cgroup, mountPath=/host/sys/fs/cgroup, readOnly=true}");
        assertThat(at(pod, "volumes").toString()).contains("{name=cgroup, hostPath={path=/sys/fs/cgroup,");
        assertThat(at(container, "args").toString()).contains("--web.listen-address=:10077");
        assertThat(at(container, "ports", 0, "containerPort")).isEqualTo(10077);
        assertThat(at(container, "livenessProbe", "httpGet", "path")).isEqualTo("/-/healthy");
        assertThat(at(container, "readinessProbe", "httpGet", "path")).isEqualTo("/-/ready");

        Map<?, ?> service = byKind.get("Service");
        assertThat(at(service, "spec", "selector")).isEqualTo(labels);
        assertThat(at(service, "spec", "ports", 0, "targetPort")).isEqualTo(at(container, "ports", 0, "name"));

        Map<?, ?> monitor = documents("servicemonitor.yaml").get(0);
        assertThat(at(monitor, "apiVersion")).isEqualTo("monitoring.coreos.com/v1");
        assertThat(at(monitor, "spec", "selector", "matchLabels")).isEqualTo(at(service, "metadata", "labels"));
        assertThat(at(monitor, "spec", "endpoints", 0, "port")).isEqualTo(at(service, "spec", "ports", 0, "name"));
        assertThat(at(monitor, "metadata", "namespace")).isEqualTo(at(service, "metadata", "namespace"));
    }
}
