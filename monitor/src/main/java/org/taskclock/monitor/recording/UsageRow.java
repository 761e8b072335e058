// SPDX-License-Identifier: Apache-2.0
// Copyright the TaskClock authors
package org.taskclock.monitor.recording;

import com.google.gson.JsonArray;
import com.google.gson.JsonElement;
import com.google.gson.JsonNull;
import java.util.List;
import java.util.Map;
import org.taskclock.monitor.usage.JavaStatus;
import org.taskclock.monitor.usage.SectionUsage;
import org.taskclock.monitor.usage.ThreadUsage;

/** Encodes the usage of a thread or a named account in an interval as an array. docs/record.md describes it. */
final class UsageRow {
    /** The elements of a row, in order. */
    static final List<String> NAMES = List.of(
            "thread",
            "cpuNanos",
            "userNanos",
            "waitNanos",
            "voluntary",
            "involuntary",
            "state",
            "threads",
            "totalNanos",
            "java");

    private UsageRow() {}

    /** @param totalIsSum whether the total is the previous one and the CPU time of this row */
    static JsonArray encode(int number, ThreadUsage usage, boolean totalIsSum) {
        JsonArray row = new JsonArray();
        row.add(number);
        row.add(usage.cpuNanos());
        row.add(usage.userNanos());
        row.add(usage.waitNanos());
        row.add(usage.voluntary());
        row.add(usage.involuntary());
        row.add(usage.state());
        boolean hasJava = !usage.java().equals(JavaStatus.UNKNOWN);
        if (usage.threads() != 1 || !totalIsSum || hasJava) row.add(usage.threads());
        if (!totalIsSum) row.add(usage.totalNanos());
        else if (hasJava) row.add(JsonNull.INSTANCE);
        if (hasJava) row.add(JavaStatusFormat.encode(usage.java()));
        return row;
    }

    /** Returns the number of the thread that a row is about. */
    static int number(JsonArray row) {
        return row.get(0).getAsInt();
    }

    /** Returns the usage in a row, given that of the previous row of the same thread. */
    static ThreadUsage decode(JsonArray row, ThreadUsage before) {
        long total = row.size() > 8 && !row.get(8).isJsonNull()
                ? row.get(8).getAsLong()
                : RecordedThread.sum(before.totalNanos(), row.get(1).getAsLong());
        return before.change()
                .threads(row.size() > 7 ? row.get(7).getAsInt() : 1)
                .cpu(row.get(1).getAsLong(), row.get(2).getAsLong())
                .waited(row.get(3).getAsLong())
                .switches(row.get(4).getAsLong(), row.get(5).getAsLong())
                .state(row.get(6).getAsString().charAt(0))
                .total(total, total < 0 ? -1 : total - RecordedThread.watchedFromNanos(before))
                .java(row.size() > 9 ? JavaStatusFormat.decode(row.get(9).getAsJsonArray()) : JavaStatus.UNKNOWN)
                .sections(SectionUsage.UNKNOWN)
                .build();
    }

    /** Encodes the closed sections of an account. They are not in its row, whose last element older readers expect. */
    static JsonArray encodeSections(int number, SectionUsage sections) {
        JsonArray row = new JsonArray();
        row.add(number);
        row.add(sections.count());
        if (sections.p50Nanos() < 0) return row;
        row.add(sections.p50Nanos());
        row.add(sections.p99Nanos());
        return row;
    }

    /** Adds the closed sections to usages by number. {@code rows} is null if there are none. */
    static void decodeSections(JsonArray rows, Map<Integer, ThreadUsage> usages) {
        if (rows == null) return;
        for (JsonElement element : rows) {
            JsonArray row = element.getAsJsonArray();
            boolean hasTimes = row.size() > 3;
            SectionUsage sections = new SectionUsage(
                    row.get(1).getAsLong(),
                    hasTimes ? row.get(2).getAsLong() : -1,
                    hasTimes ? row.get(3).getAsLong() : -1);
            usages.computeIfPresent(
                    number(row),
                    (number, usage) -> usage.change().sections(sections).build());
        }
    }
}
