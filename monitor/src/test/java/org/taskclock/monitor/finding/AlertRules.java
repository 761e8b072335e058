// SPDX-License-Identifier: Apache-2.0
// Copyright the TaskClock authors
package org.taskclock.monitor.finding;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import com.google.gson.Gson;
import java.io.File;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/** Evaluates the alerts of a finding with promtool, with the rules that were generated for Prometheus. */
final class AlertRules {
    private static final Path RULES = Path.of("../deploy/prometheus/taskclock.rules.yml");

    /** Labels of all series and alerts. */
    private static final String COMMON = "job=\"taskclock\",instance=\"host:10077\",service=\"orders\"";

    private static final Pattern LABEL = Pattern.compile("(\\w+)=\"([^\"]*)\"");
    private static final Pattern SERIES = Pattern.compile("(\\w+)\\{(.*)} (.+)");
    private static final Pattern FIRED = Pattern.compile("\\{(.*?)} (.*)");

    private AlertRules() {}

    /**
     * Checks which alerts a kind of finding raises.
     *
     * @param minutes the minute in which they are compared with those expected
     * @param series one per line: the name, labels besides the common ones, and a value per minute as promtool expects
     * @param expected the alert's name and then, one per line, the labels and the summary of each that fires
     */
    static void check(FindingKind kind, int minutes, String series, String name, String expected) throws Exception {
        boolean isInstalled = false;
        for (String directory : System.getenv("PATH").split(File.pathSeparator, -1))
            isInstalled |= Files.isExecutable(Path.of(directory, "promtool"));
        assumeTrue(isInstalled, "promtool is not installed: install the package prometheus");

        List<Object> inputs = new ArrayList<>();
        for (String line : series.lines().toList()) {
            Matcher parts = match(SERIES, line);
            inputs.add(Map.of(
                    "series", parts.group(1) + "{" + COMMON + "," + parts.group(2) + "}", "values", parts.group(3)));
        }
        Alert alert = kind.alerts().stream()
                .filter(candidate -> candidate.name().equals(name))
                .findFirst()
                .orElseThrow();
        List<Object> fired = new ArrayList<>();
        for (String line : expected.lines().toList()) {
            Matcher parts = match(FIRED, line);
            Map<String, String> labels = new LinkedHashMap<>();
            labels.put("finding", kind.id());
            labels.put("severity", alert.severity().name().toLowerCase(Locale.ROOT));
            LABEL.matcher(COMMON + "," + parts.group(1)).results().forEach(l -> labels.put(l.group(1), l.group(2)));
            Map<String, String> annotations = Map.of(
                    "summary", parts.group(2),
                    "description", kind.meaning() + " " + kind.action(),
                    "runbook_url", "docs/alerts.md#" + kind.id());
            fired.add(Map.of("exp_labels", labels, "exp_annotations", annotations));
        }
        run(Map.of(
                "rule_files", List.of(RULES.toAbsolutePath().normalize().toString()),
                "evaluation_interval", "1m",
                "tests",
                        List.of(Map.of(
                                "interval",
                                "1m",
                                "input_series",
                                inputs,
                                "alert_rule_test",
                                List.of(Map.of(
                                        "eval_time", minutes + "m",
                                        "alertname", name,
                                        "exp_alerts", fired))))));
    }

    private static Matcher match(Pattern pattern, String line) {
        Matcher matcher = pattern.matcher(line);
        assertThat(matcher.matches()).as(line).isTrue();
        return matcher;
    }

    /** JSON is YAML, which promtool reads. */
    private static void run(Map<String, Object> test) throws IOException, InterruptedException {
        Path file = Files.createTempFile("taskclock-alert", ".yml");
        try {
            Files.writeString(file, new Gson().toJson(test));
            Process promtool = new ProcessBuilder("promtool", "test", "rules", file.toString())
                    .redirectErrorStream(true)
                    .start();
            String output = new String(promtool.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
            assertThat(promtool.waitFor())
                    .as("are the rules as generated? " + output)
                    .isZero();
        } finally {
            Files.delete(file);
        }
    }
}
