// SPDX-License-Identifier: Apache-2.0
// Copyright the TaskClock authors
package org.taskclock.monitor.attach;

import java.io.IOException;
import java.io.Reader;
import java.nio.ByteBuffer;
import java.nio.channels.ReadableByteChannel;
import java.util.Properties;
import org.taskclock.monitor.proc.ModifiedUtf8;

/**
 * The reply of a JVM to an attach command: a line with a number, which is 0 if the command was executed, and text. The
 * text is decoded as it arrives, so that a long one need not be in memory as a whole.
 */
public final class AttachReply extends Reader {
    /** The thread dump of 10,000 threads with stacks of 60 frames. */
    public static final int MAX_BYTES = 64 << 20;

    private static final int BUFFER_BYTES = 1 << 16;
    private static final int MAX_STATUS_LENGTH = 20;
    private static final int MAX_REFUSAL_LENGTH = 1_000;

    /** While a text grows, there are two copies with two bytes for each character, one of them half empty. */
    private static final int BYTES_PER_CHARACTER = 8;

    /** Likewise, and what can be parsed from it: in JSON, a list of empty objects takes most. */
    private static final int BYTES_PER_CHARACTER_OF_PROPERTIES = 32;

    /** Thrown if the JVM does not execute a command. */
    static final class RefusedException extends IOException {
        private static final long serialVersionUID = 1;

        RefusedException(String message) {
            super(message);
        }
    }

    private final ReadableByteChannel from;
    private final ReplyMemory memory;
    private final ByteBuffer bytes = ByteBuffer.allocate(BUFFER_BYTES);
    private long received;
    private String decoded = "";
    private int position;

    /** What a character takes; 0 if {@link #memory} is set by the one who reads. */
    private int bytesPerCharacter;

    private long readCharacters;

    /** Reads from a JVM. Throws if the JVM did not execute the command. */
    AttachReply(ReadableByteChannel from) throws IOException {
        this.from = from;
        memory = new ReplyMemory(from::isOpen);
        StringBuilder status = new StringBuilder();
        int c;
        while ((c = read()) != '\n') {
            if (c < 0 || status.length() == MAX_STATUS_LENGTH)
                throw new IOException("it closed the connection without a reply");
            status.append((char) c);
        }
        if (status.toString().equals("0")) return;
        char[] reason = new char[MAX_REFUSAL_LENGTH];
        int length = 0;
        for (int read; (read = read(reason, length, reason.length - length)) > 0; ) length += read;
        throw new RefusedException("it refused: " + new String(reason, 0, length).strip());
    }

    ReplyMemory memory() {
        return memory;
    }

    @Override
    public int read(char[] into, int offset, int length) throws IOException {
        if (length == 0) return 0;
        while (position == decoded.length()) if (!decode()) return -1;
        int count = Math.min(length, decoded.length() - position);
        decoded.getChars(position, position + count, into, offset);
        position += count;
        readCharacters += count;
        if (bytesPerCharacter > 0) memory.set(bytesPerCharacter * readCharacters);
        return count;
    }

    /** Decodes what has arrived. Returns false at the end. */
    private boolean decode() throws IOException {
        int read = from.read(bytes);
        received += Math.max(0, read);
        if (received > MAX_BYTES) throw new IOException("its reply is longer than " + (MAX_BYTES >> 20) + " MB");
        if (read < 0 && bytes.position() == 0) return false;
        bytes.flip();
        int length = read < 0 ? bytes.limit() : ModifiedUtf8.completeLength(bytes.array(), bytes.limit());
        decoded = ModifiedUtf8.decode(bytes.array(), length);
        position = 0;
        bytes.position(length);
        bytes.compact();
        return true;
    }

    /** Returns the rest. Throws if there is too much for our memory. */
    String text() throws IOException {
        bytesPerCharacter = BYTES_PER_CHARACTER;
        StringBuilder text = new StringBuilder();
        char[] part = new char[BUFFER_BYTES];
        for (int read; (read = read(part)) >= 0; ) text.append(part, 0, read);
        return text.toString();
    }

    /** Returns the value of a property, if the text is in the format of {@link Properties}; null if it lacks that. */
    String property(String key) throws IOException {
        bytesPerCharacter = BYTES_PER_CHARACTER_OF_PROPERTIES;
        OneProperty property = new OneProperty(key);
        try {
            property.load(this);
        } catch (IllegalArgumentException e) {
            throw new IOException("cannot parse its properties: " + e.getMessage(), e);
        }
        return property.value;
    }

    /** Keeps none of the other properties, of which there can be any number. */
    private static final class OneProperty extends Properties {
        private static final long serialVersionUID = 1;

        private final String key;
        private String value;

        OneProperty(String key) {
            super(0);
            this.key = key;
        }

        @Override
        public synchronized Object put(Object found, Object itsValue) {
            if (found.equals(key)) value = (String) itsValue;
            return null;
        }
    }

    /** Gives back the memory. Does not close the connection. */
    @Override
    public void close() {
        memory.close();
    }
}
