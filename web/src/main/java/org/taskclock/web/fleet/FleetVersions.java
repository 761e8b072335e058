// SPDX-License-Identifier: Apache-2.0
// Copyright the TaskClock authors
package org.taskclock.web.fleet;

import com.google.gson.stream.JsonWriter;
import java.io.IOException;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;

/** The versions of services in a range, the latest first. */
final class FleetVersions {
    private static final int MAX_VERSIONS = 100;

    /** The part of the range before a version appears, and before its end, that is compared. */
    private static final int COMPARED_PART = 24;

    private static final int MIN_COMPARED_STEPS = 3;

    /**
     * A version. Times are in milliseconds, and CPU use is in processors.
     *
     * @param isNew whether it appeared in the range, after another one
     * @param cpuPerJvm mean of its time
     * @param before the CPU use of the service before the version appeared
     * @param after the CPU use of the service before the next version appeared, or before the end of the range
     */
    private record Version(
            String service,
            String version,
            long first,
            long last,
            boolean isNew,
            double jvms,
            double cpuPerJvm,
            double before,
            double after) {}

    private final List<Version> versions;
    private final List<Answer> answers;

    private FleetVersions(List<Version> versions, List<Answer> answers) {
        this.versions = versions.stream()
                .sorted(Comparator.comparingLong(Version::first).reversed())
                .limit(MAX_VERSIONS)
                .toList();
        this.answers = answers;
    }

    /** Returns the new versions of all services, each when its JVMs were first seen. */
    static FleetVersions firstSeen(Answer found, Answer jvms) {
        Set<List<String>> isNew = new HashSet<>();
        for (Answer.Series series : found.series()) isNew.add(key(series));
        List<Version> versions = new ArrayList<>();
        for (Answer.Series series : jvms.series()) {
            if (!isNew.contains(key(series))) continue;
            versions.add(new Version(
                    series.label("service"),
                    series.label(FleetQueries.VERSION),
                    series.times()[0],
                    -1,
                    true,
                    Double.NaN,
                    Double.NaN,
                    Double.NaN,
                    Double.NaN));
        }
        return new FleetVersions(versions, List.of(found, jvms));
    }

    private static List<String> key(Answer.Series series) {
        return List.of(series.label("service"), series.label(FleetQueries.VERSION));
    }

    /** Compares the versions of a service by its CPU use and JVMs over time. */
    static FleetVersions ofService(String service, FleetRange range, Answer cpu, Answer jvms) {
        Map<String, double[]> used = values(range, cpu);
        Map<String, double[]> running = values(range, jvms);
        double[] total = new double[range.points()];
        for (int i = 0; i < total.length; i++) total[i] = sum(used, i);
        Map<String, Integer> first = new HashMap<>();
        running.forEach((version, counts) -> first.put(version, firstKnown(counts)));
        int earliest = first.values().stream().mapToInt(Integer::intValue).min().orElse(0);
        int window = Math.max(MIN_COMPARED_STEPS, range.points() / COMPARED_PART);
        List<Version> found = new ArrayList<>();
        running.forEach((version, counts) -> {
            int begin = first.get(version);
            int end = total.length;
            for (int other : first.values()) if (other > begin) end = Math.min(end, other);
            int last = counts.length - 1;
            while (last > begin && Double.isNaN(counts[last])) last--;
            boolean isNew = begin > earliest;
            double[] own = used.getOrDefault(version, new double[0]);
            found.add(new Version(
                    service,
                    version,
                    time(range, begin),
                    last == counts.length - 1 ? -1 : time(range, last),
                    isNew,
                    counts[last],
                    mean(own, 0, own.length) / mean(counts, 0, counts.length),
                    isNew ? mean(total, Math.max(0, begin - window), begin) : Double.NaN,
                    isNew ? mean(total, Math.max(begin, end - window), end) : Double.NaN));
        });
        return new FleetVersions(found, List.of(cpu, jvms));
    }

    private static Map<String, double[]> values(FleetRange range, Answer answer) {
        Map<String, double[]> values = new HashMap<>();
        for (Answer.Series series : answer.series())
            values.put(series.label(FleetQueries.VERSION), range.values(series));
        return values;
    }

    private static double sum(Map<String, double[]> lines, int at) {
        double sum = Double.NaN;
        for (double[] line : lines.values())
            if (!Double.isNaN(line[at])) sum = Double.isNaN(sum) ? line[at] : sum + line[at];
        return sum;
    }

    private static int firstKnown(double[] values) {
        int first = 0;
        while (first < values.length - 1 && Double.isNaN(values[first])) first++;
        return first;
    }

    private static double mean(double[] values, int from, int to) {
        double sum = 0;
        int known = 0;
        for (int i = from; i < to; i++) {
            if (Double.isNaN(values[i])) continue;
            sum += values[i];
            known++;
        }
        return known == 0 ? Double.NaN : sum / known;
    }

    private static long time(FleetRange range, int step) {
        return range.from().plus(range.step().multipliedBy(step)).toEpochMilli();
    }

    void write(JsonWriter json) throws IOException {
        json.beginObject();
        json.name("versions").beginArray();
        for (Version version : versions) {
            json.beginObject();
            json.name("service").value(version.service);
            json.name("version").value(version.version);
            json.name("first").value(version.first);
            json.name("last").value(version.last < 0 ? null : Long.valueOf(version.last));
            json.name("isNew").value(version.isNew);
            Answer.writeNumber(json.name("jvms"), version.jvms);
            Answer.writeNumber(json.name("cpuPerJvm"), UsageRows.PERCENT * version.cpuPerJvm);
            Answer.writeNumber(json.name("before"), UsageRows.PERCENT * version.before);
            Answer.writeNumber(json.name("after"), UsageRows.PERCENT * version.after);
            json.endObject();
        }
        json.endArray();
        Answer.writeWarnings(json, answers);
        json.endObject();
    }
}
