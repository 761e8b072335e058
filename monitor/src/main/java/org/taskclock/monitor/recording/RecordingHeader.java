// SPDX-License-Identifier: Apache-2.0
// Copyright the TaskClock authors
package org.taskclock.monitor.recording;

import java.io.IOException;
import java.nio.channels.FileChannel;
import java.nio.file.Path;
import java.util.List;

/** Finds the header of a recording, and distinguishes damaged recordings from other files. */
final class RecordingHeader {
    private RecordingHeader() {}

    /** Returns whether a file is likely to be a recording, even if it is damaged. */
    static boolean isLikely(Path path) throws IOException {
        try (FileChannel file = FileChannel.open(path)) {
            return RecordingBlock.isStartOfRecording(file);
        }
    }

    /** Returns the header of the first readable block. The exception's message names the file. */
    static RecordingFormat.Header read(Path path) throws IOException {
        try (FileChannel file = FileChannel.open(path)) {
            for (long from = 0; from >= 0; from = RecordingBlock.find(file, from + 1)) {
                RecordingFormat.Header header = of(path, RecordingBlock.read(file, from));
                if (header != null) return header;
            }
            throw new IOException(path
                    + (isDamaged(file)
                            ? ": is damaged or incomplete: no block can be read"
                            : ": is not a TaskClock recording"));
        }
    }

    private static boolean isDamaged(FileChannel file) throws IOException {
        if (!RecordingBlock.isStartOfRecording(file)) return false;
        RecordingBlock block = RecordingBlock.read(file, 0);
        return block == null || block.state() != RecordingBlock.State.COMPLETE;
    }

    /** Returns the header of a block; null if it has none, or a malformed one. */
    static RecordingFormat.Header of(Path path, RecordingBlock block) throws IOException {
        List<String> lines = block == null ? List.of() : block.lines();
        if (lines.isEmpty() || !lines.get(0).startsWith(RecordingFormat.HEADER)) return null;
        try {
            return RecordingFormat.readHeader(lines.get(0));
        } catch (IOException e) {
            if (block.state() == RecordingBlock.State.DAMAGED) return null;
            throw new IOException(path + ": " + e.getMessage(), e);
        }
    }
}
