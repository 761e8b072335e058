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

/** Prints, as Markdown, which goals were met, and all that was measured. Arguments: JMH's JSON files. */
public final class Goals {
    private Goals() {}

    public static void main(String[] files) throws IOException {
        if (files.length == 0) {
            System.err.println("taskclock: goals: no file given: name JSON files that JMH wrote");
            System.exit(2);
        }
        List<String> jsons = new ArrayList<>();
        for (String file : files) jsons.add(Files.readString(Path.of(file)));
        System.out.print(markdown(Results.parse(jsons)));
    }

    static String markdown(List<Results> all) {
        return "Times are medians of all iterations of all forks. Goals are those of the rung in use.\n\n"
                + goals(all).markdown()
                + "\nns for each operation: median (lowest tenth), bytes allocated.\n\n"
                + measurements(all).markdown();
    }

    private static Table goals(List<Results> all) {
        Table table = table("goal", all, "met");
        for (Goal goal : Goal.ALL) {
            if (all.stream().noneMatch(goal.rungs()::has)) continue;
            List<String> row = new ArrayList<>(List.of(goal.text()));
            for (Results results : all) {
                Goal.Verdict verdict = verdict(goal, results);
                row.add(verdict.measured());
                row.add(verdict.met());
            }
            table.add(row);
        }
        return table;
    }

    private static Goal.Verdict verdict(Goal goal, Results results) {
        if (!goal.rungs().has(results)) return Goal.Verdict.NOT_ASKED;
        if (!goal.benchmarks().stream().allMatch(results::has)) return new Goal.Verdict("", "not measured");
        return goal.judge().apply(results);
    }

    private static Table measurements(List<Results> all) {
        Table table = table("benchmark", all, "bytes");
        Set<String> keys = new LinkedHashSet<>();
        for (Results results : all) keys.addAll(results.keys());
        for (String key : keys) {
            List<String> row = new ArrayList<>(List.of(key));
            for (Results results : all) {
                row.add(results.has(key) ? times(results, key) : "");
                row.add(results.has(key) ? Goal.format("%.1f", results.bytes(key)) : "");
            }
            table.add(row);
        }
        return table;
    }

    private static String times(Results results, String key) {
        String number = results.nanos(key) < 100 ? "%.1f" : "%,.0f";
        return Goal.format(number + " (" + number + ")", results.nanos(key), results.quantile(key, 0.1));
    }

    private static Table table(String first, List<Results> all, String last) {
        List<String> headings = new ArrayList<>(List.of(first));
        for (Results results : all) {
            headings.add("JDK " + results.jdk() + " (" + (results.isFfm() ? "FFM" : "JNI") + "), " + results.rung());
            headings.add(last);
        }
        return new Table(headings.toArray(String[]::new));
    }
}
