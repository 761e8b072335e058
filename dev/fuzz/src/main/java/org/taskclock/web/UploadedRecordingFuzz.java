// SPDX-License-Identifier: Apache-2.0
// Copyright the TaskClock authors
package org.taskclock.web;

import com.google.gson.JsonParser;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.time.Instant;
import java.util.List;
import org.taskclock.fuzz.RecordingFile;
import org.taskclock.history.ExportBy;
import org.taskclock.history.ExportFormat;
import org.taskclock.monitor.finding.DatedFinding;
import org.taskclock.monitor.recording.Comparison;
import org.taskclock.monitor.recording.Recording;
import org.taskclock.monitor.recording.RecordingSeries;
import org.taskclock.monitor.recording.SeriesJson;
import org.taskclock.monitor.sampling.Interval;
import org.taskclock.monitor.usage.Json;

/** The lines of a recording that was dropped on the page, and the answers of the API about it. */
public final class UploadedRecordingFuzz {
    private static final int POINTS = 600;

    private UploadedRecordingFuzz() {}

    public static void fuzzerTestOneInput(byte[] data) throws IOException {
        try (Recording recording = Recording.open(RecordingFile.of(data))) {
            if (recording.intervalCount() == 0) return;
            Recording.Position bounds = recording.position();
            Instant from = bounds.start();
            Instant to = bounds.end();
            if (from.isBefore(to)) {
                RecordingSeries series = new RecordingSeries(recording, from, to, POINTS, POINTS);
                check(Json.bytes(json -> SeriesJson.write(json, series.pools(), List.of())));
                check(Json.bytes(json -> SeriesJson.write(json, series.threads())));
            }
            for (Interval interval : recording)
                check(Json.bytes(json -> IntervalJson.write(
                        json,
                        interval,
                        List.of(),
                        interval.findings().stream()
                                .map(finding -> new DatedFinding(finding, null))
                                .toList(),
                        List.of())));
            Comparison comparison = new Comparison(recording, recording, 0.01);
            check(Json.bytes(json -> ComparisonJson.write(json, comparison)));
            for (ExportBy by : ExportBy.values()) {
                ByteArrayOutputStream rows = new ByteArrayOutputStream();
                RecordingExport.write(recording, by, ExportFormat.JSON, rows);
                check(rows.toByteArray());
                RecordingExport.write(recording, by, ExportFormat.CSV, rows);
            }
        } catch (IOException | UncheckedIOException e) {
            if (e.getMessage() == null) throw new AssertionError("no reason", e);
        }
    }

    /** Throws an error unless this is JSON in one line that is safe within HTML. */
    private static void check(byte[] json) {
        String text = new String(json, StandardCharsets.UTF_8);
        if (JsonParser.parseString(text).isJsonNull()) throw new AssertionError("nothing");
        if (text.indexOf('<') >= 0 || text.indexOf('\n') >= 0) throw new AssertionError("not safe in HTML: " + text);
    }
}
