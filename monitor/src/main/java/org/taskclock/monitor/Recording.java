// SPDX-License-Identifier: Apache-2.0
// Copyright the TaskClock authors
package org.taskclock.monitor;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.channels.FileChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Iterator;
import java.util.List;
import java.util.Map;
import java.util.NoSuchElementException;
import org.taskclock.monitor.RecordingBlock.State;

/**
 * A recording in a file. Damaged parts are skipped and listed by {@link #faults}.
 *
 * <p>Opening a recording decompresses the whole file once to find the blocks. After that, only one block at a time is
 * in memory.
 */
public final class Recording implements IntervalSource, Iterable<Interval> {
    /**
     * The location of a block.
     *
     * @param firstInterval the number of the block's first interval in the recording
     * @param firstEnd the time when that interval ended
     */
    record Block(FileChannel file, long offset, int firstInterval, int intervals, Instant firstEnd) {}

    private final Path path;
    private final List<FileChannel> files = new ArrayList<>();
    private final List<Block> blocks = new ArrayList<>();
    private final List<String> faults = new ArrayList<>();

    private RecordingFormat.Header header;
    private String endReason;
    private int intervals;

    private final DecodedBlocks decoded = new DecodedBlocks(this);
    /** The number of the interval that {@link #next} returns. */
    private int position;

    // The range set by limit().
    private int low;
    private int high;

    /** The first position within the limits; null until it is needed. */
    private Position bounds;

    private Recording(Path path) {
        this.path = path;
    }

    /** Opens a recording, with its older half if there is one. The exception's message names the file. */
    public static Recording open(Path path) throws IOException {
        Recording recording = new Recording(path);
        try {
            recording.header = RecordingHeader.read(path);
            Path older = RecordingWriter.older(path);
            if (Files.isReadable(older)) recording.scanOlder(older);
            recording.scan(path);
            if (recording.intervals == 0) {
                if (!recording.faults.isEmpty()) throw new IOException(path + ": is damaged: no interval can be read");
                recording.faults.add("it ended before the first interval was complete");
            }
            recording.high = recording.intervals;
            return recording;
        } catch (IOException | RuntimeException e) {
            recording.close();
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
        for (String line : lines) {
            if (line.startsWith(RecordingFormat.INTERVAL)) {
                if (count++ == 0) firstEnd = timeOf(line);
            } else if (line.startsWith(RecordingFormat.END)) {
                endReason = line.substring(RecordingFormat.END.length(), line.length() - 2);
            }
        }
        if (count > 0) blocks.add(new Block(file, block.offset(), intervals, count, firstEnd));
        intervals += count;
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
        return Instant.parse(line.substring(from, line.indexOf('"', from)));
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

    // ---- properties

    /** Returns whether a file is likely to be a recording, even if it is damaged. */
    public static boolean isLikely(Path path) throws IOException {
        return RecordingHeader.isLikely(path);
    }

    /** Returns when the recording started. */
    public Instant started() {
        return Instant.parse(header.started());
    }

    /** Returns the properties of the machine on which the recording was made. */
    public Map<String, String> machine() {
        return header.machine() == null ? Map.of() : header.machine();
    }

    /** Returns the number of intervals within the limits. */
    public int intervalCount() {
        return high - low;
    }

    /** Returns why the recording ended; null if the recorder was killed or is still running. */
    public String endReason() {
        return endReason;
    }

    /** Returns a description of each part of the file that could not be read. */
    public List<String> faults() {
        return List.copyOf(faults);
    }

    // ---- reading

    @Override
    public Interval next() throws IOException {
        return position >= high ? null : interval(position++);
    }

    private Interval interval(int number) throws IOException {
        Block block = blocks.get(blockOf(number));
        return decoded.of(block).get(number - block.firstInterval);
    }

    private int blockOf(int number) {
        int first = 0;
        int last = blocks.size() - 1;
        while (first < last) {
            int middle = (first + last + 1) / 2;
            if (blocks.get(middle).firstInterval <= number) first = middle;
            else last = middle - 1;
        }
        return first;
    }

    IOException changed() {
        return new IOException(path + ": was changed while being read");
    }

    /**
     * Returns the lines of those intervals within the limits that are in the same block as the given one and follow it,
     * including itself; none at the end.
     */
    List<String> lines(int number) throws IOException {
        if (low + number >= high) return List.of();
        Block block = blocks.get(blockOf(low + number));
        List<String> lines = new ArrayList<>();
        int next = block.firstInterval;
        for (String line : RecordingBlock.read(block.file, block.offset).lines()) {
            if (!line.startsWith(RecordingFormat.INTERVAL)) continue;
            if (next >= low + number && next < Math.min(high, block.firstInterval + block.intervals)) lines.add(line);
            next++;
        }
        if (lines.isEmpty()) throw changed();
        return lines;
    }

    /** Moves to the first interval that ended at or after {@code time}; {@link #next} returns it. */
    public void seek(Instant time) throws IOException {
        position = Math.max(low, Math.min(high, find(time)));
    }

    /** Restricts the recording to intervals that ended between two times, inclusive; null means no limit. */
    public void limit(Instant from, Instant to) throws IOException {
        low = from == null ? 0 : find(from);
        high = to == null ? intervals : Math.max(low, find(to.plusNanos(1)));
        position = low;
        bounds = null;
    }

    private Instant startOf(int number) throws IOException {
        Interval interval = interval(number);
        return interval.end().minusNanos(interval.intervalNanos());
    }

    /** Returns the number of the first interval that ended at or after {@code time}. */
    private int find(Instant time) throws IOException {
        int block = blocks.size() - 1;
        while (block > 0 && blocks.get(block).firstEnd.isAfter(time)) block--;
        int number = block < 0 ? intervals : blocks.get(block).firstInterval;
        while (number < intervals && interval(number).end().isBefore(time)) number++;
        return number;
    }

    /**
     * Moves from the interval that was returned last by {@code steps} intervals, back if negative, but not beyond the
     * first or last one. Returns the interval at the new position; null if there are no intervals.
     */
    public Interval step(int steps) throws IOException {
        if (low == high) return null;
        long target = (long) position - 1 + steps;
        position = (int) Math.max(low, Math.min(high - 1, target)) + 1;
        return interval(position - 1);
    }

    /**
     * The position of the interval that was returned last, among those within the limits.
     *
     * @param number from 0
     * @param start when the first interval began
     * @param end when the last interval ended
     */
    public record Position(int number, int count, Instant start, Instant end) {}

    /** Returns the position; the recording must have intervals within the limits. */
    public Position position() throws IOException {
        if (bounds == null)
            bounds =
                    new Position(0, high - low, startOf(low), interval(high - 1).end());
        return new Position(Math.max(0, position - 1 - low), bounds.count, bounds.start, bounds.end);
    }

    /** Returns up to {@code count} intervals before the one that was returned last, oldest first. */
    public List<Interval> previous(int count) throws IOException {
        List<Interval> previous = new ArrayList<>();
        for (int i = Math.max(low, position - 1 - count); i < position - 1; i++) previous.add(interval(i));
        return previous;
    }

    /** Iterates from the first interval, independently of {@link #next}. */
    @Override
    public Iterator<Interval> iterator() {
        return new Iterator<>() {
            private int number = low;

            @Override
            public boolean hasNext() {
                return number < high;
            }

            @Override
            public Interval next() {
                if (!hasNext()) throw new NoSuchElementException();
                try {
                    return interval(number++);
                } catch (IOException e) {
                    throw new UncheckedIOException(e);
                }
            }
        };
    }

    @Override
    public void close() throws IOException {
        for (FileChannel file : files) file.close();
    }
}
