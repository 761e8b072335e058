// SPDX-License-Identifier: Apache-2.0
// Copyright the TaskClock authors
package org.taskclock.deploy;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.taskclock.monitor.finding.FindingKind;
import org.taskclock.monitor.finding.FindingKinds;

class RulesTest {
    private static final String PAGE = "docs/alerts.md";
    private static final Pattern FIRED = Pattern.compile("AlertRules\\.check\\([^;]*\"(\\w+)\", \"\"\"");
    private static final Pattern TEMPLATE_LABEL = Pattern.compile("\\$labels\\.(\\w+)");

    @Test
    void shouldBeValidForPromtool() throws Exception {
        Programs.assumeInstalled("promtool", "prometheus");
        for (String name : Rules.NAMES)
            Programs.run(Rules.DIRECTORY, "promtool", "check", "rules", name + ".rules.yml")
                    .assertSuccess();
        Programs.run(Rules.DIRECTORY, "promtool", "check", "config", "prometheus.yml")
                .assertSuccess();
    }

    @Test
    void shouldPassTheirTests() throws Exception {
        Programs.assumeInstalled("promtool", "prometheus");
        for (String name : Rules.NAMES) {
            Programs.Output output = Programs.run(Rules.DIRECTORY, "promtool", "test", "rules", name + ".test.yml");
            output.assertSuccess();
            assertThat(output.text()).contains("SUCCESS");
        }
    }

    @Test
    void shouldHaveATestInWhichEachAlertFiresAndOneForEachRecordedMetric() throws IOException {
        Set<String> fired = new HashSet<>();
        Set<String> evaluated = new HashSet<>();
        List<Map<String, Object>> tests = new ArrayList<>();
        for (String name : Rules.NAMES)
            tests.addAll(Rules.list(Rules.yaml(Rules.DIRECTORY.resolve(name + ".test.yml")), "tests"));
        for (Map<String, Object> test : tests) {
            for (Map<String, Object> alert : Rules.list(test, "alert_rule_test"))
                if (!Rules.list(alert, "exp_alerts").isEmpty()) fired.add((String) alert.get("alertname"));
            for (Map<String, Object> query : Rules.list(test, "promql_expr_test"))
                evaluated.addAll(new Expression((String) query.get("expr")).metrics.keySet());
        }
        fired.addAll(testedWithTheirFindings());
        for (Map<String, Object> rule : Rules.with("alert"))
            if (!isOfServe(rule)) assertThat(fired).contains((String) rule.get("alert"));
        // The alerts on garbage collection test this one.
        evaluated.add("jvm_kind:taskclock_thread_cpu_time_seconds:rate5m");
        for (Map<String, Object> rule : Rules.with("record"))
            assertThat(evaluated).contains((String) rule.get("record"));
    }

    /** Returns whether serve knows the condition. One test in the module of the findings is of all of these. */
    private static boolean isOfServe(Map<String, Object> rule) {
        return ((String) rule.get("expr")).contains("taskclock_finding");
    }

    /** Returns the alerts that fire in the test of a finding. */
    private static Set<String> testedWithTheirFindings() throws IOException {
        Set<String> fired = new HashSet<>();
        try (Stream<Path> files = Files.list(Path.of("../monitor/src/test/java/org/taskclock/monitor/finding"))) {
            for (Path file : (Iterable<Path>) files::iterator)
                FIRED.matcher(Files.readString(file)).results().forEach(match -> fired.add(match.group(1)));
        }
        assertThat(fired).isNotEmpty();
        return fired;
    }

    @Test
    void shouldUseOnlyMetricsAndLabelsThatExist() throws IOException {
        List<Map<String, Object>> rules = new ArrayList<>(Rules.with("record"));
        rules.addAll(Rules.with("alert"));
        assertThat(rules).hasSizeGreaterThan(10);
        for (Map<String, Object> rule : rules) {
            Expression expression = new Expression((String) rule.get("expr"));
            assertThat(expression.metrics).as(rule.toString()).isNotEmpty();
            expression.metrics.forEach((metric, labels) -> {
                try {
                    assertThat(Rules.labels()).as(rule.toString()).containsKey(metric);
                    assertThat(Rules.labels().get(metric)).as(metric).containsAll(labels);
                } catch (IOException e) {
                    throw new AssertionError(e);
                }
            });
            assertThat(Rules.allLabels()).as(rule.toString()).containsAll(expression.grouping);
        }
    }

    @Test
    void shouldUseOnlyLabelsThatExistInTexts() throws IOException {
        for (Map<String, Object> rule : Rules.with("alert")) {
            Matcher labels =
                    TEMPLATE_LABEL.matcher(Rules.strings(rule, "annotations").toString());
            while (labels.find()) assertThat(Rules.allLabels()).contains(labels.group(1));
        }
    }

    @Test
    void shouldHaveTheTextsOfFindingsAndOfTheirSections() throws IOException {
        Map<String, String> sections = sections();
        for (Map<String, Object> rule : Rules.with("alert")) {
            Map<String, String> annotations = Rules.strings(rule, "annotations");
            String[] link = annotations.get("runbook_url").split("#", 2);
            assertThat(link[0]).isEqualTo(PAGE);
            String section = sections.get(link[1]);
            assertThat(section).as(link[1]).startsWith(annotations.get("description"));
            if (!isOfServe(rule)) assertThat(section).contains((String) rule.get("alert"));
        }
    }

    @Test
    void shouldDescribeEachFindingAsTopDoes() throws IOException {
        Map<String, String> sections = sections();
        for (FindingKind kind : FindingKinds.ALL)
            assertThat(sections.get(kind.id())).as(kind.id()).startsWith(kind.meaning() + " " + kind.action());
    }

    /** Returns the text of each section of the page, without line breaks and marks of code. */
    private static Map<String, String> sections() throws IOException {
        Map<String, String> sections = new LinkedHashMap<>();
        String page = Files.readString(Path.of("..", PAGE));
        for (String section : page.split("(?m)^## ", -1)) {
            String[] parts = section.split("\n", 2);
            sections.put(
                    parts[0], parts[1].replace("`", "").replaceAll("\\s+", " ").trim());
        }
        return sections;
    }
}
