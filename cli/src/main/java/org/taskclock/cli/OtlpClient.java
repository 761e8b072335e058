// SPDX-License-Identifier: Apache-2.0
// Copyright the TaskClock authors
package org.taskclock.cli;

import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.net.ConnectException;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.net.http.HttpResponse.BodyHandlers;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Set;
import java.util.zip.GZIPOutputStream;
import org.taskclock.monitor.profile.OtlpProfile;
import org.taskclock.monitor.profile.Profile;
import org.taskclock.web.http.WebException;
import org.taskclock.web.metrics.OtlpHeaders;

/** Sends profiles to an OpenTelemetry receiver. */
final class OtlpClient {
    private static final Duration TIMEOUT = Duration.ofSeconds(10);

    /** A response that says how much was rejected, even if that is nothing, is longer. */
    private static final int EMPTY_PARTIAL_SUCCESS = 2;

    private final String option;
    private final HttpRequest.Builder request;

    /** @param url without a path, the standard one is used */
    OtlpClient(String url, Path headersFile) throws CommandException {
        option = "--otlp " + url + ": ";
        try {
            URI uri = URI.create(url);
            if (uri.getHost() == null || !Set.of("http", "https").contains(String.valueOf(uri.getScheme())))
                throw new CommandException(Main.USAGE, option + "must be a URL such as http://127.0.0.1:4318");
            boolean isBase = uri.getPath().isEmpty() || uri.getPath().equals("/");
            request = HttpRequest.newBuilder(isBase ? uri.resolve(OtlpProfile.PATH) : uri)
                    .timeout(TIMEOUT)
                    .header("Content-Type", "application/x-protobuf")
                    .header("Content-Encoding", "gzip")
                    .header("OTLP-Profiles-Development-Version", OtlpProfile.DEVELOPMENT_VERSION);
            if (headersFile != null) new OtlpHeaders(headersFile).get().forEach(request::header);
        } catch (WebException e) {
            throw new CommandException(Main.USAGE, e.getMessage());
        } catch (IllegalArgumentException e) {
            throw new CommandException(Main.USAGE, option + e.getMessage());
        }
    }

    void send(Profile profile) throws CommandException {
        try {
            ByteArrayOutputStream body = new ByteArrayOutputStream();
            try (GZIPOutputStream gzip = new GZIPOutputStream(body)) {
                gzip.write(OtlpProfile.of(profile));
            }
            HttpResponse<byte[]> response = HttpClient.newBuilder()
                    .version(HttpClient.Version.HTTP_1_1) // without a request to upgrade
                    .connectTimeout(TIMEOUT)
                    .build()
                    .send(
                            request.POST(HttpRequest.BodyPublishers.ofByteArray(body.toByteArray()))
                                    .build(),
                            BodyHandlers.ofByteArray());
            if (response.statusCode() / 100 != 2)
                throw new CommandException(Main.FAILED, option + "HTTP status " + response.statusCode());
            if (response.body().length > EMPTY_PARTIAL_SUCCESS)
                throw new CommandException(Main.FAILED, option + "the receiver rejected a part of the profile");
        } catch (ConnectException e) {
            throw new CommandException(Main.FAILED, option + "cannot connect"); // it has no message
        } catch (IOException e) {
            throw new CommandException(Main.FAILED, option + (e.getMessage() == null ? e : e.getMessage()));
        } catch (InterruptedException e) {
            throw new CommandException(Main.FAILED, option + "interrupted");
        }
    }
}
