// SPDX-License-Identifier: Apache-2.0
// Copyright the TaskClock authors
package org.taskclock.web;

import com.google.gson.stream.JsonWriter;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.nio.file.StandardOpenOption;
import java.nio.file.attribute.FileAttribute;
import java.nio.file.attribute.PosixFilePermission;
import java.nio.file.attribute.PosixFilePermissions;
import java.security.cert.X509Certificate;
import java.time.Clock;
import java.util.Set;
import java.util.function.Consumer;
import java.util.function.Function;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.eclipse.jetty.io.EndPoint;
import org.eclipse.jetty.server.Request;
import org.eclipse.jetty.server.Response;
import org.taskclock.history.JvmKey;
import org.taskclock.monitor.usage.Json;
import org.taskclock.web.http.AccessHandler;
import org.taskclock.web.http.Call;
import org.taskclock.web.http.Login;

/**
 * Writes a line for each request that changes something or reads stacks. Requests of clients that may not do that are
 * in a file of their own, so that nobody without permission can push out what others have done. Thread-safe.
 */
final class AuditLog {
    private static final Pattern JVM_ACTION =
            Pattern.compile("/api/jvms/([A-Za-z0-9._-]{1,200})/(?:threads/([0-9]{1,10})/)?([a-z]{1,20})");

    private static final int MAX_TEXT = 200;
    private static final Set<Integer> REFUSED = Set.of(401, 403);
    private static final long MINUTE_MILLIS = 60_000;

    private static final int MAX_REFUSED_PER_MINUTE = 30;

    private final Path file;
    private final Path refusedFile;
    private final long maxBytes;
    private final Function<String, JvmKey> known;
    private final Clock clock;
    private final Consumer<String> log;

    private long minute;
    private int refused;
    private long omitted;
    private String problem;

    /**
     * Creates a log, which is appended to files.
     *
     * @param directory where audit.log and audit-refused.log are; it is created when it is needed
     * @param maxBytes when a file is this large, it replaces the previous one, which has ".1" at the end
     * @param known returns the JVM with an id; null if there is none
     * @param log receives the lines that cannot be written to the file
     */
    AuditLog(Path directory, long maxBytes, Function<String, JvmKey> known, Clock clock, Consumer<String> log) {
        file = directory.resolve("audit.log");
        refusedFile = directory.resolve("audit-refused.log");
        this.maxBytes = maxBytes;
        this.known = known;
        this.clock = clock;
        this.log = log;
    }

    /** Adds a request that has been answered. */
    void watch(Request request, Response response) {
        Request.addCompletionListener(request, failure -> add(request, response.getStatus()));
    }

    private synchronized void add(Request request, int status) {
        boolean isRefused = REFUSED.contains(status);
        long now = clock.millis() / MINUTE_MILLIS;
        if (now != minute) {
            minute = now;
            refused = 0;
        }
        if (isRefused && ++refused > MAX_REFUSED_PER_MINUTE) {
            omitted++;
            return;
        }
        long before = isRefused ? omitted : 0;
        String line = new String(Json.bytes(json -> write(json, request, status, before)), StandardCharsets.UTF_8);
        write(isRefused ? refusedFile : file, line);
        omitted -= before;
    }

    private void write(JsonWriter json, Request request, int status, long omittedBefore) throws IOException {
        String path = Request.getPathInContext(request);
        Matcher jvm = JVM_ACTION.matcher(path);
        boolean isJvm = jvm.matches();
        json.beginObject();
        json.name("time").value(clock.instant().toString());
        json.name("action").value(isJvm ? jvm.group(3) : action(path));
        json.name("status").value(status);
        Object reason = request.getAttribute(Call.REASON);
        if (reason != null) json.name("reason").value(limited(reason.toString()));
        if (isJvm) {
            json.name("jvm").value(jvm.group(1));
            JvmKey key = known.apply(jvm.group(1));
            if (key != null) json.name("pid").value(key.pid()).name("service").value(limited(key.service()));
            if (jvm.group(2) != null) json.name("thread").value(jvm.group(2));
        }
        writeSender(json, request);
        if (omittedBefore > 0) json.name("omitted").value(omittedBefore);
        json.endObject();
    }

    private static String action(String path) {
        return path.equals(Login.CALLBACK) ? "login" : limited(path.substring(path.lastIndexOf('/') + 1));
    }

    private static void writeSender(JsonWriter json, Request request) throws IOException {
        Object user = request.getAttribute(AccessHandler.USER);
        if (user != null) json.name("user").value(limited(user.toString()));
        if (request.getAttribute(EndPoint.SslSessionData.ATTRIBUTE) instanceof EndPoint.SslSessionData session
                && session.peerCertificates() != null
                && session.peerCertificates().length > 0) {
            X509Certificate certificate = session.peerCertificates()[0];
            json.name("certificate")
                    .value(limited(certificate.getSubjectX500Principal().getName()));
        }
        json.name("address").value(Request.getRemoteAddr(request));
        // The client controls this header, unless a proxy replaces it.
        String forwarded = request.getHeaders().get("X-Forwarded-For");
        if (forwarded != null) json.name("forwardedFor").value(limited(forwarded));
    }

    private static String limited(String text) {
        return text.substring(0, Math.min(MAX_TEXT, text.length()));
    }

    private static FileAttribute<Set<PosixFilePermission>> onlyOwner(String permissions) {
        return PosixFilePermissions.asFileAttribute(PosixFilePermissions.fromString(permissions));
    }

    private void write(Path file, String line) {
        try {
            if (Files.exists(file) && Files.size(file) + line.length() >= maxBytes)
                Files.move(file, file.resolveSibling(file.getFileName() + ".1"), StandardCopyOption.REPLACE_EXISTING);
            if (!Files.exists(file)) {
                Files.createDirectories(file.getParent(), onlyOwner("rwx------"));
                Files.createFile(file, onlyOwner("rw-------"));
            }
            Files.writeString(file, line + "\n", StandardOpenOption.APPEND);
            problem = null;
        } catch (IOException | UnsupportedOperationException e) {
            String reason = e.getClass().getSimpleName() + ": " + e.getMessage();
            if (!reason.equals(problem)) log.accept("audit log: cannot be written, so it goes here: " + reason);
            problem = reason;
            log.accept("audit: " + line);
        }
    }
}
