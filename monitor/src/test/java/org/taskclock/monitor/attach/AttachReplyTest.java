// SPDX-License-Identifier: Apache-2.0
// Copyright the TaskClock authors
package org.taskclock.monitor.attach;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.ByteArrayInputStream;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.InputStream;
import java.io.SequenceInputStream;
import java.nio.ByteBuffer;
import java.nio.channels.Channels;
import java.nio.channels.ReadableByteChannel;
import java.util.List;
import org.junit.jupiter.api.Test;

class AttachReplyTest {
    private static AttachReply reply(String text) throws IOException {
        return new AttachReply(Channels.newChannel(new ByteArrayInputStream(text.getBytes(UTF_8))));
    }

    @Test
    void shouldReadTheText() throws IOException {
        assertThat(reply("0\na\u00e4\nb\n").text()).isEqualTo("a\u00e4\nb\n");
        assertThatThrownBy(() -> reply("101\nno such command\n"))
                .isInstanceOf(AttachReply.RefusedException.class)
                .hasMessage("it refused: no such command");
        for (String none : List.of("", "0", "x".repeat(1_000)))
            assertThatThrownBy(() -> reply(none)).hasMessage("it closed the connection without a reply");
    }

    /** Wherever the part ends that has arrived. */
    @Test
    void shouldDecodeCharactersThatArriveInParts() throws IOException {
        byte[] pair = {(byte) 0xed, (byte) 0xa0, (byte) 0xbd, (byte) 0xed, (byte) 0xb8, (byte) 0x80};
        String text = "0\na\u00e4\u65e5\ud83d\ude00";
        ByteArrayOutputStream bytes = new ByteArrayOutputStream();
        bytes.writeBytes(text.getBytes(UTF_8));
        bytes.writeBytes(pair);
        for (int length = 1; length < 8; length++) {
            int partLength = length;
            InputStream parts = new ByteArrayInputStream(bytes.toByteArray());
            ReadableByteChannel channel = new ReadableByteChannel() {
                @Override
                public int read(ByteBuffer into) throws IOException {
                    byte[] part = parts.readNBytes(partLength);
                    into.put(part);
                    return part.length == 0 ? -1 : part.length;
                }

                @Override
                public boolean isOpen() {
                    return true;
                }

                @Override
                public void close() {}
            };
            assertThat(new AttachReply(channel).text()).isEqualTo(text.substring(2) + "\ud83d\ude00");
        }
    }

    @Test
    void shouldRefuseRepliesThatAreTooLong() {
        InputStream endless = new InputStream() {
            @Override
            public int read() {
                return 'a';
            }

            @Override
            public int read(byte[] into, int offset, int length) {
                return length; // zeros
            }
        };
        assertThatThrownBy(() -> {
                    try (AttachReply reply = new AttachReply(Channels.newChannel(
                            new SequenceInputStream(new ByteArrayInputStream("0\n".getBytes(UTF_8)), endless)))) {
                        ThreadDump.read(reply, reply.memory(), tid -> true, true, 0);
                    }
                })
                .isInstanceOf(IOException.class)
                .hasMessage("its reply is longer than 64 MB");
    }

    @Test
    void shouldReportPropertiesThatCannotBeParsed() throws IOException {
        assertThat(reply("0\nb=1\na=\\u0041\n").property("a")).isEqualTo("A");
        assertThat(reply("0\nb=1\n").property("a")).isNull();
        assertThatThrownBy(() -> reply("0\na=\\u00zz\n").property("a"))
                .isInstanceOf(IOException.class)
                .hasMessageStartingWith("cannot parse its properties");
    }
}
