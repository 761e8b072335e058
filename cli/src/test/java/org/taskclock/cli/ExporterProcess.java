// SPDX-License-Identifier: Apache-2.0
// Copyright the TaskClock authors
package org.taskclock.cli;

import static java.util.concurrent.TimeUnit.SECONDS;
import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.net.http.HttpResponse.BodyHandlers;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.function.Predicate;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/** {@code taskclock exporter} as a child process that listens on a free port. */
final class ExporterProcess implements AutoCloseable {
    private static final Pattern URL = Pattern.compile("serving metrics on (\\S+)/metrics");

    final Process process;
    private final Path err;
    private final String url;
    private HttpClient client = HttpClient.newHttpClient();
    private String authorization;

    private ExporterProcess(Process process, Path err) throws IOException, InterruptedException {
        this.process = process;
        this.err = err;
        url = awaitUrl();
    }

    /** Starts an exporter and waits until it has found the JVMs. */
    static ExporterProcess start(String... options) throws IOException, InterruptedException {
        return start(Path.of(System.getProperty("cli.jar")), List.of(), options);
    }

    /** Starts the exporter of a jar through another command, such as setpriv. */
    static ExporterProcess start(Path jar, List<String> prefix, String... options)
            throws IOException, InterruptedException {
        Path err = Files.createTempFile("taskclock-exporter", null);
        ProcessBuilder builder = CliResult.builder("exporter", "--web.listen-address", "127.0.0.1:0");
        builder.command().replaceAll(part -> part.equals(System.getProperty("cli.jar")) ? jar.toString() : part);
        builder.command().addAll(List.of(options));
        builder.command().addAll(0, prefix);
        return new ExporterProcess(builder.redirectError(err.toFile()).start(), err);
    }

    private String awaitUrl() throws IOException, InterruptedException {
        long end = System.nanoTime() + SECONDS.toNanos(CliResult.TIMEOUT_SECONDS);
        while (System.nanoTime() < end) {
            Matcher found = URL.matcher(err());
            if (found.find()) return found.group(1);
            assertThat(process.isAlive()).as(err()).isTrue();
            Thread.sleep(50);
        }
        throw new AssertionError(err());
    }

    String err() throws IOException {
        return Files.readString(err);
    }

    String url() {
        return url;
    }

    /** Uses another client, for instance one with certificates, and sends this header with each request. */
    ExporterProcess with(HttpClient other, String header) {
        client = other;
        authorization = header;
        return this;
    }

    HttpResponse<String> get(String path, String... headers) throws IOException, InterruptedException {
        HttpRequest.Builder request = HttpRequest.newBuilder(URI.create(url + path));
        if (authorization != null) request.header("Authorization", authorization);
        if (headers.length > 0) request.headers(headers);
        return client.send(request.build(), BodyHandlers.ofString());
    }

    /** Returns the value of each series. */
    Map<String, Double> scrape() throws IOException, InterruptedException {
        HttpResponse<String> response = get("/metrics");
        assertThat(response.statusCode()).isEqualTo(200);
        Map<String, Double> values = new TreeMap<>();
        for (String line : response.body().split("\n", -1)) {
            if (line.isEmpty() || line.startsWith("#")) continue;
            int space = line.lastIndexOf(' ');
            Double before = values.put(line.substring(0, space), Double.valueOf(line.substring(space + 1)));
            assertThat(before).as(line).isNull();
        }
        return values;
    }

    /** Scrapes until the metrics meet a condition. */
    Map<String, Double> await(Predicate<Map<String, Double>> condition) throws IOException, InterruptedException {
        long end = System.nanoTime() + SECONDS.toNanos(CliResult.TIMEOUT_SECONDS);
        Map<String, Double> values = scrape();
        while (!condition.test(values)) {
            assertThat(System.nanoTime()).as("%s %s", values, err()).isLessThan(end);
            Thread.sleep(50);
            values = scrape();
        }
        return values;
    }

    /** Returns the sum of the series that have all of these parts. */
    static double sum(Map<String, Double> values, String... parts) {
        return values.entrySet().stream()
                .filter(entry -> List.of(parts).stream().allMatch(entry.getKey()::contains))
                .mapToDouble(Map.Entry::getValue)
                .sum();
    }

    /** Sends SIGTERM and returns the exit code. */
    int terminate() throws InterruptedException {
        process.toHandle().destroy();
        return CliResult.exitCode(process);
    }

    @Override
    public void close() throws IOException {
        process.destroyForcibly();
        Files.deleteIfExists(err);
    }
}
