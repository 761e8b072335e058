// SPDX-License-Identifier: Apache-2.0
// Copyright the TaskClock authors
package org.taskclock.benchmarks;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Set;

/** Prints the goals and all measurements as Markdown. Arguments: JSON files of JMH. */
public final class Goals {
    private Goals() {}

    public static void main(String[] files) throws IOException {
        if (files.length == 0) {
            System.err.println("taskclock: goals: missing argument: specify JSON files written by JMH");
            System.exit(2);
        }
        List<String> jsons = new ArrayList<>();
        for (String file : files) jsons.add(Files.readString(Path.of(file)));
        System.out.print(markdown(JmhResults.parse(jsons)));
    }

    static String markdown(List<JmhResults> all) {
        return "Times are medians of all iterations of all forks. Goals are those of the backend in use.\n\n"
                + goals(all).markdown()
                + "\nns per operation: median (10th percentile); bytes allocated.\n\n"
                + measurements(all).markdown();
    }

    private static TextTable goals(List<JmhResults> all) {
        TextTable table = table("goal", all, "met");
        for (Goal goal : Goal.ALL) {
            if (all.stream().noneMatch(goal.backends()::include)) continue;
            List<String> row = new ArrayList<>(List.of(goal.text()));
            for (JmhResults results : all) {
                Goal.Verdict verdict = verdict(goal, results);
                row.add(verdict.measured());
                row.add(verdict.met());
            }
            table.add(row);
        }
        return table;
    }

    private static Goal.Verdict verdict(Goal goal, JmhResults results) {
        if (!goal.backends().include(results)) return Goal.Verdict.NOT_APPLICABLE;
        if (!goal.benchmarks().stream().allMatch(results::has)) return new Goal.Verdict("", "not measured");
        return goal.check().apply(results);
    }

    private static TextTable measurements(List<JmhResults> all) {
        TextTable table = table("benchmark", all, "bytes");
        Set<String> keys = new LinkedHashSet<>();
        for (JmhResults results : all) keys.addAll(results.keys());
        for (String key : keys) {
            List<String> row = new ArrayList<>(List.of(key));
            for (JmhResults results : all) {
                row.add(results.has(key) ? times(results, key) : "");
                row.add(results.has(key) ? Goal.format("%.1f", results.bytes(key)) : "");
            }
            table.add(row);
        }
        return table;
    }

    private static String times(JmhResults results, String key) {
        String number = results.nanos(key) < 100 ? "%.1f" : "%,.0f";
        return Goal.format(number + " (" + number + ")", results.nanos(key), results.quantile(key, 0.1));
    }

    private static TextTable table(String first, List<JmhResults> all, String last) {
        List<String> headings = new ArrayList<>(List.of(first));
        for (JmhResults results : all) {
            headings.add("JDK " + results.jdk() + " (" + (results.isFfm() ? "FFM" : "JNI") + "), " + results.backend());
            headings.add(last);
        }
        return new TextTable(headings.toArray(String[]::new));
    }
}
