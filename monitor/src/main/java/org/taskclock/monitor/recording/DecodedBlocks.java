// SPDX-License-Identifier: Apache-2.0
// Copyright the TaskClock authors
package org.taskclock.monitor.recording;

import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import org.taskclock.monitor.sampling.Interval;

/** Decodes blocks of a recording and keeps the last two, because a view with some history may need both of them. */
final class DecodedBlocks {
    private record Decoded(RecordingIndex.Block block, List<Interval> intervals) {}

    private final Recording recording;
    private Decoded last;
    private Decoded secondLast;

    DecodedBlocks(Recording recording) {
        this.recording = recording;
    }

    List<Interval> of(RecordingIndex.Block block) throws IOException {
        if (last == null || !last.block.equals(block)) {
            Decoded used = secondLast != null && secondLast.block.equals(block) ? secondLast : decode(block);
            secondLast = last;
            last = used;
        }
        return last.intervals;
    }

    private Decoded decode(RecordingIndex.Block block) throws IOException {
        RecordingFormat format = new RecordingFormat();
        List<Interval> intervals = new ArrayList<>();
        for (String line : RecordingBlock.read(block.file(), block.offset()).lines()) {
            // A file that is still being written may have grown since it was opened.
            Interval interval = intervals.size() == block.intervals() ? null : format.decode(line);
            if (interval != null) intervals.add(interval);
        }
        if (intervals.size() < block.intervals()) throw recording.changed();
        return new Decoded(block, intervals);
    }
}
