// SPDX-License-Identifier: Apache-2.0
// Copyright the TaskClock authors
package org.taskclock.monitor.recording;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Path;
import org.taskclock.fuzz.InputFile;
import org.taskclock.monitor.sampling.Interval;

/** The bytes of a recording. {@link org.taskclock.report.RecordingTextFuzz} gets further, to the text in it. */
public final class RecordingFuzz {
    private RecordingFuzz() {}

    public static void fuzzerTestOneInput(byte[] data) throws IOException {
        Path file = InputFile.of(data);
        Recording.isLikely(file);
        try (Recording recording = Recording.open(file)) {
            int count = 0;
            for (Interval interval : recording) count += interval.threads().isEmpty() ? 1 : 0;
            if (count > recording.intervalCount()) throw new AssertionError("too many intervals");
            recording.faults();
        } catch (IOException | UncheckedIOException e) {
            if (e.getMessage() == null) throw new AssertionError("no reason", e);
        }
    }
}
