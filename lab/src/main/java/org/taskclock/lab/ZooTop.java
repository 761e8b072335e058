// SPDX-License-Identifier: Apache-2.0
// Copyright the TaskClock authors
package org.taskclock.lab;

import java.time.Duration;
import java.time.Instant;
import java.time.LocalTime;
import java.time.ZoneId;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.taskclock.zoo.Misbehavior;

/**
 * The output of {@code taskclock top -b}.
 *
 * @param statements findings, each when it was there for the third time, because two may be chance
 * @param busiest the rows of the thread with the most CPU time, in the intervals after the program began to misbehave
 */
record ZooTop(List<ZooAnswer.Statement> statements, List<String> busiest) {
    private static final int TIMES = 3;
    private static final int HOURS = 24;

    private static final Pattern HEADER = Pattern.compile("(\\d\\d:\\d\\d:\\d\\d)  .* \\(\\d+\\), .*");
    private static final Pattern FINDING = Pattern.compile("! ([a-z-]+): (.*)");
    private static final Pattern PROBLEM =
            Pattern.compile("^Problem: (.*) \\(([a-z-]+), since \\d\\d:\\d\\d:\\d\\d\\)\\.", Pattern.MULTILINE);

    static ZooTop of(String text, long beginMillis) {
        List<ZooAnswer.Statement> statements = new ArrayList<>();
        List<String> busiest = new ArrayList<>();
        Map<String, Integer> times = new HashMap<>();
        List<String> lines = text.lines().toList();
        long now = 0;
        for (int i = 0; i < lines.size(); i++) {
            String line = lines.get(i);
            if (line.startsWith("Average:")) break;
            Matcher header = HEADER.matcher(line);
            if (header.matches()) now = millis(header.group(1), beginMillis);
            if (line.stripLeading().startsWith("TID ") && now >= beginMillis && i + 1 < lines.size())
                busiest.add(lines.get(i + 1));
            Matcher finding = FINDING.matcher(line);
            if (!finding.matches()) continue;
            StringBuilder full = new StringBuilder(finding.group(2));
            for (int j = i + 1; j < lines.size() && lines.get(j).startsWith("    "); j++)
                full.append('\n').append(lines.get(j));
            // Counted again after the beginning.
            String key = finding.group(1) + (now >= beginMillis);
            if (times.merge(key, 1, Integer::sum) == TIMES)
                statements.add(new ZooAnswer.Statement(finding.group(1), full.toString(), 0, now));
        }
        return new ZooTop(statements, busiest);
    }

    /** Returns the time of day that is nearest to a time. */
    private static long millis(String time, long nearMillis) {
        LocalTime near =
                Instant.ofEpochMilli(nearMillis).atZone(ZoneId.systemDefault()).toLocalTime();
        long difference = Duration.between(near, LocalTime.parse(time)).toMillis();
        long day = Duration.ofHours(HOURS).toMillis();
        return nearMillis + Math.floorMod(difference + day / 2, day) - day / 2;
    }

    /** Returns a row that names a thread at fault, if one is the busiest in at least half of the intervals. */
    String threads(Misbehavior program) {
        List<String> named = busiest.stream().filter(program::namesThread).toList();
        return 2 * named.size() >= busiest.size() && !named.isEmpty() ? named.get(0) : "";
    }

    /** Parses the problem in the output of {@code taskclock why}, if there is one. */
    static List<ZooAnswer.Statement> problem(String why, long nowMillis) {
        Matcher problem = PROBLEM.matcher(why);
        return problem.find()
                ? List.of(new ZooAnswer.Statement(problem.group(2), problem.group(1), 0, nowMillis))
                : List.of();
    }
}
