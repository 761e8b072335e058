// SPDX-License-Identifier: Apache-2.0
// Copyright the TaskClock authors
package org.taskclock.web.webhook;

import java.nio.charset.StandardCharsets;
import java.time.Instant;
import java.util.Locale;
import java.util.Map;
import java.util.TreeMap;
import java.util.UUID;
import java.util.stream.Collectors;
import org.taskclock.history.JvmKey;
import org.taskclock.monitor.finding.Alert;
import org.taskclock.monitor.finding.DatedFinding;
import org.taskclock.monitor.finding.Finding;
import org.taskclock.monitor.finding.FindingKind;

/**
 * A finding as an alert.
 *
 * @param end when it was last seen; while it lasts, when receivers may assume that it has ended if they hear nothing
 */
record FindingAlert(JvmKey jvm, DatedFinding dated, State state, Instant end) {
    /** Whether it lasts. */
    enum State {
        FIRING,
        ENDED,
        /** It may have lasted longer, because this server stopped. */
        UNWATCHED
    }

    FindingAlert with(State newState, Instant newEnd) {
        return new FindingAlert(jvm, dated, newState, newEnd);
    }

    private static final String RUNBOOK = "https://github.com/taskclock/taskclock/blob/main/docs/alerts.md#";

    /** Programs choose the names in the texts. */
    private static final int MAX_TEXT = 1_000;

    /** Returns what identifies the finding among those of all JVMs. */
    static String key(JvmKey jvm, Finding finding) {
        return jvm.id() + " " + DatedFinding.key(finding);
    }

    String key() {
        return key(jvm, finding());
    }

    Finding finding() {
        return dated.finding();
    }

    Instant start() {
        return dated.since();
    }

    boolean isFiring() {
        return state == State.FIRING;
    }

    /** Returns the labels, which do not change while the finding lasts. */
    Map<String, String> labels() {
        Map<String, String> labels = new TreeMap<>(groupLabels(jvm));
        FindingKind kind = finding().kind();
        Alert alert = kind.alerts().get(0);
        labels.put("alertname", alert.name());
        labels.put("severity", alert.severity().name().toLowerCase(Locale.ROOT));
        labels.put("finding", kind.id());
        String subject = finding().subject();
        if (!subject.isEmpty()) labels.put(finding().tid() == 0 ? "pool" : "thread", limited(subject));
        return labels;
    }

    /** Returns the labels of all findings of a JVM. */
    static Map<String, String> groupLabels(JvmKey jvm) {
        return Map.of(
                "instance", jvm.host(),
                "jvm", jvm.id(),
                "pid", Long.toString(jvm.pid()),
                "service", limited(jvm.service()));
    }

    Map<String, String> annotations() {
        Map<String, String> annotations = new TreeMap<>();
        annotations.put("summary", summary());
        String evidence = finding().evidence().stream().limit(10).collect(Collectors.joining("\n"));
        FindingKind kind = finding().kind();
        annotations.put("description", limited(evidence.isEmpty() ? kind.meaning() : evidence));
        if (!kind.action().isEmpty()) annotations.put("action", kind.action());
        annotations.put("runbook_url", runbook());
        if (state == State.UNWATCHED) annotations.put("ended", "unknown: taskclock serve stopped");
        return annotations;
    }

    String summary() {
        return limited(finding().text());
    }

    String runbook() {
        return RUNBOOK + finding().kind().id();
    }

    /** Returns the address of the second in which it began. */
    String link(String page) {
        return page + "#/jvm/" + jvm.id() + "?from=" + (start().toEpochMilli() - 120_000) + "&to="
                + (start().toEpochMilli() + 180_000) + "&begin=" + start().toEpochMilli();
    }

    /** Returns what receivers recognize an alert by. */
    String fingerprint() {
        byte[] labels = labels().toString().getBytes(StandardCharsets.UTF_8);
        return UUID.nameUUIDFromBytes(labels).toString().replace("-", "").substring(0, 16);
    }

    private static String limited(String text) {
        return text.length() <= MAX_TEXT ? text : text.substring(0, MAX_TEXT) + "...";
    }
}
