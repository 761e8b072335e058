// SPDX-License-Identifier: Apache-2.0
// Copyright the TaskClock authors
package org.taskclock.monitor.recording;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Path;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Iterator;
import java.util.List;
import java.util.Map;
import java.util.NoSuchElementException;
import org.taskclock.monitor.finding.Evidence;
import org.taskclock.monitor.sampling.Interval;
import org.taskclock.monitor.sampling.IntervalSource;

/**
 * A recording in a file. Damaged parts are skipped and listed by {@link #faults}.
 *
 * <p>Opening a recording decompresses the whole file once to find the blocks. After that, only one block at a time is
 * in memory.
 */
public final class Recording implements IntervalSource, Iterable<Interval> {
    /** The largest part of a recording that is expanded at a time. */
    public static final long MAX_BLOCK_BYTES = RecordingBlock.MAX_TEXT_BYTES;

    private final Path path;
    private final RecordingIndex index;
    private final DecodedBlocks decoded = new DecodedBlocks(this);
    /** The number of the interval that {@link #next} returns. */
    private int position;

    // The range set by limit().
    private int low;
    private int high;

    /** The first position within the limits; null until it is needed. */
    private Position bounds;

    private Recording(Path path, RecordingIndex index) {
        this.path = path;
        this.index = index;
        high = index.intervals();
    }

    /** Opens a recording, with its older half if there is one. The exception's message names the file. */
    public static Recording open(Path path) throws IOException {
        return new Recording(path, RecordingIndex.of(path));
    }

    // ---- properties

    /** Returns whether a file is likely to be a recording, even if it is damaged. */
    public static boolean isLikely(Path path) throws IOException {
        return RecordingHeader.isLikely(path);
    }

    /** Returns when the recording started. */
    public Instant started() {
        return Instant.parse(index.header().started());
    }

    /** Returns the properties of the machine on which the recording was made. */
    public Map<String, String> machine() {
        Map<String, String> machine = index.header().machine();
        return machine == null ? Map.of() : machine;
    }

    /** Returns the number of intervals within the limits. */
    public int intervalCount() {
        return high - low;
    }

    /** Returns why the recording ended; null if the recorder was killed or is still running. */
    public String endReason() {
        return index.endReason();
    }

    /** Returns a description of each part of the file that could not be read. */
    public List<String> faults() {
        return List.copyOf(index.faults());
    }

    // ---- reading

    @Override
    public Interval next() throws IOException {
        return position >= high ? null : interval(position++);
    }

    private Interval interval(int number) throws IOException {
        RecordingIndex.Block block = index.blockOf(number);
        return decoded.of(block).get(number - block.firstInterval());
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
        RecordingIndex.Block block = index.blockOf(low + number);
        List<String> lines = new ArrayList<>();
        int next = block.firstInterval();
        for (String line : RecordingBlock.read(block.file(), block.offset()).lines()) {
            if (!line.startsWith(RecordingFormat.INTERVAL)) continue;
            if (next >= low + number && next < Math.min(high, block.firstInterval() + block.intervals()))
                lines.add(line);
            next++;
        }
        if (lines.isEmpty()) throw changed();
        return lines;
    }

    /** Returns the evidence of findings that was taken within the limits. */
    public List<Evidence> evidence() throws IOException {
        List<Evidence> all = new ArrayList<>();
        if (low == high) return all;
        Instant from = startOf(low);
        Instant to = high < index.intervals() ? interval(high).end() : Instant.MAX;
        for (RecordingIndex.Block block : index.blocks()) {
            if (!block.hasEvidence()) continue;
            for (String line : RecordingBlock.read(block.file(), block.offset()).lines()) {
                if (!line.startsWith(RecordingFormat.EVIDENCE)) continue;
                Evidence evidence = RecordingFormat.readEvidence(line);
                if (!evidence.taken().isBefore(from) && evidence.taken().isBefore(to)) all.add(evidence);
            }
        }
        return all;
    }

    /** Moves to the first interval that ended at or after {@code time}; {@link #next} returns it. */
    public void seek(Instant time) throws IOException {
        position = Math.max(low, Math.min(high, find(time)));
    }

    /** Restricts the recording to intervals that ended between two times, inclusive; null means no limit. */
    public void limit(Instant from, Instant to) throws IOException {
        low = from == null ? 0 : find(from);
        high = to == null ? index.intervals() : Math.max(low, find(to.plusNanos(1)));
        position = low;
        bounds = null;
    }

    private Instant startOf(int number) throws IOException {
        Interval interval = interval(number);
        return interval.end().minusNanos(interval.intervalNanos());
    }

    /** Returns the number of the first interval that ended at or after {@code time}. */
    private int find(Instant time) throws IOException {
        int number = index.firstOfBlockAt(time);
        while (number < index.intervals() && interval(number).end().isBefore(time)) number++;
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
        index.close();
    }
}
