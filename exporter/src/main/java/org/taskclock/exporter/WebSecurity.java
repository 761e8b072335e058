// SPDX-License-Identifier: Apache-2.0
// Copyright the TaskClock authors
package org.taskclock.exporter;

import com.sun.net.httpserver.Authenticator;
import com.sun.net.httpserver.HttpExchange;
import com.sun.net.httpserver.HttpPrincipal;
import com.sun.net.httpserver.HttpsConfigurator;
import com.sun.net.httpserver.HttpsParameters;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.BasicFileAttributes;
import java.util.ArrayList;
import java.util.List;
import javax.net.ssl.SSLContext;

/**
 * The TLS settings and passwords of the web configuration file. At each connection and each request, the file is read
 * again if it or one of the files that it names has changed, as Prometheus' exporters do. While the new content cannot
 * be used, the previous one remains in effect. Thread-safe.
 */
final class WebSecurity extends Authenticator {
    private static final HttpPrincipal ANYONE = new HttpPrincipal("anyone", "none");

    /**
     * What is in effect.
     *
     * @param tls null for plain HTTP
     * @param users null if no password is needed
     * @param versions of the files
     */
    private record State(WebConfig config, SSLContext tls, BasicAuth users, List<String> versions) {}

    private final Path file;
    private State state;

    /** Why the files cannot be used since they have changed; null if they can. */
    private String problem;

    /**
     * Reads the file.
     *
     * @param file null for plain HTTP without passwords
     */
    WebSecurity(Path file) throws ExporterException {
        this.file = file;
        state = file == null ? new State(WebConfig.NONE, null, null, List.of()) : read();
    }

    private State read() throws ExporterException {
        // Taken first, so that a change in the meantime is noticed later.
        List<String> versions = new ArrayList<>(List.of(version(file)));
        WebConfig config = WebConfig.read(file);
        for (Path each : files(config)) versions.add(version(each));
        return new State(
                config,
                config.tls() == null ? null : TlsContext.of(config.tls()),
                config.users().isEmpty() ? null : new BasicAuth(config.users()),
                versions);
    }

    private static List<Path> files(WebConfig config) {
        List<Path> files = new ArrayList<>();
        if (config.tls() == null) return files;
        files.add(config.tls().certificate());
        files.add(config.tls().key());
        if (config.tls().clientCa() != null) files.add(config.tls().clientCa());
        return files;
    }

    /** Returns text that changes with the content of a file, or if it is replaced. */
    private static String version(Path path) {
        try {
            BasicFileAttributes attributes = Files.readAttributes(path, BasicFileAttributes.class);
            return attributes.lastModifiedTime() + " " + attributes.size() + " " + attributes.fileKey();
        } catch (IOException e) {
            return WebConfig.describe(e);
        }
    }

    private boolean hasChanged() {
        List<String> versions = new ArrayList<>(List.of(version(file)));
        for (Path each : files(state.config)) versions.add(version(each));
        return !versions.equals(state.versions);
    }

    private synchronized State current() {
        if (file == null || !hasChanged()) return state;
        try {
            State changed = read();
            if ((changed.tls == null) != (state.tls == null))
                throw new ExporterException(file + ": tls_server_config: cannot be added or removed without a restart");
            state = changed;
            problem = null;
            Text.log(file + ": reloaded");
        } catch (ExporterException e) {
            if (!e.getMessage().equals(problem)) Text.log(e.getMessage() + ": the previous settings remain in effect");
            problem = e.getMessage();
        }
        return state;
    }

    /** Returns the settings that are in effect. */
    WebConfig config() {
        return current().config;
    }

    /** Returns what configures new connections; null for plain HTTP. */
    HttpsConfigurator https() {
        SSLContext first = current().tls;
        if (first == null) return null;
        return new HttpsConfigurator(new CurrentContext(first, () -> current().tls)) {
            @Override
            public void configure(HttpsParameters parameters) {
                parameters.setSSLParameters(TlsContext.parameters(config().tls()));
            }
        };
    }

    @Override
    public Result authenticate(HttpExchange exchange) {
        BasicAuth users = current().users;
        return users == null ? new Success(ANYONE) : users.authenticate(exchange);
    }
}
