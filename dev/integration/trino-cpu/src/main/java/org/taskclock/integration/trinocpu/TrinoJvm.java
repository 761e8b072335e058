// SPDX-License-Identifier: Apache-2.0
// Copyright the TaskClock authors
package org.taskclock.integration.trinocpu;

import java.io.BufferedReader;
import java.io.File;
import java.io.IOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;

/** A JVM with Trino and what it measured. */
final class TrinoJvm {
    /** A printed line: a query, a stage, or an operator, on an idle or busy machine. */
    @SuppressWarnings("ArrayRecordComponent") // nothing compares them
    record Row(String kind, String machine, String query, int repetition, String name, long[] times) {}

    private TrinoJvm() {}

    /** Runs {@code main} with the patched classes and the agent's options, each possibly null. */
    static List<Row> run(Class<?> main, String patches, String agentOptions, String property, String... args)
            throws IOException, InterruptedException {
        Path module = Path.of(System.getProperty("module"));
        Path target = module.resolve("target");
        List<String> command = new ArrayList<>(List.of(
                Path.of(System.getProperty("java.home"), "bin", "java").toString(),
                "-Xmx2g",
                "--add-modules",
                "jdk.incubator.vector",
                "--sun-misc-unsafe-memory-access=allow",
                "--enable-native-access=ALL-UNNAMED",
                "--add-opens=java.base/java.lang=ALL-UNNAMED",
                "-Dworkers=" + TrinoServer.WORKERS,
                property));
        if (agentOptions != null) {
            command.add("-javaagent:" + System.getProperty("agent") + "=" + agentOptions);
        }
        String classPath = target.resolve("classes") + File.pathSeparator + target.resolve("lib") + "/*";
        if (patches != null)
            classPath = target.resolve("patched/" + patches + "/classes") + File.pathSeparator + classPath;
        command.addAll(List.of("-cp", classPath, main.getName()));
        command.addAll(Arrays.asList(args));
        Process process = new ProcessBuilder(command)
                .redirectError(target.resolve("trino.log").toFile())
                .start();
        List<Row> rows = new ArrayList<>();
        try (BufferedReader lines = process.inputReader()) {
            for (String line; (line = lines.readLine()) != null; ) {
                if (line.startsWith("@")) rows.add(row(line));
            }
        } finally {
            process.destroy();
        }
        if (process.waitFor() != 0 || rows.isEmpty()) throw new IllegalStateException("failed: see target/trino.log");
        return rows;
    }

    private static Row row(String line) {
        String[] parts = line.substring(1).split("\t");
        long[] times = Arrays.stream(parts).skip(5).mapToLong(Long::parseLong).toArray();
        return new Row(parts[0], parts[1], parts[2], Integer.parseInt(parts[3]), parts[4], times);
    }
}
