// SPDX-License-Identifier: Apache-2.0
// Copyright the TaskClock authors
package org.taskclock.monitor.proc;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.ByteArrayOutputStream;
import java.io.DataOutputStream;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class ModifiedUtf8Test {
    /** DataOutputStream uses the same encoding as HotSpot, after a length. */
    private static byte[] encode(String text) throws IOException {
        ByteArrayOutputStream bytes = new ByteArrayOutputStream();
        new DataOutputStream(bytes).writeUTF(text);
        return Arrays.copyOfRange(bytes.toByteArray(), 2, bytes.size());
    }

    @ParameterizedTest
    @ValueSource(strings = {"", "worker-1", "w\u00f6rker \u65e5\u672c", "\ud83d\ude00", "a\ud83d\ude00\ud83e\udd80b"})
    void shouldDecodeBothKindsOfUtf8(String text) throws IOException {
        assertThat(ModifiedUtf8.decode(encode(text))).isEqualTo(text);
        assertThat(ModifiedUtf8.decode(text.getBytes(StandardCharsets.UTF_8))).isEqualTo(text);
    }

    @Test
    void shouldOmitTheRestOfATruncatedCharacter() throws IOException {
        for (int length = 1; length <= 8; length++) {
            byte[] name = Arrays.copyOf(encode("ab\ud83d\ude00"), length);
            ByteArrayOutputStream stat = new ByteArrayOutputStream();
            stat.writeBytes("17 (".getBytes(StandardCharsets.US_ASCII));
            stat.writeBytes(name);
            stat.writeBytes(") S 1".getBytes(StandardCharsets.US_ASCII));
            String kernelName = new String(name, StandardCharsets.UTF_8);
            assertThat(ModifiedUtf8.threadName(kernelName, stat.toByteArray(), stat.size()))
                    .isEqualTo(length == 8 ? "ab\ud83d\ude00" : "ab".substring(0, Math.min(2, length)));
        }
    }

    @ParameterizedTest
    @ValueSource(strings = {"", "17", "17 S 1", "17 (", "17 )a("})
    void shouldAcceptTextWithoutAName(String stat) {
        byte[] text = stat.getBytes(StandardCharsets.US_ASCII);
        assertThat(ModifiedUtf8.threadName("\ufffd", text, text.length)).isIn("", "\ufffd");
    }
}
