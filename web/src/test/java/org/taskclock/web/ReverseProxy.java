// SPDX-License-Identifier: Apache-2.0
// Copyright the TaskClock authors
package org.taskclock.web;

import com.sun.net.httpserver.HttpExchange;
import com.sun.net.httpserver.HttpServer;
import com.sun.net.httpserver.HttpsConfigurator;
import com.sun.net.httpserver.HttpsServer;
import java.io.IOException;
import java.io.InputStream;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.net.http.HttpResponse.BodyHandlers;
import java.util.Locale;
import java.util.Set;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import javax.net.ssl.SSLContext;

/** A proxy on loopback that serves another server below a prefix. */
public final class ReverseProxy implements AutoCloseable {
    /** What the client does not allow to set, or sets itself. */
    private static final Set<String> OWN =
            Set.of("host", "connection", "content-length", "transfer-encoding", "upgrade", "expect", "http2-settings");

    private final HttpServer server;
    private final ExecutorService threads = Executors.newCachedThreadPool();
    private final HttpClient client = HttpClient.newHttpClient();
    private final boolean isSecure;
    private final boolean stripsPrefix;
    private volatile String target;

    /** Starts a proxy, with TLS unless the context is null. */
    public ReverseProxy(SSLContext tls, boolean stripsPrefix) throws IOException {
        isSecure = tls != null;
        this.stripsPrefix = stripsPrefix;
        InetSocketAddress address = new InetSocketAddress(InetAddress.getLoopbackAddress(), 0);
        if (tls == null) {
            server = HttpServer.create(address, 0);
        } else {
            HttpsServer https = HttpsServer.create(address, 0);
            https.setHttpsConfigurator(new HttpsConfigurator(tls));
            server = https;
        }
        server.createContext("/", this::forward);
        server.setExecutor(threads);
        server.start();
    }

    /** Sets where requests go to: an address without a path. */
    public void setTarget(String url) {
        target = url;
    }

    public String origin() {
        return (isSecure ? "https" : "http") + "://127.0.0.1:"
                + server.getAddress().getPort();
    }

    private void forward(HttpExchange exchange) throws IOException {
        String path = exchange.getRequestURI().toString();
        if (stripsPrefix) path = path.replaceFirst("^/watch(?=/)", "");
        byte[] body = exchange.getRequestBody().readAllBytes();
        HttpRequest.Builder request = HttpRequest.newBuilder(URI.create(target + path))
                .method(
                        exchange.getRequestMethod(),
                        body.length == 0
                                ? HttpRequest.BodyPublishers.noBody()
                                : HttpRequest.BodyPublishers.ofByteArray(body));
        exchange.getRequestHeaders().forEach((name, values) -> {
            if (!OWN.contains(name.toLowerCase(Locale.ROOT))) values.forEach(value -> request.header(name, value));
        });
        try {
            HttpResponse<InputStream> response = client.send(request.build(), BodyHandlers.ofInputStream());
            response.headers().map().forEach((name, values) -> {
                if (!OWN.contains(name)) exchange.getResponseHeaders().put(name, values);
            });
            exchange.sendResponseHeaders(response.statusCode(), 0);
            byte[] buffer = new byte[8_192];
            try (InputStream in = response.body()) {
                for (int read;
                        (read = in.read(buffer)) >= 0;
                        exchange.getResponseBody().flush())
                    exchange.getResponseBody().write(buffer, 0, read);
            }
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        } finally {
            exchange.close();
        }
    }

    @Override
    public void close() {
        server.stop(0);
        threads.shutdownNow();
    }
}
