// SPDX-License-Identifier: Apache-2.0
// Copyright the TaskClock authors
package org.taskclock.monitor.recording;

import com.google.gson.Gson;
import com.google.gson.stream.JsonReader;
import java.io.IOException;
import java.io.StringReader;
import java.time.Instant;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.stream.Stream;
import org.taskclock.monitor.finding.Finding;
import org.taskclock.monitor.finding.FindingKind;
import org.taskclock.monitor.usage.ProcessUsage;

/**
 * Reads the summaries of all intervals of a recording, one block at a time, without decoding the threads. Confined to
 * the thread of the recording.
 */
public final class RecordingOutline {
    private static final Gson GSON = new Gson();

    private final Recording recording;
    /** The number of intervals that were read. */
    private int count;

    /** The findings of the previous interval. */
    private Set<String> previous = Set.of();

    /** Each list of kinds once, because all summaries keep theirs. */
    private final Map<List<FindingKind>, List<FindingKind>> kinds = new HashMap<>();

    public RecordingOutline(Recording recording) {
        this.recording = recording;
    }

    /** Returns the summaries of the next intervals; none at the end. */
    public List<IntervalSummary> next() throws IOException {
        List<IntervalSummary> summaries = new ArrayList<>();
        for (String line : recording.lines(count)) {
            try {
                summaries.add(summary(line));
            } catch (RuntimeException e) {
                throw new IOException("malformed line: " + e.getMessage(), e);
            }
        }
        count += summaries.size();
        return summaries;
    }

    private IntervalSummary summary(String line) throws IOException {
        Instant end = Instant.EPOCH;
        long nanos = 1;
        long process = -1;
        Finding[] findings = {};
        try (JsonReader in = new JsonReader(new StringReader(line))) {
            in.beginObject();
            while (in.hasNext()) {
                switch (in.nextName()) {
                    case "time" -> end = RecordedValues.time(in.nextString());
                    case "intervalNanos" -> nanos = in.nextLong();
                    case "totals" ->
                        process = GSON.<ProcessUsage>fromJson(in, ProcessUsage.class)
                                .processNanos();
                    case "findings" -> findings = GSON.fromJson(in, Finding[].class);
                    default -> in.skipValue();
                }
            }
        }
        Set<String> current = new HashSet<>();
        for (Finding finding : findings) current.add(finding.kind() + "/" + finding.tid());
        boolean begins = !previous.containsAll(current);
        previous = current;
        List<FindingKind> found =
                Stream.of(findings).map(Finding::kind).distinct().toList();
        float percent = process < 0 ? -1 : (float) (100.0 * process / nanos);
        return new IntervalSummary(
                end.toEpochMilli(), nanos / 1e9f, percent, kinds.computeIfAbsent(found, list -> list), begins);
    }
}
