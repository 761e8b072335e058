// SPDX-License-Identifier: Apache-2.0
// Copyright the TaskClock authors
package org.taskclock.monitor.recording;

import static java.nio.charset.StandardCharsets.UTF_8;

import java.io.ByteArrayOutputStream;
import java.io.EOFException;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.channels.FileChannel;
import java.util.List;
import java.util.stream.Collectors;
import java.util.zip.CRC32;
import java.util.zip.DataFormatException;
import java.util.zip.Inflater;

/**
 * A block of a recording, which is a member of a gzip file. This class does not use GZIPInputStream, because that does
 * not expose the boundaries of members.
 *
 * @param offset the offset in the file
 * @param nextOffset the offset of the next block
 * @param lines the lines that could be decompressed completely
 * @param state whether these are all lines of the block
 */
record RecordingBlock(long offset, long nextOffset, List<String> lines, State state) {
    enum State {
        COMPLETE,
        /** The file ends before the block does. The lines are correct unless the file is damaged as well. */
        TRUNCATED,
        /** Any line may be wrong. */
        DAMAGED
    }

    private static final int MAGIC = 0x8b1f;
    private static final int DEFLATED = 8;
    private static final int HEADER_BYTES = 10;
    /** A hostile file of some kB expands to gigabytes, which would use all memory of a server. */
    static final long MAX_TEXT_BYTES =
            Math.max(16 << 20, Math.min(512 << 20, Runtime.getRuntime().maxMemory() / 8));

    private static final int TRAILER_BYTES = 8;

    // Flags of the header (RFC 1952). RecordingWriter sets none, but gzip may.
    private static final int HAS_CRC = 2;
    private static final int HAS_EXTRA = 4;
    private static final int HAS_NAME = 8;
    private static final int HAS_COMMENT = 16;

    /**
     * Returns whether a file starts like a gzip file, or like one that {@link RecordingWriter} wrote apart from one
     * damaged byte.
     */
    static boolean isStartOfRecording(FileChannel file) throws IOException {
        Input in = new Input(file, 0);
        int different = 0;
        try {
            // The last byte of the header depends on the JDK that wrote it.
            for (int i = 0; i < HEADER_BYTES - 1; i++) {
                int written = i == 0 ? MAGIC & 0xff : i == 1 ? MAGIC >> 8 : i == 2 ? DEFLATED : 0;
                if (in.next() != written) different++;
                if (i == 2 && different == 0) return true;
            }
        } catch (EOFException e) {
            return false;
        }
        return different <= 1;
    }

    /** Reads the block at an offset. Returns null if there is none. */
    static RecordingBlock read(FileChannel file, long offset) throws IOException {
        return read(file, offset, MAX_TEXT_BYTES);
    }

    /** Reads a block whose text has at most this many bytes. A longer one is damaged. */
    static RecordingBlock read(FileChannel file, long offset, long maxTextBytes) throws IOException {
        Input in = new Input(file, offset);
        try {
            if (!skipHeader(in)) return null;
        } catch (EOFException e) {
            return new RecordingBlock(offset, file.size(), List.of(), State.TRUNCATED);
        }
        Inflater inflater = new Inflater(true);
        ByteArrayOutputStream text = new ByteArrayOutputStream();
        try {
            byte[] buffer = new byte[64 * 1024];
            while (!inflater.finished()) {
                int count = inflater.inflate(buffer);
                if (text.size() + count > maxTextBytes)
                    return new RecordingBlock(offset, in.position(), List.of(), State.DAMAGED);
                text.write(buffer, 0, count);
                if (count > 0 || inflater.finished()) continue;
                if (inflater.needsDictionary()) throw new DataFormatException();
                byte[] input = in.nextChunk();
                if (input.length == 0)
                    return new RecordingBlock(offset, file.size(), lines(text.toByteArray()), State.TRUNCATED);
                inflater.setInput(input);
            }
            in.unread(inflater.getRemaining());
            byte[] all = text.toByteArray();
            return new RecordingBlock(offset, in.position() + TRAILER_BYTES, lines(all), check(in, all));
        } catch (DataFormatException e) {
            return new RecordingBlock(offset, in.position(), lines(text.toByteArray()), State.DAMAGED);
        } finally {
            inflater.end();
        }
    }

    /** Returns the first offset at or after {@code from} where a block may start; -1 if there is none. */
    static long find(FileChannel file, long from) throws IOException {
        Input in = new Input(file, from);
        int previous = -1;
        int beforePrevious = -1;
        try {
            while (true) {
                int next = in.next();
                if (beforePrevious == (MAGIC & 0xff) && previous == MAGIC >> 8 && next == DEFLATED)
                    return in.position() - 3;
                beforePrevious = previous;
                previous = next;
            }
        } catch (EOFException e) {
            return -1;
        }
    }

    private static State check(Input in, byte[] text) throws IOException {
        ByteBuffer trailer = ByteBuffer.allocate(TRAILER_BYTES).order(ByteOrder.LITTLE_ENDIAN);
        try {
            while (trailer.hasRemaining()) trailer.put((byte) in.next());
        } catch (EOFException e) {
            return State.TRUNCATED;
        }
        CRC32 crc = new CRC32();
        crc.update(text);
        boolean matches = trailer.getInt(0) == (int) crc.getValue() && trailer.getInt(4) == text.length;
        return matches ? State.COMPLETE : State.DAMAGED;
    }

    private static boolean skipHeader(Input in) throws IOException {
        int[] header = new int[HEADER_BYTES];
        for (int i = 0; i < HEADER_BYTES; i++) {
            header[i] = in.next();
            if (i == 2 && (header[0] != (MAGIC & 0xff) || header[1] != MAGIC >> 8 || header[2] != DEFLATED))
                return false;
        }
        int flags = header[3];
        if ((flags & HAS_EXTRA) != 0) for (int n = in.next() | in.next() << 8; n > 0; n--) in.next();
        for (int texts = Integer.bitCount(flags & (HAS_NAME | HAS_COMMENT)); texts > 0; ) if (in.next() == 0) texts--;
        if ((flags & HAS_CRC) != 0) for (int n = 2; n > 0; n--) in.next();
        return true;
    }

    private static List<String> lines(byte[] text) {
        int end = text.length;
        while (end > 0 && text[end - 1] != '\n') end--;
        return new String(text, 0, end, UTF_8).lines().collect(Collectors.toList());
    }

    /** Buffered input from a file, starting at an offset. */
    private static final class Input {
        private final FileChannel file;
        private final ByteBuffer buffer = ByteBuffer.allocate(64 * 1024).limit(0);
        private long read;

        Input(FileChannel file, long from) {
            this.file = file;
            this.read = from;
        }

        private boolean fill() throws IOException {
            buffer.clear();
            int count = file.read(buffer, read);
            buffer.flip();
            if (count > 0) read += count;
            return count > 0;
        }

        int next() throws IOException {
            if (!buffer.hasRemaining() && !fill()) throw new EOFException();
            return buffer.get() & 0xff;
        }

        /** Returns the buffered bytes, or the next ones; an empty array at the end of the file. */
        byte[] nextChunk() throws IOException {
            if (!buffer.hasRemaining() && !fill()) return new byte[0];
            byte[] chunk = new byte[buffer.remaining()];
            buffer.get(chunk);
            return chunk;
        }

        /** Pushes back the last bytes of a chunk. */
        void unread(int count) {
            buffer.position(buffer.position() - count);
        }

        long position() {
            return read - buffer.remaining();
        }
    }
}
