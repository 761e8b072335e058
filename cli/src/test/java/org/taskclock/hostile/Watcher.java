// SPDX-License-Identifier: Apache-2.0
// Copyright the TaskClock authors
package org.taskclock.hostile;

import java.io.IOException;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/** {@code taskclock exporter} or {@code taskclock serve}, as the launcher runs it, and what its answers show. */
final class Watcher implements AutoCloseable {
    private static final Pattern URL = Pattern.compile("serving (?:metrics )?on (\\S+?)/(?:metrics)?\n");

    /** A request that takes longer has failed; it is not waited for. */
    private static final long GIVE_UP_MILLIS = 15_000;

    /** After so many requests without an answer, no more are sent. */
    private static final int MAX_UNANSWERED = 2;

    final String command;
    final Process process;
    private final Path err;
    private final HttpClient client = HttpClient.newHttpClient();
    private String url;
    private int unanswered;

    /** What failed, in the order of time. */
    final List<String> failures = new ArrayList<>();
    /** How long the answers took since {@link #started}. */
    final List<Long> millis = new ArrayList<>();
    /** The longest answer before that. */
    long maxStartMillis;

    private boolean isStarting = true;

    long maxBytes;
    long maxThreads;
    long maxFiles;
    long peakMegabytes;

    Watcher(String command, Path jar, Path directory, List<String> javaOptions, String... options) throws IOException {
        this.command = command;
        err = Files.createDirectories(directory).resolve(command + ".err");
        List<String> line = new ArrayList<>();
        line.add(Path.of(System.getProperty("java.home"), "bin", "java").toString());
        line.addAll(javaOptions);
        // As the launcher of the command line.
        line.addAll(List.of("-XX:+UseSerialGC", "-XX:TieredStopAtLevel=1", "-Xss512k", "-Xlog:disable"));
        line.addAll(List.of("-jar", jar.toString(), command));
        line.addAll(List.of(options));
        process = new ProcessBuilder(line)
                .redirectError(err.toFile())
                .redirectOutput(ProcessBuilder.Redirect.DISCARD)
                .start();
    }

    /** Waits until it listens. */
    void awaitUrl() throws IOException, InterruptedException {
        for (long end = System.currentTimeMillis() + 60_000; System.currentTimeMillis() < end; Thread.sleep(50)) {
            Matcher found = URL.matcher(err());
            if (found.find()) {
                url = found.group(1);
                return;
            }
            if (!process.isAlive()) break;
        }
        failures.add(command + " does not listen: " + err());
    }

    String err() throws IOException {
        String text = Files.readString(err);
        return text.length() > 2_000 ? text.substring(0, 2_000) : text;
    }

    /** From now on, answers must be fast. Before, thirty JVMs that start use the processors. */
    void started() {
        isStarting = false;
    }

    /** Returns whether it is still asked. */
    boolean isAnswering() {
        return url != null && unanswered < MAX_UNANSWERED;
    }

    /** Returns the body of an answer; null after noting why there is none. */
    String get(String path) throws InterruptedException {
        if (!isAnswering()) return null; // the reason has been noted
        HttpRequest request = HttpRequest.newBuilder(URI.create(url + path)).build();
        long start = System.nanoTime();
        CompletableFuture<HttpResponse<String>> answer =
                client.sendAsync(request, HttpResponse.BodyHandlers.ofString());
        try {
            HttpResponse<String> response = answer.get(GIVE_UP_MILLIS, TimeUnit.MILLISECONDS);
            unanswered = 0;
            long took = (System.nanoTime() - start) / 1_000_000;
            if (isStarting) maxStartMillis = Math.max(maxStartMillis, took);
            else millis.add(took);
            maxBytes = Math.max(maxBytes, response.body().length());
            if (response.statusCode() == 200) return response.body();
            failures.add(
                    command + " " + path + ": status " + response.statusCode() + ": " + firstLine(response.body()));
        } catch (TimeoutException e) {
            answer.cancel(true);
            unanswered++;
            failures.add(command + " " + path + ": no answer within " + GIVE_UP_MILLIS / 1_000 + " s");
        } catch (ExecutionException e) {
            failures.add(command + " " + path + ": " + e.getCause());
        }
        return null;
    }

    private static String firstLine(String text) {
        String line = text.lines().findFirst().orElse("");
        return line.length() > 200 ? line.substring(0, 200) : line;
    }

    /** Notes how much memory and how many threads and files it uses. */
    void measure() {
        try {
            for (String line : Files.readAllLines(Path.of("/proc/" + process.pid() + "/status"))) {
                if (line.startsWith("VmHWM:")) peakMegabytes = Math.max(peakMegabytes, number(line) / 1_024);
                if (line.startsWith("Threads:")) maxThreads = Math.max(maxThreads, number(line));
            }
            String[] files = Path.of("/proc/" + process.pid() + "/fd").toFile().list();
            if (files != null) maxFiles = Math.max(maxFiles, files.length);
        } catch (IOException e) {
            return; // it has ended, which end() reports
        }
    }

    private static long number(String line) {
        return Long.parseLong(line.replaceAll("[^0-9]", ""));
    }

    /** Sends SIGTERM and returns how long it took to end, in milliseconds; -1 if it did not end in time. */
    long end(long timeoutMillis) throws IOException, InterruptedException {
        if (!process.isAlive()) {
            failures.add(command + " has ended with exit code " + process.exitValue() + ": " + err());
            return 0;
        }
        long start = System.nanoTime();
        process.toHandle().destroy();
        boolean ended = process.waitFor(timeoutMillis, TimeUnit.MILLISECONDS);
        if (!ended) failures.add(command + " still runs " + timeoutMillis + " ms after SIGTERM");
        else if (process.exitValue() != 0)
            failures.add(command + " ended with exit code " + process.exitValue() + ": " + err());
        return ended ? (System.nanoTime() - start) / 1_000_000 : -1;
    }

    @Override
    public void close() {
        process.destroyForcibly();
    }
}
