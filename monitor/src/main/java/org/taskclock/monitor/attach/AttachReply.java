// SPDX-License-Identifier: Apache-2.0
// Copyright the TaskClock authors
package org.taskclock.monitor.attach;

import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.StringReader;
import java.nio.ByteBuffer;
import java.nio.channels.ReadableByteChannel;
import java.util.Properties;
import org.taskclock.monitor.proc.ModifiedUtf8;

/** The reply of a JVM to an attach command: a line with a number, which is 0 if the command was executed, and text. */
public final class AttachReply {
    /** Decoding takes about four times as much memory. */
    public static final int MAX_BYTES =
            (int) Math.max(16 << 20, Math.min(256 << 20, Runtime.getRuntime().maxMemory() / 8));

    /** Thrown if the JVM does not execute a command. */
    static final class RefusedException extends IOException {
        private static final long serialVersionUID = 1;

        RefusedException(String message) {
            super(message);
        }
    }

    private AttachReply() {}

    /** Reads to the end. Throws if there is too much for our memory, because a hostile JVM may send anything. */
    static byte[] read(ReadableByteChannel from) throws IOException {
        return read(from, MAX_BYTES);
    }

    static byte[] read(ReadableByteChannel from, int maxBytes) throws IOException {
        ByteArrayOutputStream all = new ByteArrayOutputStream();
        ByteBuffer in = ByteBuffer.allocate(1 << 16);
        while (from.read(in) >= 0) {
            all.write(in.array(), 0, in.position());
            in.clear();
            if (all.size() > maxBytes) throw new IOException("its reply is longer than " + (maxBytes >> 20) + " MB");
        }
        return all.toByteArray();
    }

    /** Returns the text of a reply. Throws if the JVM did not execute the command. */
    static String text(byte[] reply) throws IOException {
        String text = ModifiedUtf8.decode(reply);
        int line = text.indexOf('\n');
        if (line < 0) throw new IOException("it closed the connection without a reply");
        if (!text.startsWith("0\n"))
            throw new RefusedException("it refused: " + text.substring(line + 1).strip());
        return text.substring(line + 1);
    }

    /** Parses a text in the format of {@link Properties}. */
    static Properties properties(String text) throws IOException {
        Properties properties = new Properties();
        try {
            properties.load(new StringReader(text));
        } catch (IllegalArgumentException e) {
            throw new IOException("cannot parse its properties: " + e.getMessage(), e);
        }
        return properties;
    }
}
