// SPDX-License-Identifier: Apache-2.0
// Copyright the TaskClock authors
package org.taskclock.watch;

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
import org.taskclock.watch.RecordingBlock.State;

/**
 * A recording that is read. What is whole of a file is read, and {@link #faults} says what is not.
 *
 * <p>Once, when it is opened, all of it is decompressed, to learn what is where; from then on one block at a time is in memory.
 */
public final class Recording implements Frames, Iterable<Frame> {
    /** Where a block is, and its frames among all of them. */
    private record Part(FileChannel file, long from, int firstFrame, int frames, Instant first) {}

    private final Path path;
    private final List<FileChannel> files = new ArrayList<>();
    private final List<Part> parts = new ArrayList<>();
    private final List<String> faults = new ArrayList<>();

    private RecordingFormat.Head head;
    private String end;
    private int frames;

    /** The block that was read last, and its frames. */
    private Part current;

    private List<Frame> decoded = List.of();

    /** Of the frame that comes next, the first that counts, and the one behind the last. */
    private int at;

    private int low;
    private int high;

    private Recording(Path path) {
        this.path = path;
    }

    /** The message of the exception says what is wrong with the file. */
    public static Recording open(Path path) throws IOException {
        Recording recording = new Recording(path);
        try {
            recording.readHead();
            Path older = RecordingWriter.older(path);
            if (Files.isReadable(older)) recording.scanOlder(older);
            recording.scan(path);
            if (recording.frames == 0 && recording.faults.isEmpty())
                recording.faults.add("it was ended before the first interval was over");
            recording.high = recording.frames;
            return recording;
        } catch (IOException | RuntimeException e) {
            recording.close();
            throw e;
        }
    }

    private void readHead() throws IOException {
        try (FileChannel file = FileChannel.open(path)) {
            for (long from = 0; from >= 0; from = RecordingBlock.find(file, from + 1)) {
                RecordingBlock block = RecordingBlock.read(file, from);
                head = headOf(block);
                if (head != null) return;
            }
        }
        throw new IOException(path + ": is no recording of taskclock");
    }

    private RecordingFormat.Head headOf(RecordingBlock block) throws IOException {
        List<String> lines = block == null ? List.of() : block.lines();
        if (lines.isEmpty() || !lines.get(0).startsWith(RecordingFormat.HEAD)) return null;
        try {
            return RecordingFormat.readHead(lines.get(0));
        } catch (IOException e) {
            if (block.state() == State.DAMAGED) return null;
            throw new IOException(path + ": " + e.getMessage(), e);
        }
    }

    /** Another recording may have left it. */
    private void scanOlder(Path older) throws IOException {
        try (FileChannel file = FileChannel.open(older)) {
            RecordingBlock first = RecordingBlock.read(file, 0);
            RecordingFormat.Head its = headOf(first);
            if (its == null || !its.id().equals(head.id())) return;
        }
        scan(older);
    }

    private void scan(Path path) throws IOException {
        FileChannel file = FileChannel.open(path);
        files.add(file);
        long from = 0;
        while (from >= 0 && from < file.size()) {
            RecordingBlock block = RecordingBlock.read(file, from);
            boolean whole = block != null && block.state() != State.DAMAGED && add(file, block);
            if (whole) {
                from = block.to();
            } else {
                long next = RecordingBlock.find(file, from + 1);
                String gap = "damaged from byte " + from + " to " + (next < 0 ? file.size() : next) + ", about "
                        + times(block) + ": left out";
                faults.add(path.getFileName() + ": " + gap);
                from = next;
            }
        }
    }

    private boolean add(FileChannel file, RecordingBlock block) throws IOException {
        List<String> lines = block.lines();
        if (lines.isEmpty() && block.state() == State.CUT) return true;
        if (headOf(block) == null) return false;
        if (block.state() == State.CUT) lines = asFarAsWhole(lines);
        int count = 0;
        Instant first = null;
        for (String line : lines) {
            if (line.startsWith(RecordingFormat.FRAME)) {
                if (count++ == 0) first = timeOf(line);
            } else if (line.startsWith("{\"end\"")) {
                end = line.substring("{\"end\":\"".length(), line.length() - 2);
            }
        }
        if (count > 0) parts.add(new Part(file, block.from(), frames, count, first));
        frames += count;
        return true;
    }

    /** What runs to the end of the file may be damaged and not cut: no checksum tells. */
    private List<String> asFarAsWhole(List<String> lines) {
        RecordingFormat format = new RecordingFormat();
        for (int i = 0; i < lines.size(); i++) {
            try {
                Frame frame = format.decode(lines.get(i));
                if (frame != null) timeOf(lines.get(i));
            } catch (IOException | RuntimeException e) {
                faults.add(path.getFileName() + ": damaged from line " + i + " of its last block on: left out");
                return lines.subList(0, i);
            }
        }
        return lines;
    }

    private static Instant timeOf(String line) {
        int from = RecordingFormat.FRAME.length();
        return Instant.parse(line.substring(from, line.indexOf('"', from)));
    }

    private static String times(RecordingBlock block) {
        if (block != null)
            for (String line : block.lines())
                try {
                    if (line.startsWith(RecordingFormat.FRAME))
                        return timeOf(line).toString();
                } catch (RuntimeException e) {
                    break;
                }
        return "an unknown time";
    }

    // ---- what it is

    /** When it was begun. */
    public Instant started() {
        return Instant.parse(head.started());
    }

    /** Facts of the machine on which it was made. */
    public Map<String, String> machine() {
        return head.machine() == null ? Map.of() : head.machine();
    }

    public int frames() {
        return high - low;
    }

    /** Why it ends; null where something else ended it, or it goes on. */
    public String end() {
        return end;
    }

    /** What could not be read, a line each; empty where all could. */
    public List<String> faults() {
        return List.copyOf(faults);
    }

    // ---- reading

    @Override
    public Frame next() throws IOException {
        return at >= high ? null : frame(at++);
    }

    private Frame frame(int number) throws IOException {
        if (current == null || number < current.firstFrame || number >= current.firstFrame + decoded.size()) {
            int part = 0;
            while (part + 1 < parts.size() && parts.get(part + 1).firstFrame <= number) part++;
            load(parts.get(part));
        }
        return decoded.get(number - current.firstFrame);
    }

    private void load(Part part) throws IOException {
        RecordingFormat format = new RecordingFormat();
        List<Frame> all = new ArrayList<>();
        for (String line : RecordingBlock.read(part.file, part.from).lines()) {
            // A file that is still being written is longer than it was.
            Frame frame = all.size() == part.frames ? null : format.decode(line);
            if (frame != null) all.add(frame);
        }
        if (all.size() < part.frames) throw new IOException(path + ": was changed while it was read");
        current = part;
        decoded = all;
    }

    /** Goes to the first frame that ended at or after a time; {@link #next} gives it. */
    public void seek(Instant time) throws IOException {
        at = Math.max(low, Math.min(high, find(time)));
    }

    /** From now on there are only the frames that ended at or after {@code from}, and not after {@code to}; null for no limit. */
    public void limit(Instant from, Instant to) throws IOException {
        low = from == null ? 0 : find(from);
        high = to == null ? frames : Math.max(low, find(to.plusNanos(1)));
        at = low;
    }

    private int find(Instant time) throws IOException {
        int part = parts.size() - 1;
        while (part > 0 && parts.get(part).first.isAfter(time)) part--;
        int number = part < 0 ? frames : parts.get(part).firstFrame;
        while (number < frames && frame(number).end().isBefore(time)) number++;
        return number;
    }

    @Override
    public boolean canStep() {
        return true;
    }

    /** From the frame that {@link #next} or this gave last; null if there is none at all. */
    @Override
    public Frame step(int steps) throws IOException {
        if (low == high) return null;
        long to = (long) at - 1 + steps;
        at = (int) Math.max(low, Math.min(high - 1, to)) + 1;
        return frame(at - 1);
    }

    /** From the first frame on, whatever was read before. */
    @Override
    public Iterator<Frame> iterator() {
        return new Iterator<>() {
            private int number = low;

            @Override
            public boolean hasNext() {
                return number < high;
            }

            @Override
            public Frame next() {
                if (!hasNext()) throw new NoSuchElementException();
                try {
                    return frame(number++);
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
