// SPDX-License-Identifier: Apache-2.0
// Copyright the TaskClock authors
package org.taskclock.monitor.recording;

import java.io.IOException;
import java.nio.channels.FileChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import org.taskclock.monitor.recording.RecordingBlock.State;

/** The blocks in the files of a recording. Finding them decompresses the whole files once. */
final class RecordingIndex implements AutoCloseable {
    /**
     * The location of a block.
     *
     * @param firstInterval the number of the block's first interval in the recording
     * @param firstEnd the time when that interval ended
     * @param hasEvidence whether it contains evidence of findings, too
     */
    record Block(
            FileChannel file, long offset, int firstInterval, int intervals, Instant firstEnd, boolean hasEvidence) {}

    private final Path path;
    private final RecordingFormat.Header header;
    private final List<FileChannel> files = new ArrayList<>();
    private final List<Block> blocks = new ArrayList<>();
    private final List<String> faults = new ArrayList<>();

    private String endReason;
    private int intervals;

    private RecordingIndex(Path path, RecordingFormat.Header header) {
        this.path = path;
        this.header = header;
    }

    /** Reads a recording, with its older half if there is one. The exception's message names the file. */
    static RecordingIndex of(Path path) throws IOException {
        RecordingIndex index = new RecordingIndex(path, RecordingHeader.read(path));
        try {
            Path older = RecordingWriter.older(path);
            if (Files.isReadable(older)) index.scanOlder(older);
            index.scan(path);
            if (index.intervals == 0) {
                if (!index.faults.isEmpty()) throw new IOException(path + ": is damaged: no interval can be read");
                index.faults.add("it ended before the first interval was complete");
            }
            return index;
        } catch (IOException | RuntimeException e) {
            index.close();
            throw e;
        }
    }

    /** Adds the older half of the recording. Ignores a file that belongs to another recording. */
    private void scanOlder(Path older) throws IOException {
        try (FileChannel file = FileChannel.open(older)) {
            RecordingFormat.Header olderHeader = RecordingHeader.of(path, RecordingBlock.read(file, 0));
            if (olderHeader == null || !olderHeader.id().equals(header.id())) return;
        }
        scan(older);
    }

    private void scan(Path path) throws IOException {
        FileChannel file = FileChannel.open(path);
        files.add(file);
        long from = 0;
        while (from >= 0 && from < file.size()) {
            RecordingBlock block = RecordingBlock.read(file, from);
            boolean added = block != null && block.state() != State.DAMAGED && add(file, block);
            if (added) {
                from = block.nextOffset();
            } else {
                long next = RecordingBlock.find(file, from + 1);
                long gapEnd = next < 0 ? file.size() : next;
                faults.add(path.getFileName() + ": skipped damaged bytes " + from + " to " + gapEnd + ", recorded at "
                        + timeOf(block));
                from = next;
            }
        }
    }

    private boolean add(FileChannel file, RecordingBlock block) throws IOException {
        List<String> lines = block.lines();
        if (lines.isEmpty() && block.state() == State.TRUNCATED) return true;
        if (RecordingHeader.of(path, block) == null) return false;
        if (block.state() == State.TRUNCATED) lines = validLines(lines);
        int count = 0;
        Instant firstEnd = null;
        boolean hasEvidence = false;
        String end = endReason;
        try {
            for (String line : lines) {
                if (line.startsWith(RecordingFormat.INTERVAL)) {
                    if (count++ == 0) firstEnd = timeOf(line);
                } else if (line.startsWith(RecordingFormat.EVIDENCE)) {
                    hasEvidence = true;
                } else if (line.startsWith(RecordingFormat.END)) {
                    end = line.substring(RecordingFormat.END.length(), line.length() - 2);
                }
            }
        } catch (RuntimeException e) {
            return false; // the checksum is right, but not the content
        }
        if (count > 0) blocks.add(new Block(file, block.offset(), intervals, count, firstEnd, hasEvidence));
        intervals += count;
        endReason = end;
        return true;
    }

    /**
     * Returns the lines before the first malformed one. A truncated block has no checksum, so it may be damaged as
     * well.
     */
    private List<String> validLines(List<String> lines) {
        RecordingFormat format = new RecordingFormat();
        for (int i = 0; i < lines.size(); i++) {
            try {
                if (format.decode(lines.get(i)) != null) timeOf(lines.get(i));
            } catch (IOException | RuntimeException e) {
                faults.add(path.getFileName() + ": skipped the rest of the last block: line " + i + " is damaged");
                return lines.subList(0, i);
            }
        }
        return lines;
    }

    private static Instant timeOf(String line) {
        int from = RecordingFormat.INTERVAL.length();
        return RecordedValues.time(line.substring(from, line.indexOf('"', from)));
    }

    /** Returns the time of the first readable interval in a damaged block. */
    private static String timeOf(RecordingBlock block) {
        if (block != null)
            for (String line : block.lines())
                try {
                    if (line.startsWith(RecordingFormat.INTERVAL))
                        return timeOf(line).toString();
                } catch (RuntimeException e) {
                    break;
                }
        return "an unknown time";
    }

    RecordingFormat.Header header() {
        return header;
    }

    /** Returns why the recording ended; null if unknown. */
    String endReason() {
        return endReason;
    }

    /** Returns the number of intervals. */
    int intervals() {
        return intervals;
    }

    /** Returns a description of each part of the files that could not be read. */
    List<String> faults() {
        return faults;
    }

    List<Block> blocks() {
        return blocks;
    }

    /** Returns the block that contains an interval. */
    Block blockOf(int number) {
        int first = 0;
        int last = blocks.size() - 1;
        while (first < last) {
            int middle = (first + last + 1) / 2;
            if (blocks.get(middle).firstInterval <= number) first = middle;
            else last = middle - 1;
        }
        return blocks.get(first);
    }

    /** Returns the number of the first interval of the block in which to look for an interval that ended at a time. */
    int firstOfBlockAt(Instant time) {
        int block = blocks.size() - 1;
        while (block > 0 && blocks.get(block).firstEnd.isAfter(time)) block--;
        return block < 0 ? intervals : blocks.get(block).firstInterval;
    }

    @Override
    public void close() throws IOException {
        for (FileChannel file : files) file.close();
    }
}
