// SPDX-License-Identifier: Apache-2.0
// Copyright the TaskClock authors
package org.taskclock.cli;

import com.google.gson.Gson;
import com.google.gson.GsonBuilder;
import java.util.List;
import java.util.Locale;
import org.taskclock.monitor.profile.MethodComparison;
import org.taskclock.monitor.profile.Profile;

/** Formats the comparison of two time ranges by method. */
final class MethodChanges {
    private static final Gson GSON = new GsonBuilder().disableHtmlEscaping().create();

    private MethodChanges() {}

    private record Method(
            String method, double selfPercentA, double selfPercentB, double totalPercentA, double totalPercentB) {}

    private record Json(
            String name,
            String threads,
            String fromA,
            String toA,
            String fromB,
            String toB,
            double secondsA,
            double secondsB,
            double cpuPercentA,
            double cpuPercentB,
            List<Method> methods) {}

    /** @param limit maximum number of methods; 0 for all */
    static String text(ProfileHistory.Part a, ProfileHistory.Part b, int limit) {
        StringBuilder text = new StringBuilder();
        text.append(CellFormat.sanitize(b.profile().program()))
                .append(", ")
                .append(CellFormat.sanitize(b.profile().threads()))
                .append(", CPU in % of one core\n");
        append(text, "A", a);
        append(text, "B", b);
        text.append("\n  self A  self B  change  total A total B  change  method\n");
        List<MethodComparison.Change> changes = MethodComparison.of(a.profile(), b.profile());
        int count = limit == 0 ? changes.size() : Math.min(limit, changes.size());
        for (MethodComparison.Change change : changes.subList(0, count)) {
            text.append(String.format(
                    Locale.ROOT,
                    "%8.2f%8.2f%+8.2f %8.2f%8.2f%+8.2f  %s%n",
                    100 * change.selfA(),
                    100 * change.selfB(),
                    100 * change.self(),
                    100 * change.totalA(),
                    100 * change.totalB(),
                    100 * change.total(),
                    CellFormat.sanitize(change.name())));
        }
        return text.toString();
    }

    private static void append(StringBuilder text, String name, ProfileHistory.Part part) {
        text.append(String.format(
                Locale.ROOT,
                "%s: %s to %s, of which %.0f min were profiled, CPU %.1f %%%n",
                name,
                ProfileHistory.local(part.from()),
                ProfileHistory.local(part.to()),
                part.profile().intervalNanos() / 60e9,
                cpuPercent(part.profile())));
    }

    private static double cpuPercent(Profile profile) {
        return 100.0 * profile.cpuNanos() / profile.intervalNanos();
    }

    static String json(ProfileHistory.Part a, ProfileHistory.Part b) {
        List<Method> methods = MethodComparison.of(a.profile(), b.profile()).stream()
                .map(change -> new Method(
                        change.name(),
                        100 * change.selfA(),
                        100 * change.selfB(),
                        100 * change.totalA(),
                        100 * change.totalB()))
                .toList();
        return GSON.toJson(new Json(
                        b.profile().program(),
                        b.profile().threads(),
                        a.from().toString(),
                        a.to().toString(),
                        b.from().toString(),
                        b.to().toString(),
                        a.profile().intervalNanos() / 1e9,
                        b.profile().intervalNanos() / 1e9,
                        cpuPercent(a.profile()),
                        cpuPercent(b.profile()),
                        methods))
                + "\n";
    }
}
