// SPDX-License-Identifier: Apache-2.0
// Copyright the TaskClock authors
package org.taskclock.watch;

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
 * One member of a gzip file, which GZIPInputStream would not tell from the next.
 *
 * @param from where it is in the file
 * @param to where the next one is
 * @param lines what it holds, as far as it could be had; whole ones only
 * @param state whether that is all of it
 */
record RecordingBlock(long from, long to, List<String> lines, State state) {
    enum State {
        WHOLE,
        /** The file ends before it does. What is there is right. */
        CUT,
        /** Any of it may be wrong. */
        DAMAGED
    }

    private static final int MAGIC = 0x8b1f;
    private static final int DEFLATED = 8;
    private static final int HEADER_BYTES = 10;
    private static final int TRAILER_BYTES = 8;

    // Flags of a header, which gzip sets and we do not.
    private static final int HAS_CRC = 2;
    private static final int HAS_EXTRA = 4;
    private static final int HAS_NAME = 8;
    private static final int HAS_COMMENT = 16;

    /** Reads the member that begins there; null if none does. */
    static RecordingBlock read(FileChannel file, long from) throws IOException {
        Input in = new Input(file, from);
        try {
            if (!skipHeader(in)) return null;
        } catch (EOFException e) {
            return new RecordingBlock(from, file.size(), List.of(), State.CUT);
        }
        Inflater inflater = new Inflater(true);
        ByteArrayOutputStream text = new ByteArrayOutputStream();
        try {
            byte[] piece = new byte[64 * 1024];
            while (!inflater.finished()) {
                int count = inflater.inflate(piece);
                text.write(piece, 0, count);
                if (count > 0 || inflater.finished()) continue;
                if (inflater.needsDictionary()) throw new DataFormatException();
                byte[] more = in.piece();
                if (more.length == 0)
                    return new RecordingBlock(from, file.size(), lines(text.toByteArray()), State.CUT);
                inflater.setInput(more);
            }
            in.back(inflater.getRemaining());
            byte[] all = text.toByteArray();
            return new RecordingBlock(from, in.position() + TRAILER_BYTES, lines(all), check(in, all));
        } catch (DataFormatException e) {
            return new RecordingBlock(from, in.position(), lines(text.toByteArray()), State.DAMAGED);
        } finally {
            inflater.end();
        }
    }

    /** Where a member may begin, at or after a place; -1 if nowhere. */
    static long find(FileChannel file, long from) throws IOException {
        Input in = new Input(file, from);
        int last = -1;
        int before = -1;
        try {
            while (true) {
                int next = in.next();
                if (before == (MAGIC & 0xff) && last == MAGIC >> 8 && next == DEFLATED) return in.position() - 3;
                before = last;
                last = next;
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
            return State.CUT;
        }
        CRC32 crc = new CRC32();
        crc.update(text);
        boolean right = trailer.getInt(0) == (int) crc.getValue() && trailer.getInt(4) == text.length;
        return right ? State.WHOLE : State.DAMAGED;
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

    /** A file from a place on. */
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

        /** What there is at once; nothing at the end of the file. */
        byte[] piece() throws IOException {
            if (!buffer.hasRemaining() && !fill()) return new byte[0];
            byte[] piece = new byte[buffer.remaining()];
            buffer.get(piece);
            return piece;
        }

        /** The last bytes of a piece were not for us. */
        void back(int count) {
            buffer.position(buffer.position() - count);
        }

        long position() {
            return read - buffer.remaining();
        }
    }
}
