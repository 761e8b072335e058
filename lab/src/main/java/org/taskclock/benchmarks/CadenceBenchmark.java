// SPDX-License-Identifier: Apache-2.0
// Copyright the TaskClock authors
package org.taskclock.benchmarks;

import java.io.IOException;
import java.nio.file.Files;
import java.util.ArrayList;
import java.util.List;

/**
 * Measures the cost of a reading at the cadences of real programs: in a tight loop, with work between two readings,
 * after a switch to another thread, on many threads, in a program shaped like a query engine, and as the first reading
 * of a process. Run it as
 *
 * <pre>java --enable-native-access=ALL-UNNAMED -cp lab/target/taskclock-lab.jar \
 *     org.taskclock.benchmarks.CadenceBenchmark</pre>
 *
 * <p>Each row runs in its own JVM per fork, with the options of this one. Arguments: {@code --forks N} (5),
 * {@code --rounds N} per fork (5), {@code --only ROW[,ROW...]} (rows or groups of rows), {@code --markdown}, or
 * {@code --json} to print one {@link CadenceResult} per line; {@code --from FILE} shows such a file. Exit codes: 1 if a
 * measurement fails, 2 for a usage error.
 */
public final class CadenceBenchmark {
    private final CadenceOptions options;

    private CadenceBenchmark(CadenceOptions options) {
        this.options = options;
    }

    public static void main(String[] args) throws InterruptedException {
        // Measuring JVMs must not outlive this one.
        Runtime.getRuntime()
                .addShutdownHook(new Thread(
                        () -> ProcessHandle.current().children().forEach(ProcessHandle::destroy), "end children"));
        try {
            new CadenceBenchmark(CadenceOptions.parse(args)).run();
        } catch (IllegalArgumentException e) {
            fail(e.getMessage(), 2);
        } catch (IOException e) {
            fail(e.getMessage(), 1);
        }
    }

    private static void fail(String message, int exitCode) {
        System.err.println("taskclock: cadence: " + message);
        System.exit(exitCode);
    }

    private void run() throws IOException, InterruptedException {
        List<CadenceResult> results = options.from() != null ? read() : measure();
        if (options.format() == CadenceOptions.Format.JSON) return;
        System.out.print(CadenceReport.text(results, options.format() == CadenceOptions.Format.MARKDOWN));
    }

    private List<CadenceResult> read() throws IOException {
        List<CadenceResult> results = new ArrayList<>();
        try {
            for (String line : Files.readAllLines(options.from())) results.add(CadenceResult.parse(line));
        } catch (IOException e) {
            throw new IOException("--from " + options.from() + ": cannot be read: " + e, e);
        } catch (IllegalArgumentException e) {
            throw new IllegalArgumentException(
                    "--from " + options.from() + ": line " + (results.size() + 1) + ": " + e.getMessage(), e);
        }
        if (results.isEmpty()) throw new IllegalArgumentException("--from " + options.from() + ": the file is empty");
        return results;
    }

    private List<CadenceResult> measure() throws IOException, InterruptedException {
        List<CadenceResult> results = new ArrayList<>();
        for (int fork = 1; fork <= options.forks(); fork++) {
            for (CadenceRow row : options.rows()) {
                if (options.format() == CadenceOptions.Format.TEXT)
                    System.err.println("fork " + fork + " of " + options.forks() + ": " + row.name());
                CadenceResult result =
                        row.group() == CadenceRow.Group.FIRST ? firstReadings(row, fork) : measure(row, fork);
                results.add(result);
                if (options.format() == CadenceOptions.Format.JSON) System.out.println(result.json());
            }
        }
        return results;
    }

    private CadenceResult measure(CadenceRow row, int fork) throws IOException, InterruptedException {
        List<String> lines =
                FreshJvm.run(CadenceJvm.class, row.name(), Integer.toString(fork), Integer.toString(options.rounds()));
        return CadenceResult.parse(lines.get(lines.size() - 1));
    }

    private CadenceResult firstReadings(CadenceRow row, int fork) throws IOException, InterruptedException {
        List<Long> nanos = new ArrayList<>();
        List<String> lines = List.of();
        for (int i = 0; i < options.rounds(); i++) {
            lines = FreshJvm.run(FirstReading.class);
            nanos.add(Long.parseLong(lines.get(1)));
        }
        CadenceResult.Environment environment = new CadenceResult.Environment(
                Runtime.version().toString(),
                lines.get(2),
                lines.get(3),
                Runtime.getRuntime().availableProcessors());
        return CadenceResult.of(row, fork, environment, nanos);
    }
}
