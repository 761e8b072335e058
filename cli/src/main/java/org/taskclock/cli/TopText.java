// SPDX-License-Identifier: Apache-2.0
// Copyright the TaskClock authors
package org.taskclock.cli;

import java.time.ZoneId;
import java.time.format.DateTimeFormatter;
import java.util.List;
import java.util.Locale;
import org.taskclock.watch.Diagnosis;
import org.taskclock.watch.Frame;
import org.taskclock.watch.Row;
import org.taskclock.watch.Totals;

/** An interval as plain text. */
final class TopText {
    private static final DateTimeFormatter TIME =
            DateTimeFormatter.ofPattern("HH:mm:ss", Locale.ROOT).withZone(ZoneId.systemDefault());

    private static final String BOLD = "1";
    private static final String RED = "31";

    private final boolean color;

    TopText(boolean color) {
        this.color = color;
    }

    String of(Frame frame, List<Row> shown) {
        StringBuilder text = new StringBuilder();
        header(text, frame);
        line(
                text,
                BOLD,
                String.format(
                        Locale.ROOT,
                        "%7s %6s %6s %6s %6s %8s %8s %c %-8s %s",
                        "TID",
                        "CPU%",
                        "USER%",
                        "SYS%",
                        "WAIT%",
                        "VOL/s",
                        "INVOL/s",
                        'S',
                        "KIND",
                        "NAME"));
        for (Row row : shown) row(text, frame, row);
        int hidden = frame.rows().size() - shown.size();
        for (Diagnosis diagnosis : frame.diagnoses()) {
            line(text, RED, "! " + diagnosis.kind() + ": " + diagnosis.text());
            for (String evidence : diagnosis.evidence()) line(text, "", "    " + evidence);
        }
        for (String note : frame.notes()) line(text, "", "* " + note);
        line(
                text,
                "",
                String.format(
                        Locale.ROOT,
                        "%,d threads%s; taskclock itself used %.1f %% of a core",
                        frame.rows().stream()
                                .mapToInt(r -> r.kind() == Row.Kind.VIRTUAL ? 0 : r.threads())
                                .sum(),
                        hidden > 0 ? String.format(Locale.ROOT, ", %,d rows not shown", hidden) : "",
                        frame.percent(frame.totals().ownNanos())));
        return text.append('\n').toString();
    }

    private void header(StringBuilder text, Frame frame) {
        Totals totals = frame.totals();
        line(
                text,
                BOLD,
                String.format(
                        Locale.ROOT,
                        "%s  %s (%d), %.1f s%s",
                        TIME.format(frame.end()),
                        frame.name(),
                        frame.pid(),
                        frame.intervalNanos() / 1e9,
                        frame.source().equals("agent") ? ", with the agent" : ""));
        long system = totals.processNanos() - totals.processUserNanos();
        StringBuilder all = new StringBuilder(String.format(
                Locale.ROOT,
                "process %.1f %% (user %.1f, system %.1f)",
                frame.percent(totals.processNanos()),
                frame.percent(totals.processUserNanos()),
                frame.percent(system)));
        if (totals.containerCores() > 0) {
            all.append(String.format(
                    Locale.ROOT,
                    " = %.0f %% of the limit",
                    frame.percent(totals.processNanos()) / totals.containerCores()));
        }
        if (totals.containerNanos() >= 0 || totals.containerCores() > 0) {
            all.append(", container");
            if (totals.containerNanos() >= 0) {
                all.append(String.format(Locale.ROOT, " %.1f %%", frame.percent(totals.containerNanos())));
            }
            if (totals.containerCores() > 0) {
                all.append(String.format(Locale.ROOT, " of %.0f %%", 100 * totals.containerCores()));
            }
            if (totals.throttledNanos() > 0) {
                all.append(String.format(Locale.ROOT, ", throttled %.0f ms", totals.throttledNanos() / 1e6));
            }
        }
        all.append(String.format(
                Locale.ROOT,
                ", machine %.1f of %d %%",
                frame.percent(totals.machineNanos()),
                100 * totals.processors()));
        line(text, "", all.toString());
    }

    private void row(StringBuilder text, Frame frame, Row row) {
        double seconds = frame.intervalNanos() / 1e9;
        // ~ : there is more to the name than the kernel keeps.
        String mark = row.cut() && row.name().length() >= 15 ? "~" : "";
        String many = row.threads() == 1 ? "" : String.format(Locale.ROOT, " (%,d)", row.threads());
        line(
                text,
                "",
                String.format(
                        Locale.ROOT,
                        "%7s %6s %6s %6s %6s %8s %8s %c %-8s %s",
                        row.tid() == 0 ? "-" : Integer.toString(row.tid()),
                        percent(frame, row.cpuNanos()),
                        percent(frame, row.userNanos()),
                        percent(frame, row.systemNanos()),
                        percent(frame, row.waitNanos()),
                        rate(row.voluntary(), seconds),
                        rate(row.involuntary(), seconds),
                        row.state(),
                        row.kind().name().toLowerCase(Locale.ROOT),
                        printable(row.name()) + mark + many));
    }

    private static String percent(Frame frame, long nanos) {
        return nanos < 0 ? "-" : String.format(Locale.ROOT, "%.1f", frame.percent(nanos));
    }

    private static String rate(long count, double seconds) {
        return count < 0 ? "-" : String.format(Locale.ROOT, "%.0f", count / seconds);
    }

    /** A name may hold anything, line ends and escape sequences too. */
    private static String printable(String name) {
        return name.codePoints()
                .map(c -> Character.isISOControl(c) ? '?' : c)
                .collect(StringBuilder::new, StringBuilder::appendCodePoint, StringBuilder::append)
                .toString();
    }

    private void line(StringBuilder text, String style, String line) {
        if (!color || style.isEmpty()) text.append(line).append('\n');
        else text.append("\u001b[").append(style).append('m').append(line).append("\u001b[m\n");
    }
}
