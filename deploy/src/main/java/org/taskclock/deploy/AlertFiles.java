// SPDX-License-Identifier: Apache-2.0
// Copyright the TaskClock authors
package org.taskclock.deploy;

import java.util.List;
import java.util.Locale;
import java.util.stream.Collectors;
import org.taskclock.monitor.finding.Alert;
import org.taskclock.monitor.finding.FindingKind;
import org.taskclock.monitor.finding.FindingKinds;

/** The alerts of all findings as rules for Prometheus, and as a table. */
final class AlertFiles {
    private static final int MAX_WIDTH = 120;

    private AlertFiles() {}

    static String rules() {
        StringBuilder text = new StringBuilder();
        for (FindingKind kind : FindingKinds.ALL) {
            for (Alert alert : kind.alerts()) {
                if (text.length() > 0) text.append('\n');
                if (!alert.comment().isEmpty()) text.append(wrap("      # ", alert.comment()));
                text.append("      - alert: ").append(alert.name()).append("\n        expr: >-\n");
                alert.condition().lines().forEach(line -> text.append(wrap("          ", line)));
                text.append("        for: ").append(alert.minutes()).append("m\n        labels:\n          finding: ");
                text.append(kind.id()).append("\n          severity: ");
                text.append(alert.severity().name().toLowerCase(Locale.ROOT));
                text.append("\n        annotations:\n          summary: >-\n");
                text.append(wrap("            ", alert.summary())).append("          description: >-\n");
                text.append(wrap("            ", kind.meaning() + " " + kind.action()));
                text.append("          runbook_url: docs/alerts.md#")
                        .append(kind.id())
                        .append('\n');
            }
        }
        return text.toString();
    }

    /** Returns lines with this prefix. YAML joins them with spaces. */
    private static String wrap(String prefix, String text) {
        StringBuilder lines = new StringBuilder();
        StringBuilder line = new StringBuilder(prefix);
        for (String word : text.split(" ", -1)) {
            if (line.length() + word.length() > MAX_WIDTH) {
                lines.append(line.toString().stripTrailing()).append('\n');
                line = new StringBuilder(prefix);
            }
            line.append(word).append(' ');
        }
        return lines.append(line.toString().stripTrailing()).append('\n').toString();
    }

    static String table() {
        StringBuilder text = new StringBuilder("""
                | finding | in `top` | in `serve` | alert | lasting |
                |---|---|---|---|---|
                """);
        for (FindingKind kind : FindingKinds.ALL) {
            List<Alert> alerts = kind.alerts();
            List<String> cells = List.of(
                    "[`" + kind.id() + "`](#" + kind.id() + ")",
                    kind.isOfOneJvm() ? "yes" : "",
                    switch (kind.source()) {
                        case FIGURES, HOST -> "yes";
                        case DUMPS -> "of a watched JVM";
                        case METRICS -> "";
                    },
                    alerts.stream().map(alert -> "`" + alert.name() + "`").collect(Collectors.joining(", ")),
                    alerts.stream().map(alert -> alert.minutes() + " min").collect(Collectors.joining(", ")));
            for (String cell : cells) text.append(cell.isEmpty() ? "| " : "| " + cell + " ");
            text.append("|\n");
        }
        return text.toString();
    }
}
