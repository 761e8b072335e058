// SPDX-License-Identifier: Apache-2.0
// Copyright the TaskClock authors
package org.taskclock.web.webhook;

import java.time.Duration;
import java.time.ZoneOffset;
import java.time.format.DateTimeFormatter;
import org.taskclock.history.JvmKey;
import org.taskclock.monitor.usage.Json;

/** Writes messages for people. */
final class SlackMessage {
    private static final DateTimeFormatter TIME =
            DateTimeFormatter.ofPattern("uuuu-MM-dd HH:mm:ss 'UTC'").withZone(ZoneOffset.UTC);

    private SlackMessage() {}

    static byte[] of(FindingGroup group) {
        StringBuilder text = new StringBuilder();
        JvmKey jvm = group.jvm();
        text.append('*')
                .append(escape(jvm.service()))
                .append("* (pid ")
                .append(jvm.pid())
                .append(" on ");
        text.append(escape(jvm.host())).append(')');
        for (FindingAlert alert : group.alerts()) append(text, alert, group.page());
        if (group.omitted() > 0) text.append("\nand ").append(group.omitted()).append(" more");
        return Json.bytes(
                json -> json.beginObject().name("text").value(text.toString()).endObject());
    }

    private static void append(StringBuilder text, FindingAlert alert, String page) {
        text.append(
                switch (alert.state()) {
                    case FIRING -> "\n:red_circle: ";
                    case ENDED -> "\n:large_green_circle: Ended: ";
                    case UNWATCHED -> "\n:white_circle: No longer watched, because taskclock serve stopped: ";
                });
        text.append(escape(alert.summary())).append("\n      began ").append(TIME.format(alert.start()));
        if (!alert.isFiring())
            text.append(alert.state() == FindingAlert.State.ENDED ? ", lasted " : ", lasted at least ")
                    .append(Duration.between(alert.start(), alert.end()).toSeconds())
                    .append(" s");
        text.append(" · <").append(escape(alert.link(page))).append("|open> · <");
        text.append(alert.runbook()).append("|what to do>");
    }

    /** Slack interprets these characters, as in {@code <!channel>}. */
    private static String escape(String text) {
        return text.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;");
    }
}
