// SPDX-License-Identifier: Apache-2.0
// Copyright the TaskClock authors
package org.taskclock.report;

import static java.nio.charset.StandardCharsets.UTF_8;

import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.time.Instant;
import java.time.ZoneOffset;
import java.util.List;
import java.util.Map;
import java.util.zip.GZIPOutputStream;
import org.taskclock.fuzz.InputFile;
import org.taskclock.monitor.Recording;
import org.taskclock.monitor.RecordingOutline;

/** The lines of a recording after its header, in an undamaged file, and what replay and reports make of them. */
public final class RecordingTextFuzz {
    private static final byte[] HEADER = ("{\"format\":\"taskclock-recording/1\",\"id\":\"1\","
                    + "\"started\":\"2026-01-01T00:00:00Z\",\"made\":\"1\",\"machine\":{},\"row\":[]}\n")
            .getBytes(UTF_8);

    private RecordingTextFuzz() {}

    public static void fuzzerTestOneInput(byte[] data) throws IOException {
        ByteArrayOutputStream file = new ByteArrayOutputStream();
        try (GZIPOutputStream out = new GZIPOutputStream(file)) {
            out.write(HEADER);
            out.write(data);
        }
        try (Recording recording = Recording.open(InputFile.of(file.toByteArray()))) {
            if (recording.intervalCount() == 0) return;
            RecordingOutline outline = new RecordingOutline(recording);
            while (!outline.next().isEmpty()) {}
            recording.seek(Instant.EPOCH);
            recording.step(1);
            recording.position();
            List<Result> results = RecordingResults.of(recording, Map.of("a", "b"), recording.faults(), ZoneOffset.UTC);
            ResultFuzz.page(results);
        } catch (IOException | UncheckedIOException e) {
            if (e.getMessage() == null) throw new AssertionError("no reason", e);
        }
    }
}
