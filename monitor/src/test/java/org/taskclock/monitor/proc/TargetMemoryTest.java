// SPDX-License-Identifier: Apache-2.0
// Copyright the TaskClock authors
package org.taskclock.monitor.proc;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;

import java.io.ByteArrayInputStream;
import java.io.IOException;
import java.io.InputStream;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;

class TargetMemoryTest {
    private static List<String> entries(String text, int maxBytes) throws IOException {
        List<String> entries = new ArrayList<>();
        TargetMemory.read(new ByteArrayInputStream(text.getBytes(UTF_8)), maxBytes, entry -> {
            entries.add(entry);
            return entry.equals("last");
        });
        return entries;
    }

    @Test
    void shouldSplitWhatEndsWithZeros() throws IOException {
        assertThat(entries("java\0\0-cp\0\u00e4\0", 100)).containsExactly("java", "", "-cp", "\u00e4");
        assertThat(entries("set by the process", 100)).containsExactly("set by the process");
        assertThat(entries("a\0last\0b\0", 100)).containsExactly("a", "last");
        assertThat(entries("", 100)).isEmpty();
    }

    @Test
    void shouldIgnoreWhatExceedsTheLimit() throws IOException {
        assertThat(entries("abc\0def\0ghi\0", 6)).containsExactly("abc", "de");
        String argument = "x".repeat(TargetMemory.MAX_ENTRY_BYTES);
        assertThat(entries(argument + "y\0z\0", 1 << 20)).containsExactly(argument, "z");
    }

    /** As after prctl(PR_SET_MM_MAP), with which the environment of a process can be all of its memory. */
    @Test
    void shouldNotKeepAnEnvironmentOfAnySize() throws IOException {
        long[] read = new long[1];
        InputStream endless = new InputStream() {
            @Override
            public int read() {
                throw new UnsupportedOperationException();
            }

            @Override
            public int read(byte[] into, int offset, int length) {
                read[0] += length;
                return length; // zeros
            }
        };
        TargetMemory.read(endless, 1 << 20, entry -> false);
        assertThat(read[0]).isEqualTo(1 << 20);
    }

    @Test
    void shouldReadAVariableOfAnotherProcess() throws Exception {
        ProcessBuilder builder = new ProcessBuilder("sleep", "60");
        builder.environment().put("LONG", "x".repeat(100_000));
        builder.environment().put("SERVICE", "orders=2");
        Process process = builder.start();
        try {
            assertThat(JvmProcesses.environmentVariable(process.pid(), "SERVICE"))
                    .isEqualTo("orders=2");
            assertThat(JvmProcesses.environmentVariable(process.pid(), "LONG")).hasSize(100_000);
            assertThat(JvmProcesses.environmentVariable(process.pid(), "SERV")).isEmpty();
            assertThat(JvmProcesses.command(process.pid())).containsExactly("sleep", "60");
        } finally {
            process.destroyForcibly();
        }
    }
}
