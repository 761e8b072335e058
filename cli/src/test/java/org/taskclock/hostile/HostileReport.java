// SPDX-License-Identifier: Apache-2.0
// Copyright the TaskClock authors
package org.taskclock.hostile;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collections;
import java.util.List;
import java.util.Locale;
import java.util.Map;

/**
 * Runs {@link HostileRun} and writes its result as Markdown. Arguments: JAR DIRECTORY SECONDS THREADS-PER-SECOND, and
 * "all", "each" (a run for each scenario), "each" and names, or names of scenarios. The exit code is 1 if a bound is
 * missed.
 */
public final class HostileReport {
    private static final int HONEST = 5;
    private static final long MAX_MILLIS = 1_000;
    private static final double MAX_DIFFERENCE = 1;
    private static final int MAX_CELL = 300;

    private final StringBuilder text = new StringBuilder();
    private boolean failed;

    private HostileReport() {}

    public static void main(String[] args) throws IOException, InterruptedException {
        Path directory = Path.of(args[1]).toAbsolutePath();
        List<String> names = Arrays.asList(args).subList(4, args.length);
        HostileReport report = new HostileReport();
        if (names.contains("each")) {
            report.line("| scenario | what failed |").line("|---|---|");
            List<Scenario> all = names.size() == 1 ? List.of(Scenario.hostile()) : scenarios(names);
            for (Scenario scenario : all) {
                try (HostileRun run = new HostileRun(settings(args, directory, List.of(scenario), 2))) {
                    run.run();
                    report.addRow(scenario, run);
                    report.print();
                }
            }
        } else {
            List<Scenario> scenarios = names.contains("all") ? List.of(Scenario.hostile()) : scenarios(names);
            try (HostileRun run = new HostileRun(settings(args, directory, scenarios, HONEST))) {
                run.run();
                report.add(run);
            }
        }
        report.print();
        System.exit(report.failed ? 1 : 0);
    }

    private static List<Scenario> scenarios(List<String> names) {
        return names.stream()
                .filter(name -> !name.equals("each"))
                .map(Scenario::of)
                .toList();
    }

    private static HostileRun.Settings settings(String[] args, Path directory, List<Scenario> scenarios, int honest)
            throws IOException {
        int seconds = Integer.parseInt(args[2]);
        Path files = Files.createTempDirectory(directory, "run");
        return new HostileRun.Settings(
                Path.of(args[0]),
                files,
                scenarios,
                honest,
                seconds,
                seconds < 60 ? 1 : 5,
                Integer.parseInt(args[3]),
                MAX_MILLIS,
                seconds < 60 ? 15 : MAX_DIFFERENCE,
                seconds >= 60);
    }

    /** Prints what was not printed yet. */
    private void print() {
        System.out.print(text);
        text.setLength(0);
    }

    private HostileReport line(String line) {
        text.append(line).append('\n');
        return this;
    }

    private void addRow(Scenario scenario, HostileRun run) {
        List<String> kinds = new ArrayList<>();
        run.failures().forEach((check, messages) -> kinds.add(check + ": " + cell(messages.get(0))));
        String what = kinds.isEmpty() ? "nothing" : String.join("; ", kinds);
        if (!run.skipped().isEmpty()) what = "not run: " + run.skipped();
        line("| " + scenario + " | " + what + " |");
        failed |= !run.failures().isEmpty();
    }

    /** Removes what a table or a terminal would interpret. */
    private static String cell(String text) {
        String printable = text.replaceAll("\\p{C}", " ").replace('|', '/');
        return printable.length() > MAX_CELL ? printable.substring(0, MAX_CELL) + "..." : printable;
    }

    private static String format(String format, Object... arguments) {
        return String.format(Locale.ROOT, format, arguments);
    }

    private void add(HostileRun run) throws IOException {
        failed |= !run.failures().isEmpty();
        line(format(
                "%.0f s beside %d hostile and %d honest JVMs, all on JDK %s.",
                run.measuredSeconds(),
                run.hostileJvms().size(),
                run.figures().rows().size(),
                System.getProperty("java.version")));
        line("");
        line(
                "| | requests | median | maximum | while all start | peak memory | threads | open files | longest answer |");
        line("|---|--:|--:|--:|--:|--:|--:|--:|--:|");
        for (Watcher watcher : run.watchers()) {
            List<Long> millis = new ArrayList<>(watcher.millis);
            Collections.sort(millis);
            long median = millis.isEmpty() ? -1 : millis.get(millis.size() / 2);
            long max = millis.isEmpty() ? -1 : millis.get(millis.size() - 1);
            line(format(
                    "| `%s` | %d | %d ms | %d ms | %d ms | %d MB | %d | %d | %d kB |",
                    watcher.command,
                    millis.size(),
                    median,
                    max,
                    watcher.maxStartMillis,
                    watcher.peakMegabytes,
                    watcher.maxThreads,
                    watcher.maxFiles,
                    watcher.maxBytes / 1_000));
        }
        line("");
        addFigures(run);
        line("Scenarios: "
                + String.join(
                        ", ",
                        run.hostileJvms().stream()
                                .map(jvm -> jvm.scenario().toString())
                                .toList()) + ".");
        for (String skipped : run.skipped()) line("Not run: " + skipped + ".");
        for (HostileJvm jvm : run.hostileJvms()) {
            List<Integer> rates = new ArrayList<>(jvm.rates());
            Collections.sort(rates);
            if (jvm.scenario() == Scenario.THREAD_STORM && !rates.isEmpty())
                line(format(
                        "Threads started per second: median %,d, maximum %,d.",
                        rates.get(rates.size() / 2), rates.get(rates.size() - 1)));
            if (jvm.scenario() == Scenario.PID_REUSE) line("Process id reused: " + rates.size() + " times.");
        }
        line("").line("Commands beside them, in seconds:");
        for (Map.Entry<String, Long> command : run.commandMillis().entrySet())
            line(format("- `taskclock %s`: %.1f", command.getKey(), command.getValue() / 1_000.0));
        line("");
        if (run.failures().isEmpty()) line("Failures: none");
        run.failures().forEach((check, messages) -> {
            line(check.name() + ":");
            for (String message : messages) line("- " + cell(message));
        });
    }

    private void addFigures(HostileRun run) {
        line("CPU time of the honest JVMs in seconds, and the difference:").line("");
        line("| pidstat | exporter | its pools | serve | its history |").line("|--:|--:|--:|--:|--:|");
        for (HonestFigures.Row figures : run.figures().rows()) {
            double expected = figures.expected();
            StringBuilder row = new StringBuilder(format("| %.2f ", expected));
            for (double value :
                    new double[] {figures.exporter(), figures.exporterPools(), figures.serve(), figures.serveHistory()})
                row.append(format("| %.2f (%+.2f %%) ", value, 100 * (value / expected - 1)));
            line(row.append('|').toString());
        }
        line("");
    }
}
