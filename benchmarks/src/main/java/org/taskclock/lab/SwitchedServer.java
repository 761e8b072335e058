// SPDX-License-Identifier: Apache-2.0
// Copyright the TaskClock authors
package org.taskclock.lab;

import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.StringJoiner;
import java.util.function.ToDoubleFunction;
import org.apache.commons.math3.distribution.TDistribution;
import org.apache.commons.math3.stat.descriptive.SummaryStatistics;
import org.taskclock.report.Result;

/** What accounting changes for a server that goes on meanwhile: turns with it against the turns beside them without it. */
final class SwitchedServer {
    private static final double MOST_PERCENT = 2;
    private static final double CONFIDENCE = 0.95;

    /** A change in percent, and how far off it may be. */
    record Change(double percent, double error) {
        boolean isWithin(double most) {
            return Math.abs(percent) + error < most;
        }

        boolean isBeyond(double most) {
            return Math.abs(percent) - error > most;
        }

        @Override
        public String toString() {
            return String.format(Locale.ROOT, "%+.2f %% \u00b1 %.2f", percent, error);
        }
    }

    private final List<Server.Figures> on = new ArrayList<>();
    private final List<Server.Figures> off = new ArrayList<>();

    /** Two turns beside each other make a pair; one that is left over is left out. */
    SwitchedServer(List<Server.Figures> turns) {
        for (int i = 0; i + 1 < turns.size(); i += 2) {
            boolean onFirst = turns.get(i).accounting();
            on.add(turns.get(onFirst ? i : i + 1));
            off.add(turns.get(onFirst ? i + 1 : i));
        }
    }

    private static double requestsASecond(Server.Figures turn) {
        return turn.requests() / turn.seconds();
    }

    private static double microsARequest(Server.Figures turn) {
        return turn.cpuNanos() / 1e3 / turn.requests();
    }

    private static double mean(List<Server.Figures> turns, ToDoubleFunction<Server.Figures> value) {
        return turns.stream().mapToDouble(value).average().orElse(Double.NaN);
    }

    /** Mean of the pairs' changes, by Student's distribution; an error of NaN for fewer than two. */
    Change change(ToDoubleFunction<Server.Figures> value) {
        SummaryStatistics changes = new SummaryStatistics();
        for (int i = 0; i < on.size(); i++)
            changes.addValue(100 * (value.applyAsDouble(on.get(i)) / value.applyAsDouble(off.get(i)) - 1));
        if (on.size() < 2) return new Change(changes.getMean(), Double.NaN);
        double wide = new TDistribution(on.size() - 1).inverseCumulativeProbability((1 + CONFIDENCE) / 2);
        return new Change(changes.getMean(), wide * changes.getStandardDeviation() / Math.sqrt(on.size()));
    }

    Change throughput() {
        return change(SwitchedServer::requestsASecond);
    }

    Change cpu() {
        return change(SwitchedServer::microsARequest);
    }

    static Result.Table table(Map<String, List<Server.Figures>> byJdk) {
        List<List<Object>> rows = new ArrayList<>();
        byJdk.forEach((jdk, turns) -> {
            SwitchedServer server = new SwitchedServer(turns);
            if (server.on.isEmpty()) return;
            rows.add(row("requests a second", jdk, server, SwitchedServer::requestsASecond));
            rows.add(row("us of CPU time a request", jdk, server, SwitchedServer::microsARequest));
        });
        List<Result.Column> columns = YieldTables.columns("what", "", "JDK", "", "pairs of turns", "");
        columns.addAll(YieldTables.columns("with accounting", "", "without", "", "change", "%", "give or take", "%"));
        return new Result.Table(
                "A server whose accounting is switched on and off",
                "Means; the change is the mean of the pairs', with its 95 % confidence interval.",
                columns,
                rows);
    }

    private static List<Object> row(
            String what, String jdk, SwitchedServer server, ToDoubleFunction<Server.Figures> value) {
        Change change = server.change(value);
        List<Object> row =
                new ArrayList<>(List.of(what, jdk, server.on.size(), mean(server.on, value), mean(server.off, value)));
        row.add(change.percent);
        row.add(YieldTables.known(change.error));
        return row;
    }

    static Result.Finding finding(Map<String, List<Server.Figures>> byJdk) {
        Map<String, Change> changes = new LinkedHashMap<>();
        byJdk.forEach((jdk, turns) -> {
            Change change = new SwitchedServer(turns).throughput();
            if (Double.isFinite(change.error)) changes.put(jdk, change);
        });
        StringJoiner text = new StringJoiner("; ", "", changes.isEmpty() ? "" : ".");
        changes.forEach((jdk, change) -> text.add("JDK " + jdk + ": " + change));
        String verdict = Claim.CANNOT_TELL;
        if (changes.isEmpty()) verdict = Claim.NOT_MEASURED;
        else if (changes.values().stream().allMatch(change -> change.isWithin(MOST_PERCENT))) verdict = Claim.CONFIRMED;
        else if (changes.values().stream().anyMatch(change -> change.isBeyond(MOST_PERCENT)))
            verdict = Claim.CONTRADICTED;
        return new Result.Finding(
                "Accounting for virtual threads changes a server's throughput by less than 2 %",
                "TaskClock", verdict, text.toString());
    }
}
