// SPDX-License-Identifier: Apache-2.0
// Copyright the TaskClock authors
package org.taskclock.cli;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;
import java.util.function.Predicate;
import java.util.regex.MatchResult;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.taskclock.metrics.Metric;
import org.taskclock.monitor.finding.FindingKind;
import org.taskclock.monitor.finding.FindingKinds;
import org.taskclock.monitor.sampling.ThreadColumn;
import picocli.CommandLine;
import picocli.CommandLine.Model.OptionSpec;

/** Checks that each name of an option, key, metric, and so on in the documentation exists, and that each is there. */
@Tag("slow17")
class DocumentedNamesTest {
    private static final Path REPOSITORY = Path.of("..").toAbsolutePath().normalize();
    private static final Pattern CODE = Pattern.compile("(?ms)^ *```.*?^ *```$|`[^`\n]+`");
    private static final Pattern EXIT_CODES = Pattern.compile("Exit codes: ([^.]*)\\.");
    /** Programs for development and measurement, whose names are their own business. */
    private static final Pattern NOT_SHIPPED = Pattern.compile(
            "/(target|dev|integration|testing|fuzz|matrix|benchmarks|lab/src/main/java/org/taskclock/soak)/");

    /** Options of other programs, in examples. */
    private static final Set<String> FOREIGN_OPTIONS = Set.of(
            "--add",
            "--add-opens",
            "--buildid-mmap",
            "--cap-add",
            "--config.file",
            "--enable-native-access",
            "--http.config.file",
            "--image",
            "--log.level",
            "--management.endpoints.web.exposure.include",
            "--now",
            "--pid",
            "--rm",
            "--storage.tsdb.path",
            "--target",
            "--unbuffered");
    /** Names of constants and variables of the kernel, the JVM, and other programs. */
    private static final Set<String> FOREIGN_VARIABLES = Set.of(
            "CONFIG_RSEQ_DEBUG_DEFAULT_ENABLE",
            "DT_NEEDED",
            "IMAGE_WITH_JAVA_AND_THE_JAR",
            "IRQ_TIME_ACCOUNTING",
            "JFR_HOME", // of lab/zoo-tools.sh
            "OTEL_INSTRUMENTATION_TASKCLOCK_ENABLED", // as a property
            "RTLD_LOCAL");
    /** Properties by which parts of TaskClock speak to each other. */
    private static final Set<String> INTERNAL_PROPERTIES = Set.of(
            "taskclock.accounts", // the prefix of Spring's
            "taskclock.doctor.fraction",
            "taskclock.loading",
            "taskclock.metrics", // likewise
            "taskclock.reason",
            "taskclock.user");

    private static final Set<String> LAB = Set.of("bench", "experiment");

    private static String page(String name) throws IOException {
        return Files.readString(REPOSITORY.resolve("docs/" + name));
    }

    private static String documentation() throws IOException {
        try (Stream<Path> pages = Files.list(REPOSITORY.resolve("docs"))) {
            Stream<Path> others = Stream.of(REPOSITORY.resolve("README.md"), REPOSITORY.resolve("lab/README.md"));
            return read(
                    Stream.concat(others, pages.filter(page -> page.toString().endsWith(".md"))));
        }
    }

    /** Returns the source files, in any module, whose names match. */
    private static String sources(String names) throws IOException {
        try (Stream<Path> files = Files.walk(REPOSITORY)) {
            return read(files.filter(file -> file.toString().contains("/src/main/")
                    && !NOT_SHIPPED.matcher(file.toString()).find()
                    && file.getFileName().toString().matches(names)));
        }
    }

    private static String read(Stream<Path> files) throws IOException {
        StringBuilder text = new StringBuilder();
        for (Path file : files.toList()) text.append(Files.readString(file)).append('\n');
        return text.toString();
    }

    private static Set<String> all(String pattern, CharSequence text) {
        return Pattern.compile(pattern)
                .matcher(text)
                .results()
                .map(match -> match.group(1) == null ? match.group(2) : match.group(1))
                .collect(Collectors.toCollection(TreeSet::new));
    }

    private static String code(String text) {
        return CODE.matcher(text).results().map(MatchResult::group).collect(Collectors.joining("\n"));
    }

    /** Returns what is marked as code in the first column of the table whose header starts with this. */
    private static Set<String> firstColumn(String page, String header) throws IOException {
        Set<String> names = new TreeSet<>();
        boolean isInTable = false;
        for (String line : page(page).split("\n", -1)) {
            isInTable = line.startsWith("| " + header + " |") || (isInTable && line.startsWith("|"));
            if (isInTable) names.addAll(all("`([^`]+)`", line.split("(?<!\\\\)\\|", 3)[1]));
        }
        assertThat(names).as(page + ", table " + header).isNotEmpty();
        return names;
    }

    private static List<CommandLine> commands(CommandLine command) {
        List<CommandLine> all = new ArrayList<>(List.of(command));
        for (CommandLine sub : command.getSubcommands().values()) all.addAll(commands(sub));
        return all;
    }

    /** The options of commands that are in a jar of their own. */
    private static Set<String> optionsOfTheLab() throws IOException {
        StringBuilder options = new StringBuilder();
        try (Stream<Path> files = Files.walk(REPOSITORY.resolve("lab/options/src/main/java"))) {
            options.append(read(files.filter(file -> file.toString().endsWith(".java"))));
        }
        return all("\"(--?[a-z][a-z-]*)\"", options);
    }

    private static Set<String> optionNames(CommandLine command) {
        return command.getCommandSpec().options().stream()
                .flatMap(option -> Arrays.stream(option.names()))
                .collect(Collectors.toCollection(TreeSet::new));
    }

    @Test
    void shouldDescribeEachOptionAndNoOther() throws IOException {
        // Those of the agent are options of attach, too.
        String documented = code(documentation()) + " --" + String.join(" --", firstColumn("agent.md", "option"));
        Set<String> known = new TreeSet<>(FOREIGN_OPTIONS);
        known.addAll(optionsOfTheLab());
        List<String> missing = new ArrayList<>();
        for (CommandLine command : commands(Main.commandLine())) {
            for (OptionSpec option : command.getCommandSpec().options()) {
                known.addAll(List.of(option.names()));
                boolean isStandard = option.usageHelp() || option.versionHelp() || option.hidden();
                if (!isStandard && Stream.of(option.names()).noneMatch(name -> isNamed(name, documented)))
                    missing.add(command.getCommandName() + " " + option.longestName());
            }
        }
        assertThat(missing).as("options that no page names").isEmpty();
        assertThat(known).containsAll(all("(?<![\\w-])(--[a-z][\\w.-]*\\w)", documented));
    }

    private static boolean isNamed(String name, String text) {
        return Pattern.compile("(?<![\\w-])" + Pattern.quote(name) + "(?![\\w-])")
                .matcher(text)
                .find();
    }

    @Test
    void shouldGiveCommandsOnlyTheirOptions() throws IOException {
        Map<String, CommandLine> commands = Main.commandLine().getSubcommands();
        List<String> wrong = new ArrayList<>();
        int count = 0;
        for (MatchResult line : Pattern.compile("(?m)(?:^|`|/|\\$ )taskclock(?:-cli\\.jar)? ([a-z]+)( [^`\n|#;]*)")
                .matcher(code(documentation()))
                .results()
                .toList()) {
            CommandLine command = commands.get(line.group(1));
            if (command == null) {
                wrong.add(line.group());
            } else {
                Set<String> known = LAB.contains(line.group(1)) ? optionsOfTheLab() : optionNames(command);
                for (String option :
                        all("(?<= \\[?)(--?[a-z][\\w.-]*)", line.group(2).split(" -- ", 2)[0])) {
                    count++;
                    if (!known.contains(option)) wrong.add(line.group() + ": " + option);
                }
            }
        }
        assertThat(wrong).isEmpty();
        assertThat(count).isGreaterThan(40);
    }

    @Test
    void shouldGiveTheExitCodesOfTheHelp() throws IOException {
        int count = 0;
        for (CommandLine command : commands(Main.commandLine())) {
            Path page = REPOSITORY.resolve("docs/" + command.getCommandName() + ".md");
            if (!Files.exists(page) || !Files.readString(page).contains("Exit codes:")) continue;
            count++;
            assertThat(exitCodes(Files.readString(page)))
                    .as(page.toString())
                    .isEqualTo(exitCodes(command.getUsageMessage(CommandLine.Help.Ansi.OFF)));
        }
        assertThat(count).isGreaterThan(4);
        assertThat(exitCodes(page("troubleshooting.md").replace("exit codes mean?** ", "Exit codes: ")))
                .isEqualTo(exitCodes(Main.commandLine().getUsageMessage(CommandLine.Help.Ansi.OFF)))
                .hasSize(Main.NOT_PERMITTED + 1);
    }

    private static Set<String> exitCodes(String text) {
        return all(
                "(?:\\[|, )(\\d+) [a-z]",
                all(EXIT_CODES.pattern(), text.replaceAll("\\s+", " ")).toString());
    }

    @Test
    void shouldDescribeEachKeyAndNoOther() throws IOException {
        Set<String> keys = new TreeSet<>();
        for (String name : List.of("KeyBindings", "ColumnMenu")) {
            String source = sources(name + ".java");
            for (String labels : all("case (\".+\") ->", source)) keys.addAll(all("\"((?:\\\\.|[^\"])+)\"", labels));
            keys.addAll(all("key\\.equals\\(\"([^\"]+)\"\\)", source));
        }
        // The page says "arrows", and 1 to 9.
        keys.removeAll(Set.of("Up", "Down", "Left", "Right", "2", "3", "4", "5", "6", "7", "8"));
        Map<String, String> names = Map.of("PageUp", "PgUp", "PageDown", "PgDn", "\\\\", "\\");
        Set<String> expected =
                keys.stream().map(key -> names.getOrDefault(key, key)).collect(Collectors.toCollection(TreeSet::new));
        String section = page("top.md").split("(?m)^## Keys$", -1)[1].split("(?m)^## ", -1)[0];
        assertThat(all("`([^`]+)`", section)).containsAll(expected);
        assertThat(expected).containsAll(firstColumn("top.md", "key"));
    }

    @Test
    void shouldDescribeEachColumnAndNoOther() throws IOException {
        assertThat(firstColumn("top.md", "column"))
                .containsExactlyInAnyOrderElementsOf(Stream.of(ThreadColumn.values())
                        .map(column -> column.title)
                        .filter(Predicate.not(String::isEmpty))
                        .toList());
    }

    @Test
    void shouldDescribeEachMetricAndNoOther() throws IOException {
        assertThat(firstColumn("metrics.md", "metric"))
                .containsExactlyInAnyOrderElementsOf(
                        Stream.of(Metric.values()).map(Metric::id).toList());
        assertThat(firstColumn("metrics.md", "attribute"))
                .containsExactlyInAnyOrderElementsOf(Stream.of(Metric.values())
                        .flatMap(metric -> metric.attributes().stream())
                        .collect(Collectors.toSet()));
    }

    @Test
    void shouldDescribeEachMetricOfTheExporterAndNoOther() throws IOException {
        String unit = "(?:_seconds)?(?:_total|_info)?";
        String source = sources("OwnMetrics.java");
        assertThat(all("`taskclock_exporter_(\\w+?)" + unit + "[`{]", page("exporter.md")))
                .isEqualTo(all("(?:PREFIX \\+ |(?:gauge|counter|duration)\\(\\s*)\"(\\w+?)" + unit + "\"", source));
    }

    @Test
    void shouldDescribeEachFindingAndAlertAndNoOther() throws IOException {
        Set<String> kinds =
                FindingKinds.ALL.stream().map(FindingKind::id).collect(Collectors.toCollection(TreeSet::new));
        assertThat(firstColumn("alerts.md", "finding")).isEqualTo(kinds);
        assertThat(all("(?m)^## (.*)$", page("alerts.md"))).isEqualTo(kinds);
        assertThat(all("`(TaskClock\\w+)`", page("alerts.md")))
                .isEqualTo(all(
                        "alert: (\\w+)",
                        Files.readString(REPOSITORY.resolve("deploy/prometheus/taskclock.rules.yml"))));
    }

    @Test
    void shouldDescribeEachPropertyAndNoOther() throws IOException {
        String sources = sources(".*\\.(java|c|h|sh|json)");
        Set<String> properties = all("\"(taskclock(?:\\.[a-z_-]+)+)\"", sources);
        properties.removeAll(INTERNAL_PROPERTIES);
        properties.addAll(all("\"(otel\\.instrumentation\\.taskclock\\.[a-z.-]+[a-z])\"", sources));
        for (String suffix : all("PREFIX \\+ \"([a-z.-]+)\"", sources("TaskClockAgentListener.java")))
            properties.add("otel.instrumentation.taskclock." + suffix);
        properties.removeIf(name -> name.endsWith(".h"));
        Set<String> documented = all(
                "(?:-D|(?<![\\w./-]))((?:otel\\.instrumentation\\.)?taskclock(?:\\.[a-z_-]+)+)", code(documentation()));
        documented.removeIf(name -> name.endsWith(".yml"));
        assertThat(documented).containsExactlyInAnyOrderElementsOf(properties);
    }

    @Test
    void shouldDescribeEachEnvironmentVariableAndNoOther() throws IOException {
        String documentation = documentation();
        String sources = sources(".*\\.(java|c|h|sh|json)");
        Set<String> variables = all("env(?:ironment\\.get\\w*)?\\(\"([A-Z_]+)\"|\\$\\{([A-Z_]+):-", sources);
        variables.remove("HOME"); // the pages say "~"
        variables.removeIf(name -> name.startsWith("KUBERNETES_SERVICE_")); // in each container of a pod
        assertThat(variables)
                .contains("NO_COLOR", "TASKCLOCK_JAVA_OPTS", "XDG_CONFIG_HOME")
                .allMatch(name -> isNamed(name, documentation));
        Set<String> unknown = all("\\b([A-Z]+(?:_[A-Z]+)+)\\b", code(documentation));
        unknown.removeAll(FOREIGN_VARIABLES);
        unknown.removeIf(sources::contains);
        assertThat(unknown).isEmpty();
    }
}
