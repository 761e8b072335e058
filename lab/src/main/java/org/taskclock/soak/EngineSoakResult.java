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
import org.taskclock.benchmarks.TextTable;
import org.taskclock.report.MachineInfo;

/**
 * The result of a soak test of an engine.
 *
 * @param commit from which the agent was built
 * @param options of the agent
 * @param answers a digest of the answer to each question
 * @param disturbed null if there was no disturbed run
 * @param comparison null if the agent was not switched on and off
 * @param pairs null if no pairs of JVMs were compared
 */
record EngineSoakResult(
        String engine,
        String commit,
        Machine machine,
        String options,
        Map<String, String> answers,
        Disturbed disturbed,
        AgentComparison.Result comparison,
        AgentComparison.PairsResult pairs,
        List<String> failures) {
    /**
     * The JDK and machine of a soak test.
     *
     * @param jdk the version of the engine's JDK, from its file {@code release}
     * @param feature the first number of the version
     */
    record Machine(String jdk, int feature, String kernel, String processor, int processors) {
        static Machine of(Path java) throws IOException {
            Properties release = new Properties();
            Path home = java.toRealPath().getParent().getParent();
            try (var reader = Files.newBufferedReader(home.resolve("release"))) {
                release.load(reader);
            }
            String version = release.getProperty("JAVA_RUNTIME_VERSION", release.getProperty("JAVA_VERSION", "unknown"))
                    .replace("\"", "");
            MachineInfo info = MachineInfo.read();
            return new Machine(
                    version, Runtime.Version.parse(version).feature(), info.kernel(), info.cpu(), info.processors());
        }
    }

    /**
     * The disturbed run.
     *
     * @param actions how often each action was performed
     * @param mounts of virtual threads since the agent was last attached
     * @param samples one per minute
     */
    record Disturbed(
            boolean withAgent,
            double minutes,
            long operations,
            long mounts,
            Map<String, Integer> actions,
            Map<String, EngineResources.Growth> growth,
            List<EngineResources> samples) {}

    String markdown() {
        StringBuilder text = new StringBuilder("# Soak: ").append(engine).append("\n\n");
        add(
                text,
                "TaskClock %s (`%s`), JDK %s, %s, %s, %d processors.%n%n",
                commit,
                options,
                machine.jdk,
                machine.kernel,
                machine.processor,
                machine.processors);
        if (failures.isEmpty()) text.append("No failures.\n");
        for (String failure : failures) add(text, "- **failure**: %s%n", failure);
        if (disturbed != null) addDisturbed(text);
        if (comparison != null) addComparison(text);
        if (pairs != null) addPairs(text);
        return text.toString();
    }

    private void addDisturbed(StringBuilder text) {
        add(
                text,
                "%nDisturbed run %s the agent: %.0f minutes, %,d operations, %d questions answered, %,d mounts of "
                        + "virtual threads.%n%n",
                disturbed.withAgent ? "with" : "without",
                disturbed.minutes,
                disturbed.operations,
                answers.size(),
                disturbed.mounts);
        TextTable times = new TextTable("disturbance", "times");
        disturbed.actions.forEach((action, count) -> times.add(List.of(action, count.toString())));
        TextTable growth = new TextTable("resource", "third tenth of the run", "last tenth", "allowed growth");
        disturbed.growth.forEach((resource, g) ->
                growth.add(List.of(resource, number(g.early()), number(g.late()), number(g.allowed()))));
        text.append(times.markdown()).append('\n').append(growth.markdown());
    }

    private void addComparison(StringBuilder text) {
        add(
                text,
                "%nThe agent switched on and off in one run, %d groups of 4 windows of %.1f s, median %,.0f "
                        + "operations per second with it off. 95 %% confidence intervals:%n%n",
                comparison.groups(),
                comparison.windowSeconds(),
                comparison.perSecond());
        addDifferences(text, comparison.throughput(), comparison.cpu());
    }

    private void addPairs(StringBuilder text) {
        add(
                text,
                "%nPairs of JVMs, one with the agent and one %s: %d pairs, a window of %.0f s each, median %,.0f "
                        + "operations per second %s. 95 %% confidence intervals:%n%n",
                pairs.other(),
                pairs.pairs(),
                pairs.windowSeconds(),
                pairs.perSecond(),
                pairs.other());
        addDifferences(text, pairs.throughput(), pairs.cpu());
    }

    private static void addDifferences(
            StringBuilder text, AgentComparison.Difference throughput, AgentComparison.Difference cpu) {
        TextTable table = new TextTable("with the agent", "difference");
        table.add(List.of("throughput", text(throughput)));
        table.add(List.of("CPU time per operation", text(cpu)));
        text.append(table.markdown());
    }

    private static String number(double value) {
        return String.format(Locale.ROOT, "%,.0f", value);
    }

    private static String text(AgentComparison.Difference difference) {
        return String.format(Locale.ROOT, "%+.2f %% ± %.2f", difference.percent(), difference.error());
    }

    private static void add(StringBuilder text, String format, Object... values) {
        text.append(String.format(Locale.ROOT, format, values));
    }
}
