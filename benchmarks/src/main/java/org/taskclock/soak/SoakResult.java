// SPDX-License-Identifier: Apache-2.0
// Copyright the TaskClock authors
package org.taskclock.soak;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Properties;

/**
 * What a soak of an engine found.
 *
 * @param answers a digest of the answer to each question
 * @param disturbed null if there was no disturbed run
 * @param comparison null if nothing was compared
 */
record SoakResult(
        String engine,
        Machine machine,
        Map<String, String> answers,
        Disturbed disturbed,
        Comparison.Result comparison,
        List<String> failures) {
    /**
     * Where a soak ran.
     *
     * @param jdk of the engine, its version as the file {@code release} has it
     * @param feature the first number of that
     */
    record Machine(String jdk, int feature, String kernel, String processor, int processors) {
        static Machine of(Path java) throws IOException {
            Properties release = new Properties();
            Path home = java.toRealPath().getParent().getParent();
            try (var reader = Files.newBufferedReader(home.resolve("release"))) {
                release.load(reader);
            }
            String processor = Files.readAllLines(Path.of("/proc/cpuinfo")).stream()
                    .filter(line -> line.startsWith("model name"))
                    .map(line -> line.substring(line.indexOf(':') + 2))
                    .findFirst()
                    .orElse("unknown");
            String version = release.getProperty("JAVA_RUNTIME_VERSION", release.getProperty("JAVA_VERSION", "unknown"))
                    .replace("\"", "");
            return new Machine(
                    version,
                    Runtime.Version.parse(version).feature(),
                    System.getProperty("os.version"),
                    processor,
                    Runtime.getRuntime().availableProcessors());
        }
    }

    /**
     * The disturbed run.
     *
     * @param actions how often each disturbance took place
     * @param mounts of virtual threads since the agent was last attached
     */
    record Disturbed(
            double minutes,
            long operations,
            long mounts,
            Map<String, Integer> actions,
            Map<String, Vitals.Growth> growth,
            List<Vitals> samples) {}

    String markdown() {
        StringBuilder text = new StringBuilder("# Soak: ").append(engine).append("\n\n");
        add(
                text,
                "JDK %s, Linux %s, %s, %d processors.%n%n",
                machine.jdk,
                machine.kernel,
                machine.processor,
                machine.processors);
        if (failures.isEmpty()) text.append("No failures.\n");
        for (String failure : failures) add(text, "- **failure**: %s%n", failure);
        if (disturbed != null) addDisturbed(text);
        if (comparison != null) addComparison(text);
        return text.toString();
    }

    private void addDisturbed(StringBuilder text) {
        add(
                text,
                "%nDisturbed run: %.0f minutes, %,d operations, %d questions answered, %,d mounts of virtual threads.%n%n",
                disturbed.minutes,
                disturbed.operations,
                answers.size(),
                disturbed.mounts);
        text.append("| disturbance | times |\n|---|---:|\n");
        disturbed.actions.forEach((what, count) -> add(text, "| %s | %d |%n", what, count));
        text.append("\n| resource | third tenth of the run | last tenth | allowed growth |\n|---|---:|---:|---:|\n");
        disturbed.growth.forEach(
                (what, g) -> add(text, "| %s | %,.0f | %,.0f | %,.0f |%n", what, g.early(), g.late(), g.allowed()));
    }

    private void addComparison(StringBuilder text) {
        add(
                text,
                "%nThe agent switched on and off in one run, %d groups of 4 windows of %.1f s, median %,.0f operations per second with it off. 95 %% confidence intervals:%n%n",
                comparison.groups(),
                comparison.windowSeconds(),
                comparison.perSecond());
        text.append("| with the agent on | difference |\n|---|---:|\n");
        add(text, "| throughput | %s |%n", text(comparison.throughput()));
        add(text, "| CPU time per operation | %s |%n", text(comparison.cpu()));
    }

    private static String text(Comparison.Difference difference) {
        return String.format(Locale.ROOT, "%+.2f %% ± %.2f", difference.percent(), difference.error());
    }

    private static void add(StringBuilder text, String format, Object... values) {
        text.append(String.format(Locale.ROOT, format, values));
    }
}
