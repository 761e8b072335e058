// SPDX-License-Identifier: Apache-2.0
// Copyright the TaskClock authors
package org.taskclock.deploy;

import static org.assertj.core.api.Assertions.assertThat;

import com.google.gson.JsonElement;
import com.google.gson.JsonObject;
import com.google.gson.JsonParser;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Collection;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

@Tag("slow17")
class DashboardsTest {
    private static final Path GRAFANA = Path.of("grafana");
    private static final Pattern LEGEND_LABEL = Pattern.compile("\\{\\{(\\w+)\\}\\}");
    private static final Pattern LABEL_VALUES = Pattern.compile("label_values\\((.*), (\\w+)\\)");

    @TempDir
    private Path temporary;

    @Test
    void shouldQueryOnlyMetricsAndLabelsThatExist() throws IOException {
        Map<String, Set<String>> known = Rules.labels();
        for (String query : queries()) {
            Expression expression = new Expression(query);
            assertThat(expression.metrics).as(query).isNotEmpty();
            for (Map.Entry<String, Set<String>> metric : expression.metrics.entrySet()) {
                assertThat(known).as(query).containsKey(metric.getKey());
                assertThat(known.get(metric.getKey())).as(query).containsAll(metric.getValue());
            }
            assertThat(Rules.allLabels()).as(query).containsAll(expression.grouping);
        }
    }

    @Test
    void shouldShowOnlyLabelsThatTheirQueriesReturn() {
        for (JsonObject target : targets()) {
            if (!target.has("legendFormat")) continue;
            Expression expression = new Expression(target.get("expr").getAsString());
            Matcher labels = LEGEND_LABEL.matcher(target.get("legendFormat").getAsString());
            while (labels.find())
                assertThat(expression.grouping).as(target.toString()).contains(labels.group(1));
        }
    }

    @Test
    void shouldHaveQueriesThatPrometheusParses() throws Exception {
        Programs.assumeInstalled("promtool", "prometheus");
        StringBuilder rules = new StringBuilder("groups:\n- name: dashboards\n  rules:\n");
        int number = 0;
        for (String query : queries()) {
            String text =
                    query.replaceAll("\\$__rate_interval|\\$__range", "5m").replace("'", "''");
            rules.append("  - record: query_").append(number++).append("\n    expr: '");
            rules.append(text).append("'\n");
        }
        assertThat(number).isGreaterThan(30);
        Path file = Files.writeString(temporary.resolve("queries.yml"), rules);
        Programs.run(temporary, "promtool", "check", "rules", file.toString()).assertSuccess();
    }

    /** Over time, topk chooses others at each point, so that more series are drawn, with gaps. */
    @Test
    void shouldChooseTopSeriesOnlyAtOneTime() {
        assertThat(targets())
                .anyMatch(target -> target.get("expr").getAsString().contains("topk"));
        for (JsonObject target : targets())
            if (target.get("expr").getAsString().contains("topk"))
                assertThat(target.get("range").getAsBoolean())
                        .as(target.toString())
                        .isFalse();
    }

    @Test
    void shouldHavePanelsThatDoNotOverlap() {
        for (JsonObject dashboard : dashboards()) {
            Set<String> cells = new HashSet<>();
            Set<Integer> ids = new HashSet<>();
            for (JsonElement element : dashboard.getAsJsonArray("panels")) {
                JsonObject panel = element.getAsJsonObject();
                assertThat(ids.add(panel.get("id").getAsInt())).isTrue();
                JsonObject position = panel.getAsJsonObject("gridPos");
                int x = position.get("x").getAsInt();
                int y = position.get("y").getAsInt();
                int width = position.get("w").getAsInt();
                assertThat(x + width).isLessThanOrEqualTo(24);
                for (int i = x; i < x + width; i++)
                    for (int j = y; j < y + position.get("h").getAsInt(); j++)
                        assertThat(cells.add(i + "," + j))
                                .as(panel.get("title").getAsString())
                                .isTrue();
            }
        }
    }

    @Test
    void shouldSatisfyTheTypesThatGrafanaPublishes() throws Exception {
        installTypes();
        Programs.Output output = check(GeneratedFiles.dashboards().values());
        output.assertSuccess();
        assertThat(output.text().lines())
                .hasSameSizeAs(GeneratedFiles.dashboards().keySet());
    }

    @Test
    void shouldBeRejectedWithAnUnknownOption() throws Exception {
        installTypes();
        String fleet = GeneratedFiles.dashboards().get("taskclock-fleet.json");
        List<String> wrong = List.of(
                fleet.replace("\"graphTooltip\"", "\"graphTooltips\""),
                fleet.replace("\"graphMode\": \"area\"", "\"graphMode\": \"areas\""),
                fleet.replace("\"showPoints\"", "\"showsPoints\""),
                fleet.replace("\"legendFormat\"", "\"legend\""));
        Programs.Output output = check(wrong);
        assertThat(output.exitCode()).as(output.text()).isEqualTo(1);
        for (int i = 0; i < wrong.size(); i++)
            assertThat(output.text()).containsPattern("/dashboard" + i + "\\.json: [1-9][0-9]* errors\n");
    }

    /** Checks all of them in one process, because loading the types takes most of the time. */
    private Programs.Output check(Collection<String> dashboards) throws Exception {
        List<String> command = new ArrayList<>(List.of("node", "check.mjs"));
        for (String dashboard : dashboards) {
            Path file = temporary.resolve("dashboard" + (command.size() - 2) + ".json");
            command.add(Files.writeString(file, dashboard).toAbsolutePath().toString());
        }
        return Programs.run(Path.of("target", "grafana-types"), command.toArray(String[]::new));
    }

    /** Installs Grafana's types and the compiler. They are kept until the next {@code mvn clean}. */
    private static void installTypes() throws Exception {
        Programs.assumeInstalled("npm", "npm");
        Path directory = Files.createDirectories(Path.of("target", "grafana-types"));
        Path installed = directory.resolve("package.json");
        String wanted = Files.readString(GRAFANA.resolve("schema/package.json"));
        Files.writeString(directory.resolve("check.mjs"), Files.readString(GRAFANA.resolve("schema/check.mjs")));
        if (Files.exists(installed) && Files.readString(installed).equals(wanted)) return;
        Path descriptor = Files.writeString(directory.resolve("package.json"), wanted);
        Programs.Output output = Programs.run(
                directory, "npm", "install", "--no-package-lock", "--no-audit", "--no-fund", "--ignore-scripts");
        if (output.exitCode() != 0) Files.delete(descriptor);
        output.assertSuccess();
    }

    private static List<JsonObject> dashboards() {
        return GeneratedFiles.dashboards().values().stream()
                .map(text -> JsonParser.parseString(text).getAsJsonObject())
                .toList();
    }

    private static List<JsonObject> targets() {
        List<JsonObject> targets = new ArrayList<>();
        for (JsonObject dashboard : dashboards())
            for (JsonElement panel : dashboard.getAsJsonArray("panels"))
                for (JsonElement target : panel.getAsJsonObject().getAsJsonArray("targets"))
                    targets.add(target.getAsJsonObject());
        return targets;
    }

    /** Returns all expressions of panels, and the selectors of variables. */
    private static List<String> queries() {
        List<String> queries = new ArrayList<>();
        for (JsonObject target : targets()) queries.add(target.get("expr").getAsString());
        for (JsonObject dashboard : dashboards()) {
            for (JsonElement element : dashboard.getAsJsonObject("templating").getAsJsonArray("list")) {
                JsonObject variable = element.getAsJsonObject();
                if (!variable.get("type").getAsString().equals("query")) continue;
                Matcher values = LABEL_VALUES.matcher(
                        variable.getAsJsonObject("query").get("query").getAsString());
                assertThat(values.matches()).isTrue();
                queries.add(values.group(1));
            }
        }
        return queries;
    }
}
