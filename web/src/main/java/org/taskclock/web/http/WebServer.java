// SPDX-License-Identifier: Apache-2.0
// Copyright the TaskClock authors
package org.taskclock.web.http;

import java.io.IOException;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import javax.net.ssl.SSLContext;
import javax.net.ssl.SSLParameters;
import org.eclipse.jetty.alpn.server.ALPNServerConnectionFactory;
import org.eclipse.jetty.http.HttpHeader;
import org.eclipse.jetty.http2.HTTP2Cipher;
import org.eclipse.jetty.http2.server.HTTP2ServerConnectionFactory;
import org.eclipse.jetty.server.ConnectionFactory;
import org.eclipse.jetty.server.Handler;
import org.eclipse.jetty.server.HttpConfiguration;
import org.eclipse.jetty.server.HttpConnectionFactory;
import org.eclipse.jetty.server.LocalConnector;
import org.eclipse.jetty.server.NetworkConnectionLimit;
import org.eclipse.jetty.server.Request;
import org.eclipse.jetty.server.Response;
import org.eclipse.jetty.server.SecureRequestCustomizer;
import org.eclipse.jetty.server.Server;
import org.eclipse.jetty.server.ServerConnector;
import org.eclipse.jetty.server.SslConnectionFactory;
import org.eclipse.jetty.server.handler.ErrorHandler;
import org.eclipse.jetty.util.Callback;
import org.eclipse.jetty.util.ssl.SslContextFactory;
import org.eclipse.jetty.util.thread.QueuedThreadPool;

/** Serves over HTTP: limits what clients may use, and checks each request before a handler answers it. */
public final class WebServer implements AutoCloseable {
    private static final int MAX_THREADS = 32;
    private static final int MIN_THREADS = 4;
    private static final int MAX_CONNECTIONS = 512;

    /** Longer than the pause between two events, so that only idle connections are closed. */
    private static final long IDLE_MILLIS = TimeUnit.SECONDS.toMillis(30);

    /** How long a client may take to send a header, or a small body. */
    public static final long RECEIVE_MILLIS = TimeUnit.SECONDS.toMillis(10);

    private final Server server;
    private final ServerConnector connector;
    private final boolean isSecure;

    /** Starts serving. */
    public WebServer(ListenAddress address, Access access, Handler content) throws WebException {
        this(address, access, content, RECEIVE_MILLIS);
    }

    /** Starts serving, with another limit than {@link #RECEIVE_MILLIS}. */
    public WebServer(ListenAddress address, Access access, Handler content, long receiveMillis) throws WebException {
        WebSecurity security = access.security();
        isSecure = security.config().tls() != null;
        // Jetty's own queue starts an MBean server, for the size of a cache line.
        QueuedThreadPool threads =
                new QueuedThreadPool(MAX_THREADS, MIN_THREADS, (int) IDLE_MILLIS, 0, new LinkedBlockingQueue<>(), null);
        threads.setName("taskclock-web");
        threads.setDaemon(true);
        server = new Server(threads);
        connector = new ServerConnector(server, 1, 1, factories(security));
        connector.setHost(
                address.host().isEmpty() ? null : address.socket().getAddress().getHostAddress());
        connector.setPort(address.socket().getPort());
        connector.setIdleTimeout(IDLE_MILLIS);
        server.addConnector(connector);
        server.addBean(new NetworkConnectionLimit(MAX_CONNECTIONS, server));
        server.setErrorHandler(new JsonErrors());
        Handler checked = new AccessHandler(content, access);
        SlowRequests handler = new SlowRequests(
                new PrefixHandler(checked, access.hosts().prefix()), server.getScheduler(), receiveMillis);
        connector.addEventListener(handler);
        server.setHandler(handler);
        try {
            server.start();
        } catch (IOException e) {
            close();
            String reason = e.getCause() == null ? e.getMessage() : e.getCause().getMessage();
            throw new WebException(
                    "cannot listen on " + address.text() + ": " + reason + ": choose another address or port");
        } catch (Exception e) {
            close();
            throw new WebException("cannot start the web server: " + e);
        }
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
            /**
             * Called for each connection, because certificates expire. Sessions belong to a context, so no client can
             * resume one that began with an expired certificate.
             */
            @Override
            public SSLContext getSslContext() {
                return security.tls();
            }

            @Override
            public SSLParameters customize(SSLParameters defaults) {
                SSLParameters parameters = super.customize(defaults);
                security.apply(parameters);
                return parameters;
            }
        };
        // Otherwise, Jetty looks for a key store.
        tls.setSslContext(security.tls());
        tls.setCipherComparator(HTTP2Cipher.COMPARATOR);
        // Browsers open at most six connections to a server with HTTP/1.1, and speak HTTP/2 over TLS only.
        ALPNServerConnectionFactory alpn = new ALPNServerConnectionFactory();
        alpn.setDefaultProtocol(plain.getProtocol());
        HTTP2ServerConnectionFactory http2 = new HTTP2ServerConnectionFactory(http);
        return new ConnectionFactory[] {new SslConnectionFactory(tls, alpn.getProtocol()), alpn, http2, plain};
    }

    /**
     * Answers a request to itself, so that the classes for it are loaded before the first client waits. On a busy
     * machine, that alone takes seconds.
     */
    public void warmUp(String path) {
        LocalConnector itself = new LocalConnector(server, new HttpConnectionFactory());
        server.addConnector(itself);
        try {
            itself.start();
            itself.getResponse("GET " + path + " HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n");
            itself.stop();
        } catch (Exception e) {
            // The first client waits then.
        } finally {
            server.removeConnector(itself);
        }
    }

    /** Returns the address of the root. */
    public String url() {
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
