// SPDX-License-Identifier: Apache-2.0
// Copyright the TaskClock authors
package org.taskclock.cli;

import java.io.IOException;
import java.time.ZoneId;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.taskclock.monitor.profile.Profile;
import org.taskclock.report.ReportPage;
import org.taskclock.report.Result;

/** Renders a profile as a self-contained HTML page. */
final class ProfilePage {
    private static final int MAX_METHODS = 50;

    private static final String COUNTS = "The counts are microseconds of CPU time, not samples.";

    private ProfilePage() {}

    /** @param arguments the arguments that repeat the profile */
    static String of(Profile profile, List<String> arguments) throws IOException {
        List<List<Object>> rows = new ArrayList<>();
        for (Profile.Method method :
                profile.methods().stream().limit(MAX_METHODS).toList()) {
            rows.add(List.of(method.name(), profile.percent(method.selfNanos()), profile.percent(method.totalNanos())));
        }
        List<Result.Column> columns = List.of(
                new Result.Column("method", ""), new Result.Column("self", "%"), new Result.Column("total", "%"));
        Map<String, String> properties = new LinkedHashMap<>();
        properties.put("process", profile.program() + ", pid " + profile.pid());
        properties.put("threads", profile.threads());
        properties.put("source", profile.source());
        List<String> command = new ArrayList<>(List.of("taskclock"));
        command.addAll(arguments);
        String summary = String.join("\n\n", ProfileText.summary(profile));
        Result result = new Result(
                Result.FORMAT,
                "profile",
                profile.program() + ", " + profile.threads(),
                profile.end().minusNanos(profile.intervalNanos()).toString(),
                profile.end().toString(),
                true,
                command,
                properties,
                List.of(),
                List.of(),
                List.of(),
                List.of(),
                List.of(new Result.Table("Methods", summary, columns, rows)),
                List.of(),
                List.of(),
                List.of(),
                Map.of(),
                List.of(new Result.FlameGraph("Flame graph", COUNTS, profile.collapsed())),
                Map.of());
        return ReportPage.of(List.of(result), List.of(), ZoneId.systemDefault());
    }
}
