// SPDX-License-Identifier: Apache-2.0
// Copyright the TaskClock authors
package org.taskclock.integration.tenants;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import java.io.BufferedReader;
import java.io.IOException;
import java.io.Writer;
import java.net.URI;
import java.nio.charset.StandardCharsets;
import java.nio.file.DirectoryStream;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.taskclock.ProcessClock;

/** The service in its own JVM, with the agent. */
final class StormServer implements AutoCloseable {
    private static final ObjectMapper JSON = new ObjectMapper();

    private final Process process;
    private final BufferedReader output;
    private final Writer input;
    private final int port;
    private final Map<String, Long> carriers = new HashMap<>();

    /** CPU times in nanoseconds, and when they were read. The last two are the kernel's. */
    record Cpu(long timeNanos, JsonNode tenants, long carriersNanos, long processNanos) {
        long tenantNanos(String tenant) {
            return tenants.get(tenant).get("cpuNanos").asLong();
        }

        long endpointNanos(String tenant, String endpoint) {
            JsonNode usage = tenants.get(tenant).get("endpoints").get(endpoint);
            return usage == null ? 0 : usage.asLong();
        }
    }

    /** Starts the service and waits until it is ready. */
    StormServer(String java, String agent, String limit) throws IOException {
        List<String> command = new ArrayList<>(List.of(
                java,
                "-javaagent:" + agent,
                "--enable-native-access=ALL-UNNAMED",
                "-Xmx512m",
                "-Xms512m",
                "-Dtenants.limit=" + limit,
                "-cp",
                System.getProperty("java.class.path"),
                TenantService.class.getName()));
        process = new ProcessBuilder(command)
                .redirectError(ProcessBuilder.Redirect.INHERIT)
                .start();
        output = process.inputReader(StandardCharsets.UTF_8);
        input = process.outputWriter(StandardCharsets.UTF_8);
        port = Integer.parseInt(answer("port "));
    }

    /** Returns the rest of the next line of output that starts with a prefix. */
    private String answer(String prefix) throws IOException {
        StringBuilder log = new StringBuilder();
        for (String line = output.readLine(); line != null; line = output.readLine()) {
            if (line.startsWith(prefix)) return line.substring(prefix.length());
            log.append(line).append('\n');
        }
        throw new IOException("the service ended:\n" + log);
    }

    URI uri(String path) {
        return URI.create("http://127.0.0.1:" + port + path);
    }

    /** Reads the tenants' accounts and the kernel's clocks. */
    Cpu cpu() throws IOException {
        input.write('\n');
        input.flush();
        JsonNode tenants = JSON.readTree(answer("usage "));
        return new Cpu(
                System.nanoTime(),
                tenants,
                carriersNanos(),
                ProcessClock.of(process.pid()).cpuNanos());
    }

    /** Returns the CPU time of the threads that carry virtual threads, including those that have ended. */
    private long carriersNanos() throws IOException {
        Path tasks = Path.of("/proc", Long.toString(process.pid()), "task");
        try (DirectoryStream<Path> threads = Files.newDirectoryStream(tasks)) {
            for (Path thread : threads) {
                try {
                    if (!Files.readString(thread.resolve("comm")).startsWith("ForkJoinPool-1-")) continue;
                    String[] times =
                            Files.readString(thread.resolve("schedstat")).trim().split(" ", -1);
                    carriers.merge(thread.toString(), Long.parseLong(times[0]), Math::max);
                } catch (NoSuchFileException ignored) {
                    // The thread has ended.
                }
            }
        }
        return carriers.values().stream().mapToLong(Long::longValue).sum();
    }

    @Override
    public void close() {
        process.destroy();
        process.onExit().join();
    }
}
