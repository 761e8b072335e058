// SPDX-License-Identifier: Apache-2.0
// Copyright the TaskClock authors
package org.taskclock.fuzz;

import static java.nio.charset.StandardCharsets.UTF_8;

import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.nio.file.Path;
import java.util.zip.GZIPOutputStream;

/** An undamaged file of a recording, so that the fuzzer gets further than with {@code RecordingFuzz}. */
public final class RecordingFile {
    private static final byte[] HEADER = ("{\"format\":\"taskclock-recording/1\",\"id\":\"1\","
                    + "\"started\":\"2026-01-01T00:00:00Z\",\"made\":\"1\",\"machine\":{},\"row\":[]}\n")
            .getBytes(UTF_8);

    private RecordingFile() {}

    /**
     * Writes a recording.
     *
     * @param lines what follows the header
     */
    public static Path of(byte[] lines) throws IOException {
        return InputFile.of(bytes(lines));
    }

    /** Returns the bytes of the file. */
    public static byte[] bytes(byte[] lines) throws IOException {
        ByteArrayOutputStream file = new ByteArrayOutputStream();
        try (GZIPOutputStream out = new GZIPOutputStream(file)) {
            out.write(HEADER);
            out.write(lines);
        }
        return file.toByteArray();
    }
}
