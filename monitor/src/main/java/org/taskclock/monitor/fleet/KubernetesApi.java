// SPDX-License-Identifier: Apache-2.0
// Copyright the TaskClock authors
package org.taskclock.monitor.fleet;

import java.io.IOException;
import java.io.InputStream;
import java.io.InputStreamReader;
import java.io.Reader;
import java.net.URI;
import java.net.URLEncoder;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.GeneralSecurityException;
import java.security.KeyStore;
import java.security.cert.Certificate;
import java.security.cert.CertificateFactory;
import java.time.Duration;
import java.util.Map;
import javax.net.ssl.SSLContext;
import javax.net.ssl.TrustManagerFactory;

/**
 * The API server of the cluster, as a pod reaches it. One request is needed, for the pods of a node, so there is no
 * client library.
 */
final class KubernetesApi {
    private static final Path ACCOUNT = Path.of("/var/run/secrets/kubernetes.io/serviceaccount");
    private static final Duration CONNECT_TIMEOUT = Duration.ofSeconds(5);
    private static final Duration TIMEOUT = Duration.ofSeconds(20);
    private static final int OK = 200;
    private static final int UNAUTHORIZED = 401;
    private static final int FORBIDDEN = 403;

    private final URI pods;
    private final String node;

    /** The directory with the token and the certificate. The kubelet replaces them before they expire. */
    private final Path account;

    KubernetesApi(URI server, Path account, String node) {
        this.account = account;
        this.node = node;
        // From the server's cache, which is enough here, and costs it little.
        pods = server.resolve("/api/v1/pods?resourceVersion=0&fieldSelector="
                + URLEncoder.encode("spec.nodeName=" + node, StandardCharsets.UTF_8));
    }

    /** Throws IllegalArgumentException if this process is not in a pod with a service account. */
    static KubernetesApi ofPod(String node) {
        String host = System.getenv("KUBERNETES_SERVICE_HOST");
        String port = System.getenv("KUBERNETES_SERVICE_PORT");
        if (node.isBlank()) throw new IllegalArgumentException("--kubernetes-node: must not be empty");
        if (host == null || !Files.isReadable(ACCOUNT.resolve("token")))
            throw new IllegalArgumentException("--kubernetes-node " + node
                    + ": this is not a pod with a service account: set automountServiceAccountToken to true");
        String name = host.contains(":") ? "[" + host + "]" : host;
        return new KubernetesApi(URI.create("https://" + name + ":" + (port == null ? "443" : port)), ACCOUNT, node);
    }

    /**
     * Returns the names of all containers of the node, by the ids of containers and pods.
     *
     * @throws IOException if they cannot be read; the message is the reason and the remedy, in one line
     */
    Map<String, Workload> names() throws IOException, InterruptedException {
        // A new client each time: requests are rare, and its thread and connection end with it.
        HttpClient client = HttpClient.newBuilder()
                .connectTimeout(CONNECT_TIMEOUT)
                .sslContext(trust())
                .build();
        HttpRequest request = HttpRequest.newBuilder(pods)
                .timeout(TIMEOUT)
                .header("Authorization", "Bearer " + read("token").strip())
                .header("Accept", "application/json")
                .build();
        HttpResponse<InputStream> response;
        try {
            response = client.send(request, HttpResponse.BodyHandlers.ofInputStream());
        } catch (IOException e) {
            String reason = e.getMessage() == null ? "cannot connect" : e.getMessage();
            throw new IOException(pods.getAuthority() + ": " + reason, e);
        }
        try (Reader text = new InputStreamReader(response.body(), StandardCharsets.UTF_8)) {
            if (response.statusCode() != OK) throw new IOException(problem(response.statusCode()));
            return PodList.read(text, node);
        }
    }

    private static String problem(int status) {
        return switch (status) {
            case UNAUTHORIZED -> "401: the token of the service account is not valid (expired?)";
            case FORBIDDEN -> "403: the service account must be allowed to list pods (ClusterRole)";
            default -> "it answers with status " + status;
        };
    }

    private String read(String file) throws IOException {
        try {
            return Files.readString(account.resolve(file));
        } catch (IOException e) {
            throw new IOException("cannot read " + account.resolve(file) + ": mount the service account's token", e);
        }
    }

    private SSLContext trust() throws IOException {
        try (InputStream in = Files.newInputStream(account.resolve("ca.crt"))) {
            KeyStore store = KeyStore.getInstance(KeyStore.getDefaultType());
            store.load(null, null);
            for (Certificate certificate :
                    CertificateFactory.getInstance("X.509").generateCertificates(in))
                store.setCertificateEntry(Integer.toString(store.size()), certificate);
            TrustManagerFactory trust = TrustManagerFactory.getInstance(TrustManagerFactory.getDefaultAlgorithm());
            trust.init(store);
            SSLContext context = SSLContext.getInstance("TLS");
            context.init(null, trust.getTrustManagers(), null);
            return context;
        } catch (IOException | GeneralSecurityException e) {
            throw new IOException("cannot read " + account.resolve("ca.crt") + ": it must have the cluster's CA", e);
        }
    }
}
