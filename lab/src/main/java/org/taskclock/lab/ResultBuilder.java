// SPDX-License-Identifier: Apache-2.0
// Copyright the TaskClock authors
package org.taskclock.lab;

import java.time.Instant;
import java.time.temporal.ChronoUnit;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import org.taskclock.report.Result;

/** Collects the parts of a result. Omits bars that are NaN or infinite, which JSON cannot represent. */
final class ResultBuilder {
    final List<String> method = new ArrayList<>();
    final List<Result.Finding> findings = new ArrayList<>();
    final List<Result.Table> tables = new ArrayList<>();
    final List<Result.Bars> bars = new ArrayList<>();
    final List<Result.Timeline> timelines = new ArrayList<>();

    static String now() {
        return Instant.now().truncatedTo(ChronoUnit.SECONDS).toString();
    }

    Result result(
            String name,
            String started,
            boolean complete,
            List<String> command,
            Map<String, String> machine,
            List<Result.Load> load,
            List<Jdk> homes) {
        List<Result.Jdk> jdks = new ArrayList<>();
        for (Jdk home : homes) jdks.add(new Result.Jdk(home.version(), home.vendor(), List.of()));
        return new Result(
                Result.FORMAT,
                "experiment",
                name,
                started,
                now(),
                complete,
                command,
                machine,
                load,
                jdks,
                method,
                findings,
                tables,
                bars.stream().map(ResultBuilder::finite).toList(),
                List.of(),
                timelines,
                Map.of(),
                List.of(),
                Map.of());
    }

    private static Result.Bars finite(Result.Bars bars) {
        List<Result.Bar> items = bars.items().stream()
                .filter(bar -> Double.isFinite(bar.value()))
                .toList();
        return new Result.Bars(bars.title(), bars.text(), bars.unit(), items);
    }
}
