// SPDX-License-Identifier: Apache-2.0
// Copyright the TaskClock authors
package org.taskclock.monitor.attach;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.ByteArrayInputStream;
import java.io.IOException;
import java.io.InputStream;
import java.nio.channels.Channels;
import org.junit.jupiter.api.Test;

class AttachReplyTest {
    @Test
    void shouldReadTheText() throws IOException {
        byte[] reply = "0\na\u00e4\nb\n".getBytes(UTF_8);
        assertThat(AttachReply.text(AttachReply.read(Channels.newChannel(new ByteArrayInputStream(reply)))))
                .isEqualTo("a\u00e4\nb\n");
        assertThatThrownBy(() -> AttachReply.text("101\nno such command\n".getBytes(UTF_8)))
                .isInstanceOf(AttachReply.RefusedException.class)
                .hasMessage("it refused: no such command");
        assertThatThrownBy(() -> AttachReply.text(new byte[0])).hasMessage("it closed the connection without a reply");
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
        assertThatThrownBy(() -> AttachReply.read(Channels.newChannel(endless), 2 << 20))
                .isInstanceOf(IOException.class)
                .hasMessage("its reply is longer than 2 MB");
    }

    @Test
    void shouldReportPropertiesThatCannotBeParsed() throws IOException {
        assertThat(AttachReply.properties("a=\\u0041\n")).containsEntry("a", "A");
        assertThatThrownBy(() -> AttachReply.properties("a=\\u00zz\n"))
                .isInstanceOf(IOException.class)
                .hasMessageStartingWith("cannot parse its properties");
    }
}
