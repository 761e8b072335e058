// SPDX-License-Identifier: Apache-2.0
// Copyright the TaskClock authors
package org.taskclock.watch;

import static java.nio.charset.StandardCharsets.UTF_8;
import static java.nio.file.StandardCopyOption.REPLACE_EXISTING;

import java.io.Closeable;
import java.io.IOException;
import java.io.OutputStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.time.Duration;
import java.time.Instant;
import java.util.Map;
import java.util.UUID;
import java.util.zip.GZIPOutputStream;

/**
 * Writes a recording. Each frame is with the kernel before the next one is taken, so that whatever ends this process costs no frame
 * that was written.
 *
 * <p>The file is made of blocks, which are members of gzip, and each of which can be read without those before it: by one that
 * starts in the middle, or comes after a damage. Where size or age are limited, the older half is in a second file, and goes when
 * the newer is full.
 */
public final class RecordingWriter implements Closeable {
    /** Two minutes, once a second: what is lost where a file is damaged, for some 5 % of its size. */
    private static final int FRAMES_OF_A_BLOCK = 120;

    /**
     * Limits of what is kept; the oldest goes.
     *
     * @param bytes 0 for no limit
     * @param age zero for no limit
     */
    public record Limits(long bytes, Duration age) {
        public static final Limits NONE = new Limits(0, Duration.ZERO);
    }

    private final Path file;
    private final Limits limits;
    private final RecordingFormat.Head head;

    private Counted out;
    private GZIPOutputStream block;
    private RecordingFormat format;
    private int frames;
    private Instant first;

    /** Where the file is there already, it is written over. */
    public RecordingWriter(Path file, Limits limits, String made, Map<String, String> machine) throws IOException {
        this.file = file;
        this.limits = limits;
        this.head = RecordingFormat.Head.of(UUID.randomUUID().toString(), Instant.now(), made, machine);
        open();
        begin();
    }

    /** Where the older half is, if there is one. */
    public static Path older(Path file) {
        return file.resolveSibling(file.getFileName() + ".1");
    }

    public void write(Frame frame) throws IOException {
        if (isHalfFull(frame)) {
            block.close();
            Files.move(file, older(file), REPLACE_EXISTING);
            open();
            begin();
        } else if (frames == FRAMES_OF_A_BLOCK) {
            block.finish();
            begin();
        }
        if (first == null) first = frame.end();
        print(format.encode(frame));
        frames++;
    }

    private boolean isHalfFull(Frame next) {
        if (first == null) return false;
        if (limits.bytes > 0 && out.bytes >= limits.bytes / 2) return true;
        return !limits.age.isZero()
                && Duration.between(first, next.end()).multipliedBy(2).compareTo(limits.age) > 0;
    }

    private void open() throws IOException {
        out = new Counted(Files.newOutputStream(
                file, StandardOpenOption.CREATE, StandardOpenOption.TRUNCATE_EXISTING, StandardOpenOption.WRITE));
        first = null;
    }

    private void begin() throws IOException {
        block = new GZIPOutputStream(out, 64 * 1024, true);
        format = new RecordingFormat();
        frames = 0;
        print(RecordingFormat.head(head));
    }

    private void print(String text) throws IOException {
        block.write(text.getBytes(UTF_8));
        block.flush();
    }

    /** Of all that was written. */
    public long bytes() {
        return out.bytes;
    }

    /** Says why the recording ends here; without it, something else ended it. */
    public void end(String reason) throws IOException {
        print(RecordingFormat.end(reason));
    }

    @Override
    public void close() throws IOException {
        block.close();
    }

    /** Hands on each piece at once. */
    private static final class Counted extends OutputStream {
        private final OutputStream to;
        private long bytes;

        Counted(OutputStream to) {
            this.to = to;
        }

        @Override
        public void write(int b) throws IOException {
            write(new byte[] {(byte) b}, 0, 1);
        }

        @Override
        public void write(byte[] data, int from, int length) throws IOException {
            to.write(data, from, length);
            bytes += length;
        }

        @Override
        public void close() throws IOException {
            to.close();
        }
    }
}
