// SPDX-License-Identifier: Apache-2.0
// Copyright the TaskClock authors
package org.taskclock.report;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.time.Instant;
import java.time.ZoneOffset;
import java.util.List;
import java.util.Map;
import org.taskclock.fuzz.RecordingFile;
import org.taskclock.monitor.recording.Recording;
import org.taskclock.monitor.recording.RecordingOutline;

/** The lines of a recording after its header, in an undamaged file, and what replay and reports make of them. */
public final class RecordingTextFuzz {
    private RecordingTextFuzz() {}

    public static void fuzzerTestOneInput(byte[] data) throws IOException {
        try (Recording recording = Recording.open(RecordingFile.of(data))) {
            if (recording.intervalCount() == 0) return;
            RecordingOutline outline = new RecordingOutline(recording);
            while (!outline.next().isEmpty()) {}
            recording.seek(Instant.EPOCH);
            recording.step(1);
            recording.position();
            List<Result> results = RecordingResults.of(
                    recording, recording.evidence(), Map.of("a", "b"), recording.faults(), ZoneOffset.UTC);
            ResultFuzz.page(results);
        } catch (IOException | UncheckedIOException e) {
            if (e.getMessage() == null) throw new AssertionError("no reason", e);
        }
    }
}
