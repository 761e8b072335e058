// SPDX-License-Identifier: Apache-2.0
// Copyright the TaskClock authors
package org.taskclock.deploy;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;
import org.yaml.snakeyaml.Yaml;

/** The Helm chart and what is generated from it, checked by Helm, Kustomize, and kubeconform. */
@Tag("slow17")
class ChartTest {
    private static final String HELM = "helm.sh/helm/v3/cmd/helm@v3.22.0";
    private static final String KUBECONFORM = "github.com/yannh/kubeconform/cmd/kubeconform@v0.8.0";
    private static final String KUSTOMIZE = "sigs.k8s.io/kustomize/kustomize/v5@v5.8.1";
    private static final Path KUBERNETES = Path.of("kubernetes");
    private static final String ALL = "mode=serve,podMonitor.enabled=true,webConfig.secret=web,webConfig.tls=true,"
            + "webConfig.authentication=true,serve.hostPath=/var/lib/taskclock,serve.allowActions=true,"
            + "serve.allowedHosts={a,b},serve.externalUrl=https://a/,javaOptions=-Xmx256m,"
            + "appArmorProfile.type=Unconfined,networkPolicy.from=null,image.tag=v2,extraArgs={--evidence},"
            + "extraVolumes[0].name=x,extraVolumeMounts[0].name=x,extraVolumeMounts[0].mountPath=/x";

    @TempDir
    private Path temporary;

    private static Programs.Output helm(String command, String values) throws Exception {
        List<String> arguments = new ArrayList<>();
        arguments.add(Programs.installed("helm", HELM).toString());
        arguments.add(command);
        if (command.equals("template")) arguments.add("release");
        arguments.addAll(List.of("taskclock", "--kube-version", "1.30.0", "--namespace", "watch"));
        if (command.equals("lint")) arguments.add("--strict");
        if (!values.isEmpty()) arguments.addAll(List.of("--set", values));
        return Programs.run(KUBERNETES, arguments.toArray(String[]::new));
    }

    private Programs.Output conform(String manifests) throws Exception {
        Path file = Files.writeString(temporary.resolve("manifests.yaml"), manifests);
        return Programs.run(
                temporary,
                Programs.installed("kubeconform", KUBECONFORM).toString(),
                "-strict",
                "-summary",
                "-schema-location",
                KubernetesSchemas.install(),
                file.toString());
    }

    private static Programs.Output kustomize(Path directory) throws Exception {
        return Programs.run(
                directory, Programs.installed("kustomize", KUSTOMIZE).toString(), "build", ".");
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "",
                "mode=serve",
                "attach=false",
                "kubernetesNames=false,serviceAccount.create=false,priorityClass.create=false,networkPolicy.enabled=false",
                ALL
            })
    void shouldSatisfyHelmAndTheSchemasOfKubernetes(String values) throws Exception {
        helm("lint", values).assertSuccess();
        Programs.Output manifests = helm("template", values);
        manifests.assertSuccess();
        Programs.Output output = conform(manifests.text());
        output.assertSuccess();
        assertThat(output.text()).contains("Invalid: 0, Errors: 0, Skipped: 0").doesNotContain(" 0 resource");
    }

    /** Proves that the schemas are in use. */
    @ParameterizedTest
    @CsvSource(delimiter = '|', textBlock = """
                    readOnlyRootFilesystem: | readOnlyRootFileSystem: | additional properties
                    hostPID: true           | hostPID: yes please     | got string, want boolean
                    podMetricsEndpoints:    | podMetricEndpoints:     | podMetricEndpoints
                    preemptionPolicy:       | preemption:             | preemption
                    policyTypes:            | policyType:             | policyType
                    """)
    void shouldBeRejectedWithWhatKubernetesDoesNotKnow(String right, String wrong, String message) throws Exception {
        String manifests = helm("template", "podMonitor.enabled=true").text();
        assertThat(manifests).contains(right);
        Programs.Output output = conform(manifests.replace(right, wrong));
        assertThat(output.exitCode()).as(output.text()).isEqualTo(1);
        assertThat(output.text()).contains(message).contains("Invalid: 1, Errors: 0, Skipped: 0");
    }

    @ParameterizedTest
    @CsvSource(delimiter = '|', textBlock = """
                    mode=both                                   | mode
                    port=web                                    | port
                    servce.tokenSecret=a                        | servce
                    service={java}                              | service
                    mode=serve,serve.tokenSecret=               | set serve.tokenSecret
                    mode=serve,serve.allowActions=true,attach=false | cannot be combined with attach: false
                    webConfig.authentication=true               | set webConfig.secret
                    """)
    void shouldRejectWrongValues(String values, String message) throws Exception {
        Programs.Output output = helm("template", values);
        assertThat(output.exitCode()).as(output.text()).isNotZero();
        assertThat(output.text()).contains(message);
    }

    @Test
    void shouldBeWhatTheFilesForKustomizeAreGeneratedFrom() throws Exception {
        Programs.run(
                        KUBERNETES,
                        "env",
                        "HELM=" + Programs.installed("helm", HELM),
                        "./generate.sh",
                        temporary.toString())
                .assertSuccess();
        for (String file : List.of("base/taskclock.yaml", "podmonitor/podmonitor.yaml"))
            assertThat(KUBERNETES.resolve(file))
                    .as("write it with: deploy/kubernetes/generate.sh")
                    .hasSameTextualContentAs(temporary.resolve(file));
    }

    @Test
    void shouldHaveABaseThatKustomizeBuilds() throws Exception {
        Path copy = Files.createDirectories(temporary.resolve("overlay"));
        Files.writeString(copy.resolve("kustomization.yaml"), """
                        resources: [../base]
                        components: [../podmonitor]
                        images: [{name: taskclock, newName: registry.example.com/taskclock, newTag: "2"}]
                        """);
        Programs.run(KUBERNETES, "cp", "-r", "base", "podmonitor", temporary.toString())
                .assertSuccess();
        Programs.Output built = kustomize(copy);
        built.assertSuccess();
        assertThat(built.text()).contains("image: registry.example.com/taskclock:2");
        Programs.Output output = conform(built.text());
        output.assertSuccess();
        assertThat(output.text()).contains("8 resources", "Valid: 8, Invalid: 0");
    }

    @Test
    void shouldGiveTheAgentToAProgramWithoutChangingItsImage() throws Exception {
        Programs.Output output = conform(Files.readString(KUBERNETES.resolve("agent/deployment.yaml")));
        output.assertSuccess();
        assertThat(output.text()).contains("1 resource", "Valid: 1, Invalid: 0");
    }

    /** Returns the pod of the DaemonSet. */
    private static Map<?, ?> pod(String values) throws Exception {
        for (Object manifest : new Yaml().loadAll(helm("template", values).text()))
            if (at(manifest, "kind").equals("DaemonSet")) return (Map<?, ?>) at(manifest, "spec", "template", "spec");
        throw new AssertionError("no DaemonSet");
    }

    /** Returns the value at a path of keys and, in lists, indexes. */
    private static Object at(Object from, Object... path) {
        Object value = from;
        for (Object key : path)
            value = key instanceof Integer i ? ((List<?>) value).get(i) : ((Map<?, ?>) value).get(key);
        return value;
    }

    @Test
    void shouldLeaveNoPrivilegesButThoseThatAreNeeded() throws Exception {
        for (String mode : List.of("mode=exporter", "mode=serve")) {
            Map<?, ?> pod = pod(mode);
            Object container = at(pod, "containers", 0, "securityContext");
            assertThat(at(pod, "securityContext", "seccompProfile", "type")).isEqualTo("RuntimeDefault");
            assertThat(at(pod, "hostPID")).isEqualTo(true);
            assertThat(pod.get("hostNetwork")).isNull();
            assertThat(at(container, "readOnlyRootFilesystem")).isEqualTo(true);
            assertThat(at(container, "allowPrivilegeEscalation")).isEqualTo(false);
            assertThat(at(container, "capabilities"))
                    .isEqualTo(Map.of("drop", List.of("ALL"), "add", List.of("SYS_PTRACE", "DAC_OVERRIDE", "KILL")));
            assertThat(at(pod, "containers", 0, "resources", "limits")).isInstanceOf(Map.class);

            pod = pod(mode + ",attach=false");
            assertThat(at(pod, "securityContext", "runAsNonRoot")).isEqualTo(true);
            assertThat(at(pod, "containers", 0, "securityContext", "capabilities"))
                    .isEqualTo(Map.of("drop", List.of("ALL")));
            assertThat(at(pod, "containers", 0, "args").toString()).contains("--no-attach");
        }
    }

    @Test
    void shouldMountTheTokenOfTheServiceAccountOnlyForNames() throws Exception {
        assertThat(at(pod("mode=exporter"), "automountServiceAccountToken")).isEqualTo(true);
        Map<?, ?> pod = pod("kubernetesNames=false");
        assertThat(at(pod, "automountServiceAccountToken")).isEqualTo(false);
        assertThat(at(pod, "containers", 0, "args").toString()).doesNotContain("kubernetes");
        assertThat(helm("template", "kubernetesNames=false").text()).doesNotContain("ClusterRole", "port: 6443");
    }

    @Test
    void shouldProbeWhatAnswersWithoutAPassword() throws Exception {
        Map<String, Object> http = new HashMap<>(Map.of("path", "/-/ready", "port", "http"));
        assertThat(at(pod("mode=exporter"), "containers", 0, "readinessProbe", "httpGet"))
                .isEqualTo(http);
        http.put("path", "/-/healthy");
        assertThat(at(pod("mode=serve"), "containers", 0, "readinessProbe", "httpGet"))
                .isEqualTo(http);
        http.put("scheme", "HTTPS");
        assertThat(at(
                        pod("mode=serve,webConfig.secret=a,webConfig.tls=true"),
                        "containers",
                        0,
                        "livenessProbe",
                        "httpGet"))
                .isEqualTo(http);
        assertThat(at(pod(ALL), "containers", 0, "readinessProbe", "tcpSocket")).isEqualTo(Map.of("port", "http"));
    }

    /** A value that is not described would be rejected, and one without a default would be hard to find. */
    @Test
    void shouldDescribeTheValuesThatItHas() throws IOException {
        Map<?, ?> described =
                (Map<?, ?>) at(Rules.yaml(KUBERNETES.resolve("taskclock/values.schema.json")), "properties");
        Map<String, Object> values = Rules.yaml(KUBERNETES.resolve("taskclock/values.yaml"));
        for (Object name : described.keySet())
            if (!name.equals("global")) assertThat(values).containsKey((String) name);
    }
}
