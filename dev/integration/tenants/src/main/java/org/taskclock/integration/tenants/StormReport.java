// SPDX-License-Identifier: Apache-2.0
// Copyright the TaskClock authors
package org.taskclock.integration.tenants;

import java.io.IOException;
import java.lang.management.ManagementFactory;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.function.ToDoubleFunction;
import org.taskclock.integration.tenants.StormTest.Row;
import org.taskclock.integration.tenants.StormTest.Sum;

/** The results of all rounds as Markdown: medians, side by side. */
final class StormReport {
    private static final List<String> PHASES = List.of("before", "storm", "after");

    private final String java;
    private final int rounds;
    private final int seconds;
    private final int floodClients;
    private final List<Row> rows = new ArrayList<>();
    private final List<Sum> sums = new ArrayList<>();
    private final double loadBefore = loadAverage();
    private long uncounted;

    StormReport(String java, int rounds, int seconds, int floodClients) {
        this.java = java;
        this.rounds = rounds;
        this.seconds = seconds;
        this.floodClients = floodClients;
    }

    void add(Row row) {
        rows.add(row);
        System.err.println(row);
    }

    void add(Sum sum) {
        sums.add(sum);
        System.err.println(sum);
    }

    void addUncounted(long sections) {
        uncounted += sections;
    }

    /** Returns whether everything was counted, and all requests before the storm succeeded. */
    boolean isComplete() {
        return uncounted == 0
                && rows.stream()
                        .filter(row -> row.phase().equals("before"))
                        .allMatch(row -> row.failedPerSecond() == 0 && row.donePerSecond() > 0);
    }

    String markdown() throws IOException {
        StringBuilder text = new StringBuilder();
        text.append("# One tenant's storm\n\n");
        text.append(format(
                "%s; kernel %s; %d processors. Medians of the rounds (%d) with phases of %d s. In the storm, %d clients"
                        + " of `reports` send one request after another. The load average was %.1f before and %.1f"
                        + " after the test.\n\n",
                javaVersion(),
                System.getProperty("os.version"),
                Runtime.getRuntime().availableProcessors(),
                rounds,
                seconds,
                floodClients,
                loadBefore,
                loadAverage()));
        text.append("| phase | tenant | limit | sent/s | done/s | shed/s | failed/s | median, ms | p99, ms | p99,"
                + " range of rounds | CPUs | CPU ms/request |\n");
        text.append("|---|---|---|---:|---:|---:|---:|---:|---:|---:|---:|---:|\n");
        for (String phase : PHASES) {
            for (String tenant : Tenants.NAMES) {
                for (String limit : List.of("none", "concurrency", "cpu")) appendRow(text, phase, tenant, limit);
            }
        }
        text.append("\nThe tenants' accounts, added, and the kernel's clocks, in CPUs:\n\n");
        text.append("| phase | limit | tenants | carrier threads | process | tenants / carriers |\n");
        text.append("|---|---|---:|---:|---:|---:|\n");
        for (String phase : PHASES) {
            for (String limit : List.of("none", "concurrency", "cpu")) appendSum(text, phase, limit);
        }
        text.append(format("%nSections that could not be counted: %d%n", uncounted));
        return text.toString();
    }

    private void appendRow(StringBuilder text, String phase, String tenant, String limit) {
        List<Row> selected = rows.stream()
                .filter(row -> row.phase().equals(phase)
                        && row.tenant().equals(tenant)
                        && row.limit().equals(limit))
                .toList();
        text.append(format(
                "| %s | %s | %s | %.0f | %.1f | %.1f | %.1f | %s | %s | %s | %.3f | %s |%n",
                phase,
                tenant,
                limit,
                median(selected, Row::sentPerSecond),
                median(selected, Row::donePerSecond),
                median(selected, Row::shedPerSecond),
                median(selected, Row::failedPerSecond),
                number(1, median(selected, Row::median)),
                number(1, median(selected, Row::p99)),
                range(selected),
                median(selected, Row::cpus),
                number(2, median(selected, Row::cpuMillisPerRequest))));
    }

    private void appendSum(StringBuilder text, String phase, String limit) {
        List<Sum> selected = sums.stream()
                .filter(sum -> sum.phase().equals(phase) && sum.limit().equals(limit))
                .toList();
        text.append(format(
                "| %s | %s | %.3f | %.3f | %.3f | %.1f %% |%n",
                phase,
                limit,
                median(selected, Sum::tenants),
                median(selected, Sum::carriers),
                median(selected, Sum::process),
                100 * median(selected, sum -> sum.tenants() / sum.carriers())));
    }

    /** Returns the range of the 99th percentile in rounds in which requests succeeded. */
    private static String range(List<Row> rows) {
        double[] sorted = rows.stream()
                .mapToDouble(Row::p99)
                .filter(p99 -> !Double.isNaN(p99))
                .sorted()
                .toArray();
        return sorted.length == 0 ? "-" : format("%.1f to %.1f", sorted[0], sorted[sorted.length - 1]);
    }

    private static <T> double median(List<T> values, ToDoubleFunction<T> value) {
        double[] sorted = values.stream().mapToDouble(value).sorted().toArray();
        return sorted.length % 2 == 1
                ? sorted[sorted.length / 2]
                : (sorted[sorted.length / 2 - 1] + sorted[sorted.length / 2]) / 2;
    }

    private static String number(int digits, double value) {
        return Double.isNaN(value) ? "-" : format("%." + digits + "f", value);
    }

    /** Returns the machine's load average of the last minute. */
    private static double loadAverage() {
        return ManagementFactory.getOperatingSystemMXBean().getSystemLoadAverage();
    }

    /** Returns the version of the JDK of the service. */
    private String javaVersion() throws IOException {
        Path release = Path.of(java).toRealPath().resolve("../../release").normalize();
        return Files.readAllLines(release).stream()
                .filter(line -> line.startsWith("JAVA_RUNTIME_VERSION="))
                .map(line -> "JDK " + line.replaceAll(".*=|\"", ""))
                .findFirst()
                .orElse("JDK in " + release.getParent().getFileName());
    }

    private static String format(String format, Object... arguments) {
        return String.format(Locale.ROOT, format, arguments);
    }
}
