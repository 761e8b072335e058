// SPDX-License-Identifier: Apache-2.0
// Copyright the TaskClock authors
package org.taskclock.cli;

import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import org.taskclock.monitor.profile.Profile;

/** Formats a profile as lines of text: a summary, and a table of methods or a flame graph. */
final class ProfileText {
    /** The width of a flame graph if the output is not a screen. */
    static final int WIDTH = 120;

    private ProfileText() {}

    /**
     * Returns the text.
     *
     * @param limit maximum number of methods; 0 for all
     */
    static String of(Profile profile, boolean flame, int limit, int width) {
        List<String> lines = new ArrayList<>(summary(profile));
        lines.add("");
        lines.addAll(flame ? FlameText.of(profile, width) : methods(profile, limit));
        return String.join("\n", lines) + "\n";
    }

    static List<String> summary(Profile profile) {
        List<String> lines = new ArrayList<>();
        lines.add(String.format(
                Locale.ROOT,
                "%s%s, %s, %.1f s",
                profile.pid() == 0 ? "" : "process " + profile.pid() + " ",
                CellFormat.sanitize(profile.program()),
                CellFormat.sanitize(profile.threads()),
                profile.intervalNanos() / 1e9));
        String cpu = String.format(Locale.ROOT, "CPU %.1f %% of a core", percentOfCore(profile, profile.cpuNanos()));
        String parts = String.format(
                Locale.ROOT,
                ": user %.1f, system %.1f",
                percentOfCore(profile, profile.userNanos()),
                percentOfCore(profile, profile.cpuNanos() - profile.userNanos()));
        lines.add(profile.userNanos() < 0 ? cpu : cpu + parts);
        lines.add(source(profile));
        String calls = profile.describeSystemCalls();
        if (!calls.isEmpty()) lines.add("system calls: " + CellFormat.sanitize(calls));
        for (String note : profile.notes()) lines.add("note: " + CellFormat.sanitize(note));
        return lines;
    }

    static double percentOfCore(Profile profile, long nanos) {
        return 100.0 * nanos / profile.intervalNanos();
    }

    /** Returns the source, the number of samples, and what they cover. */
    static String source(Profile profile) {
        StringBuilder text = new StringBuilder("source: " + profile.source() + ", ");
        text.append(String.format(Locale.ROOT, "%,d samples", profile.samples()));
        if (profile.periodNanos() > 0) text.append(", one per ").append(millis(profile.periodNanos()));
        if (profile.coveredPercent() >= 0) {
            text.append(
                    String.format(Locale.ROOT, ", which stand for %.1f %% of this CPU time", profile.coveredPercent()));
        }
        return text.toString();
    }

    private static String millis(long nanos) {
        return nanos % 1_000_000 == 0 ? nanos / 1_000_000 + " ms" : nanos / 1e6 + " ms";
    }

    static List<String> methods(Profile profile, int limit) {
        List<Profile.Method> methods = profile.methods();
        if (methods.isEmpty()) return List.of("No samples: these threads used little or no CPU time.");
        List<String> lines = new ArrayList<>();
        lines.add("  self %  total %  method");
        int count = limit == 0 ? methods.size() : Math.min(limit, methods.size());
        for (Profile.Method method : methods.subList(0, count)) {
            lines.add(String.format(
                    Locale.ROOT,
                    "%8.1f %8.1f  %s",
                    profile.percent(method.selfNanos()),
                    profile.percent(method.totalNanos()),
                    CellFormat.sanitize(method.name())));
        }
        return lines;
    }
}
