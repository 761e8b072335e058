// SPDX-License-Identifier: Apache-2.0
// Copyright the TaskClock authors
package org.taskclock.monitor.fleet;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.InputStream;
import java.net.URI;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.Queue;
import java.util.concurrent.Callable;
import java.util.concurrent.ConcurrentLinkedQueue;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** Names of pods from an API server over TLS, whose answer has the form of a real one. */
@Timeout(60)
class PodNamesTest {
    private static final String ORDERS = "0b1f2c3d-1111-4222-8333-444455556666";
    private static final long PAUSE_MILLIS = 5;

    private final Queue<String> log = new ConcurrentLinkedQueue<>();
    private ApiServer server;

    @BeforeEach
    void start(@TempDir Path directory) throws Exception {
        server = new ApiServer(directory);
        try (InputStream in = PodNamesTest.class.getResourceAsStream("pods.json")) {
            server.pods = new String(in.readAllBytes(), StandardCharsets.UTF_8);
        }
    }

    @AfterEach
    void stop() {
        server.close();
    }

    private PodNames names() {
        return new PodNames(server.api(), log::add, PAUSE_MILLIS);
    }

    private static String id(int digit) {
        return Integer.toString(digit).repeat(64);
    }

    /** Asks until the answer is not null, as serve does once a second. */
    private static <T> T await(Callable<T> answer) throws Exception {
        for (T found = answer.call(); ; found = answer.call()) {
            if (found != null) return found;
            Thread.sleep(PAUSE_MILLIS);
        }
    }

    private static Workload await(PodNames names, String container, String pod) throws Exception {
        return await(() -> {
            Workload found = names.of(container, pod);
            return found.equals(Workload.UNKNOWN) ? null : found;
        });
    }

    @Test
    void shouldKnowPodContainerAndWorkload() throws Exception {
        try (PodNames names = names()) {
            assertThat(names.of(id(2), ORDERS)).as("does not wait").isEqualTo(Workload.UNKNOWN);
            Workload orders = await(names, id(2), ORDERS);
            assertThat(orders.attributes())
                    .isEqualTo(Map.of(
                            "k8s.namespace.name", "shop",
                            "k8s.pod.name", "orders-7d9f8c6b5d-x2x7k",
                            "k8s.container.name", "app",
                            "k8s.replicaset.name", "orders-7d9f8c6b5d",
                            "k8s.deployment.name", "orders",
                            "k8s.node.name", "node-1"));
            assertThat(orders.owner()).isEqualTo("deployment/orders");
            assertThat(names.of(id(1), ORDERS).nameOf("container")).isEqualTo("taskclock");
            assertThat(names.of(id(3), "0b1f2c3d-1111-4222-8333-444455557777").owner())
                    .isEqualTo("statefulset/ledger");
            Workload report = names.of(id(4), "0b1f2c3d-1111-4222-8333-444455558888");
            assertThat(report.owner()).isEqualTo("cronjob/report");
            assertThat(report.nameOf("job")).isEqualTo("report-29384400");
            Workload gateway = names.of("", "5".repeat(32));
            assertThat(gateway.nameOf("pod")).as("static pod").isEqualTo("gateway-node-1");
            assertThat(gateway.owner()).as("owned by the node").isNull();
            assertThat(server.queries).containsExactly("resourceVersion=0&fieldSelector=spec.nodeName=node-1");
            assertThat(log).isEmpty();
        }
    }

    @Test
    void shouldShowThePodUntilItsContainerIsInTheList() throws Exception {
        String all = server.pods;
        server.pods = all.replace("containerd://" + id(2), "");
        try (PodNames names = names()) {
            Workload orders = await(names, id(2), ORDERS);
            assertThat(orders.nameOf("pod")).isEqualTo("orders-7d9f8c6b5d-x2x7k");
            assertThat(orders.nameOf("container")).isNull();
            server.pods = all;
            await(() -> names.of(id(2), ORDERS).nameOf("container"));
        }
    }

    @Test
    void shouldNotAskForJvmsOutsideOfPodsNorForeverForUnknownOnes() throws Exception {
        try (PodNames names = names()) {
            assertThat(names.of(id(7), "")).isEqualTo(Workload.UNKNOWN);
            // Would be in the list of the first request.
            await(names, id(2), ORDERS);
            int before = server.queries.size();
            assertThat(before).isEqualTo(1);
            for (int i = 0; i < 100; i++) {
                assertThat(names.of(id(8), "another pod")).isEqualTo(Workload.UNKNOWN);
                Thread.sleep(2 * PAUSE_MILLIS);
            }
            assertThat(server.queries).hasSizeBetween(before + 2, before + 6);
        }
    }

    @Test
    void shouldSayOnceWhyNamesAreMissingAndRecover() throws Exception {
        server.status = 403;
        try (PodNames names = names()) {
            await(() -> {
                names.of(id(2), ORDERS);
                return server.queries.size() < 3 ? null : true;
            });
            assertThat(log)
                    .containsExactly(
                            "Kubernetes: the names of pods cannot be read, so JVMs are shown with the ids: 403:"
                                    + " the service account must be allowed to list pods (ClusterRole)");
            server.status = 200;
            await(names, id(2), ORDERS);
            await(() -> log.size() < 2 ? null : true);
            assertThat(log).element(1).isEqualTo("Kubernetes: the names of pods can be read again");
        }
    }

    @Test
    void shouldReadTheTokenThatTheKubeletHasReplaced() throws Exception {
        server.expire("token-2");
        try (PodNames names = names()) {
            await(() -> {
                names.of(id(2), ORDERS);
                return log.peek();
            });
            assertThat(log.peek()).endsWith("401: the token of the service account is not valid (expired?)");
            Files.writeString(server.account.resolve("token"), "token-2");
            await(names, id(2), ORDERS);
        }
    }

    @Test
    void shouldSayInOneLineWhatIsWrong() throws Exception {
        KubernetesApi api = server.api();
        String all = server.pods;
        for (String bad :
                List.of("", "[]", "{\"items\": 3}", "{\"items\": [{\"metadata\": [}", all.substring(0, 900))) {
            server.pods = bad;
            assertThatThrownBy(api::names).as(bad).isInstanceOf(java.io.IOException.class);
        }
        server.pods = "{\"items\": null}";
        assertThatThrownBy(api::names).hasMessage("the answer is not a list of pods");
        server.pods = "{\"items\": [null, {}, {\"metadata\": {}}, {\"metadata\": {\"uid\": \"u\"}, \"status\": null}]}";
        assertThat(api.names().get("u").nameOf("node")).isEqualTo("node-1");

        URI closed = URI.create("https://127.0.0.1:1");
        assertThatThrownBy(new KubernetesApi(closed, server.account, "node-1")::names)
                .hasMessage("127.0.0.1:1: cannot connect");
        Files.delete(server.account.resolve("token"));
        assertThatThrownBy(api::names)
                .hasMessage("cannot read " + server.account.resolve("token") + ": mount the service account's token");
        Files.writeString(server.account.resolve("ca.crt"), "no certificate");
        assertThatThrownBy(api::names).hasMessageContaining("ca.crt: it must have the cluster's CA");
    }

    @Test
    void shouldTrustOnlyTheCertificateOfTheCluster(@TempDir Path other) throws Exception {
        try (ApiServer imposter = new ApiServer(other)) {
            Files.copy(
                    imposter.account.resolve("ca.crt"),
                    server.account.resolve("ca.crt"),
                    java.nio.file.StandardCopyOption.REPLACE_EXISTING);
        }
        assertThatThrownBy(server.api()::names)
                .isInstanceOf(java.io.IOException.class)
                .hasMessageContaining("PKIX path");
        assertThat(server.queries).isEmpty();
    }

    @Test
    void shouldRefuseToStartOutsideOfAPod() {
        assertThatThrownBy(() -> KubernetesApi.ofPod("node-1"))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessage("--kubernetes-node node-1: this is not a pod with a service account: set"
                        + " automountServiceAccountToken to true");
        assertThatThrownBy(() -> KubernetesApi.ofPod(" ")).hasMessage("--kubernetes-node: must not be empty");
    }
}
