// SPDX-License-Identifier: Apache-2.0
// Copyright the TaskClock authors
package org.taskclock.monitor.recording;

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
import org.taskclock.monitor.finding.Evidence;
import org.taskclock.monitor.sampling.Interval;

/**
 * Writes a recording. {@link #write} passes each interval to the kernel before it returns, so no written interval is
 * lost if this process is killed.
 *
 * <p>The file consists of blocks, which are gzip members. Each block can be read without the previous ones, which
 * allows seeking and skipping damaged parts. If size or age is limited, the older half of the recording is in a second
 * file. When the first file is full, it replaces the second.
 */
public final class RecordingWriter implements Closeable {
    /**
     * At one interval per second, a damaged block loses two minutes. The blocks increase the size of the file by about
     * 5 %.
     */
    private static final int INTERVALS_PER_BLOCK = 120;

    /**
     * Limits beyond which the oldest intervals are deleted.
     *
     * @param bytes 0 for no limit
     * @param age zero for no limit
     */
    public record Limits(long bytes, Duration age) {
        public static final Limits NONE = new Limits(0, Duration.ZERO);
    }

    private final Path file;
    private final Limits limits;
    private final RecordingFormat.Header header;

    private CountingOutputStream out;
    private GZIPOutputStream block;
    private RecordingFormat format;
    private int blockIntervals;
    /** The end time of the first interval in the file; null if there is none. */
    private Instant first;

    /** Starts a recording. Overwrites an existing file. */
    public RecordingWriter(Path file, Limits limits, String made, Map<String, String> machine) throws IOException {
        this.file = file;
        this.limits = limits;
        this.header = RecordingFormat.Header.of(UUID.randomUUID().toString(), Instant.now(), made, machine);
        openFile();
        startBlock();
    }

    /** Returns the file for the older half of a recording with limits. */
    public static Path older(Path file) {
        return file.resolveSibling(file.getFileName() + ".1");
    }

    public void write(Interval interval) throws IOException {
        if (isHalfFull(interval)) {
            block.close();
            Files.move(file, older(file), REPLACE_EXISTING);
            openFile();
            startBlock();
        } else if (blockIntervals == INTERVALS_PER_BLOCK) {
            block.finish();
            startBlock();
        }
        if (first == null) first = interval.end();
        print(format.encode(interval));
        blockIntervals++;
    }

    /** Adds evidence of a finding. An interval must have been written. */
    public void write(Evidence evidence) throws IOException {
        print(RecordingFormat.evidence(evidence));
    }

    private boolean isHalfFull(Interval next) {
        if (first == null) return false;
        if (limits.bytes > 0 && out.bytes >= limits.bytes / 2) return true;
        return !limits.age.isZero()
                && Duration.between(first, next.end()).multipliedBy(2).compareTo(limits.age) > 0;
    }

    private void openFile() throws IOException {
        out = new CountingOutputStream(Files.newOutputStream(
                file, StandardOpenOption.CREATE, StandardOpenOption.TRUNCATE_EXISTING, StandardOpenOption.WRITE));
        first = null;
    }

    private void startBlock() throws IOException {
        block = new GZIPOutputStream(out, 64 * 1024, true);
        format = new RecordingFormat();
        blockIntervals = 0;
        print(RecordingFormat.header(header));
    }

    private void print(String text) throws IOException {
        block.write(text.getBytes(UTF_8));
        block.flush();
    }

    /** Returns the size of the current file, without the older half. */
    public long bytes() {
        return out.bytes;
    }

    /** Writes why the recording ends. A recording without a reason was interrupted. */
    public void end(String reason) throws IOException {
        print(RecordingFormat.end(reason));
    }

    @Override
    public void close() throws IOException {
        block.close();
    }

    /** Counts bytes and passes them on without buffering. */
    private static final class CountingOutputStream extends OutputStream {
        private final OutputStream to;
        private long bytes;

        CountingOutputStream(OutputStream to) {
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
