// SPDX-License-Identifier: Apache-2.0
// Copyright the TaskClock authors
package org.taskclock.web.http;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.BasicFileAttributes;
import java.util.ArrayList;
import java.util.List;
import java.util.function.Consumer;
import javax.net.ssl.SSLContext;
import javax.net.ssl.SSLParameters;

/**
 * The TLS settings and passwords of the web configuration file. As in Prometheus' exporters, each connection and each
 * request rereads the file if it, or a file that it names, has changed. While the new content cannot be used, the
 * previous one remains in effect. Thread-safe.
 */
public final class WebSecurity {
    /**
     * The settings in effect.
     *
     * @param tls null for plain HTTP
     * @param users null if no password is needed
     * @param versions of the files
     */
    private record State(WebConfig config, SSLContext tls, BasicAuth users, List<String> versions) {}

    /** Checks whether settings can be used. */
    public interface Check {
        void check(WebConfig config) throws WebException;
    }

    private final Path file;
    private final Check check;
    private final Consumer<String> log;
    private State state;

    /** Why the changed files cannot be used; null if they can. */
    private String problem;

    /**
     * Reads the file, and logs changes.
     *
     * @param file null for plain HTTP without passwords
     */
    public WebSecurity(Path file, Check check, Consumer<String> log) throws WebException {
        this.file = file;
        this.check = check;
        this.log = log;
        if (file == null) check.check(WebConfig.NONE);
        state = file == null ? new State(WebConfig.NONE, null, null, List.of()) : read();
    }

    private State read() throws WebException {
        // Taken before reading, so that a concurrent change is noticed later.
        List<String> versions = new ArrayList<>(List.of(version(file)));
        WebConfig config = WebConfig.read(file);
        check.check(config);
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
                throw new WebException(file + ": tls_server_config: cannot be added or removed without a restart");
            state = changed;
            problem = null;
            log.accept(file + ": reloaded");
        } catch (WebException e) {
            if (!e.getMessage().equals(problem))
                log.accept(e.getMessage() + ": the previous settings remain in effect");
            problem = e.getMessage();
        }
        return state;
    }

    /** Returns the settings that are in effect. */
    public WebConfig config() {
        return current().config;
    }

    /** Returns the context for a new connection; null for plain HTTP. */
    SSLContext tls() {
        return current().tls;
    }

    /** Applies the versions of TLS and the need for client certificates to a new connection. */
    void apply(SSLParameters parameters) {
        WebConfig.Tls tls = config().tls();
        parameters.setProtocols(tls.protocols().toArray(String[]::new));
        parameters.setWantClientAuth(tls.clientAuth().equals(WebConfig.VERIFY_IF_GIVEN));
        if (tls.clientAuth().equals(WebConfig.REQUIRE_AND_VERIFY)) parameters.setNeedClientAuth(true);
    }

    boolean hasUsers() {
        return current().users != null;
    }

    /** Returns the user, as {@link BasicAuth#verify}; null if there are no users. */
    String verify(String header) {
        BasicAuth users = current().users;
        return users == null ? null : users.verify(header);
    }
}
