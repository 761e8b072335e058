// SPDX-License-Identifier: Apache-2.0
// Copyright the TaskClock authors
package org.taskclock.web;

import java.io.IOException;
import java.net.InetSocketAddress;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.function.Consumer;
import javax.net.ssl.SSLParameters;
import org.eclipse.jetty.compression.gzip.GzipCompression;
import org.eclipse.jetty.compression.server.CompressionConfig;
import org.eclipse.jetty.compression.server.CompressionHandler;
import org.eclipse.jetty.http.HttpHeader;
import org.eclipse.jetty.http.HttpMethod;
import org.eclipse.jetty.server.ConnectionFactory;
import org.eclipse.jetty.server.Handler;
import org.eclipse.jetty.server.HttpConfiguration;
import org.eclipse.jetty.server.HttpConnectionFactory;
import org.eclipse.jetty.server.NetworkConnectionLimit;
import org.eclipse.jetty.server.Request;
import org.eclipse.jetty.server.Response;
import org.eclipse.jetty.server.SecureRequestCustomizer;
import org.eclipse.jetty.server.Server;
import org.eclipse.jetty.server.ServerConnector;
import org.eclipse.jetty.server.SslConnectionFactory;
import org.eclipse.jetty.server.handler.ContextHandler;
import org.eclipse.jetty.server.handler.ErrorHandler;
import org.eclipse.jetty.server.handler.ResourceHandler;
import org.eclipse.jetty.util.Callback;
import org.eclipse.jetty.util.resource.Resource;
import org.eclipse.jetty.util.resource.ResourceFactory;
import org.eclipse.jetty.util.ssl.SslContextFactory;
import org.eclipse.jetty.util.thread.QueuedThreadPool;
import org.taskclock.web.metrics.ExporterException;
import org.taskclock.web.metrics.ListenAddress;
import org.taskclock.web.metrics.WebConfig;
import org.taskclock.web.metrics.WebSecurity;

/** Serves the page and the API. */
final class WebServer implements AutoCloseable {
    /** The path of the page's files. */
    static final String ASSETS = "/web";

    private static final String RESOURCES = "org/taskclock/web/page/";
    private static final int MAX_THREADS = 32;
    private static final int MIN_THREADS = 4;
    private static final int MAX_CONNECTIONS = 512;
    private static final int MIN_COMPRESSED_BYTES = 1_024;

    /** Longer than the pause between two events, so that only idle connections are closed. */
    private static final long IDLE_MILLIS = TimeUnit.SECONDS.toMillis(30);

    private final Server server;
    private final ServerConnector connector;
    private final boolean isSecure;

    /**
     * Starts serving.
     *
     * @param token null if none is needed
     * @param external null if browsers reach the server directly
     * @param log receives messages of one line
     */
    WebServer(
            ServerOptions options, Token token, ExternalUrl external, AuditLog audit, Handler api, Consumer<String> log)
            throws ServerException {
        String address = options.exporter().listenAddress();
        InetSocketAddress socket = parse(address);
        WebSecurity security;
        try {
            security = new WebSecurity(
                    options.exporter().webConfig(), config -> checkExposure(address, socket, config, token), log);
        } catch (ExporterException e) {
            throw new ServerException(e.getMessage());
        }
        isSecure = security.config().tls() != null;
        QueuedThreadPool threads = new QueuedThreadPool(MAX_THREADS, MIN_THREADS);
        threads.setName("taskclock-web");
        threads.setDaemon(true);
        server = new Server(threads);
        connector = new ServerConnector(server, 1, 1, factories(security));
        connector.setHost(
                socket.getAddress().isAnyLocalAddress() && hostOf(address).isEmpty()
                        ? null
                        : socket.getAddress().getHostAddress());
        connector.setPort(socket.getPort());
        connector.setIdleTimeout(IDLE_MILLIS);
        server.addConnector(connector);
        server.addBean(new NetworkConnectionLimit(MAX_CONNECTIONS, server));
        server.setErrorHandler(new JsonErrors());
        HostNames hosts = new HostNames(hostOf(address), options.allowedHosts(), external);
        Handler access = new AccessHandler(compressed(all(api)), hosts, token, security, audit);
        SlowRequests handler = new SlowRequests(
                new PrefixHandler(access, external == null ? "" : external.prefix()), server.getScheduler());
        connector.addEventListener(handler);
        server.setHandler(handler);
        try {
            server.start();
        } catch (IOException e) {
            close();
            throw new ServerException("cannot listen on " + address + ": "
                    + (e.getCause() == null ? e.getMessage() : e.getCause().getMessage())
                    + ": choose another address with --listen");
        } catch (Exception e) {
            close();
            throw new ServerException("cannot start the web server: " + e);
        }
    }

    private Handler all(Handler api) {
        Handler.Sequence all = new Handler.Sequence(api);
        Resource page = ResourceFactory.of(server).newClassLoaderResource(RESOURCES);
        if (page == null) return all;
        ResourceHandler assets = files(page);
        assets.setWelcomeFiles(List.of());
        all.addHandler(new ContextHandler(assets, ASSETS));
        all.addHandler(new Handler.Wrapper(files(page)) {
            @Override
            public boolean handle(Request request, Response response, Callback callback) throws Exception {
                return Request.getPathInContext(request).equals("/") && super.handle(request, response, callback);
            }
        });
        return all;
    }

    private static ResourceHandler files(Resource directory) {
        ResourceHandler files = new ResourceHandler();
        files.setBaseResource(directory);
        files.setDirAllowed(false);
        files.setWelcomeFiles("index.html");
        files.setEtags(true);
        files.setCacheControl("no-cache");
        return files;
    }

    private static Handler compressed(Handler handler) {
        CompressionHandler compression = new CompressionHandler(handler);
        GzipCompression gzip = new GzipCompression();
        gzip.setMinCompressSize(MIN_COMPRESSED_BYTES);
        compression.putCompression(gzip);
        // Events must not wait in a buffer. Requests are not decompressed, because their size is limited.
        compression.putConfiguration(
                "/*",
                CompressionConfig.builder()
                        .defaults()
                        .compressExcludeMimeType("text/event-stream")
                        .decompressExcludePath("/*")
                        .compressIncludeMethod(HttpMethod.GET.asString())
                        .build());
        return compression;
    }

    private static ConnectionFactory[] factories(WebSecurity security) {
        HttpConfiguration http = new HttpConfiguration();
        http.setSendServerVersion(false);
        http.setSendDateHeader(true);
        http.setRelativeRedirectAllowed(true);
        HttpConnectionFactory plain = new HttpConnectionFactory(http);
        if (security.config().tls() == null) return new ConnectionFactory[] {plain};
        // Clients may use any name in the TLS handshake, because the Host header is checked.
        http.addCustomizer(new SecureRequestCustomizer(false));
        SslContextFactory.Server tls = new SslContextFactory.Server() {
            @Override
            public SSLParameters customize(SSLParameters defaults) {
                SSLParameters parameters = super.customize(defaults);
                security.apply(parameters);
                return parameters;
            }
        };
        tls.setSslContext(security.currentTls());
        return new ConnectionFactory[] {new SslConnectionFactory(tls, plain.getProtocol()), plain};
    }

    private static boolean isClientCertificateRequired(WebConfig config) {
        return config.tls() != null && config.tls().clientAuth().equals(WebConfig.REQUIRE_AND_VERIFY);
    }

    private static void checkExposure(String address, InetSocketAddress socket, WebConfig config, Token token)
            throws ExporterException {
        if (socket.getAddress().isLoopbackAddress() || token != null || isClientCertificateRequired(config)) return;
        throw new ExporterException("--listen " + address + ": is reachable from the network: add --token-file FILE, or"
                + " require client certificates with --web.config.file");
    }

    private static String hostOf(String address) {
        return address.substring(0, Math.max(0, address.lastIndexOf(':')));
    }

    static InetSocketAddress parse(String address) throws ServerException {
        try {
            return ListenAddress.parse("--listen", address);
        } catch (ExporterException e) {
            throw new ServerException(e.getMessage());
        }
    }

    /** Returns the address of the page. */
    String url() {
        String host = connector.getHost() == null ? "0.0.0.0" : connector.getHost();
        if (host.contains(":")) host = "[" + host + "]"; // IPv6
        return (isSecure ? "https" : "http") + "://" + host + ":" + connector.getLocalPort() + "/";
    }

    @Override
    public void close() {
        try {
            server.stop();
        } catch (Exception e) {
            // The process is exiting anyway.
        }
    }

    /** Answers malformed requests, and those that no other handler answers. */
    private static final class JsonErrors extends ErrorHandler {
        @Override
        public boolean handle(Request request, Response response, Callback callback) {
            Object status = request.getAttribute(ERROR_STATUS);
            Object message = request.getAttribute(ERROR_MESSAGE);
            int code = status instanceof Integer number ? number : response.getStatus();
            response.getHeaders().put(HttpHeader.CACHE_CONTROL, "no-store");
            new Call(request, response, callback, null)
                    .error(code, code == 404 ? "no such path" : String.valueOf(message));
            return true;
        }
    }
}
