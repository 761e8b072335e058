// SPDX-License-Identifier: Apache-2.0
// Copyright the TaskClock authors
package org.taskclock;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;

import java.nio.charset.StandardCharsets;
import java.util.stream.Stream;
import net.jqwik.api.ForAll;
import net.jqwik.api.Property;
import net.jqwik.api.constraints.LongRange;
import net.jqwik.api.constraints.Positive;
import net.jqwik.api.constraints.Size;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

class ProcStatTest {
    private static final long UNIT = 10_000_000;
    private static final String REMAINING_FIELDS = " 0 0 20 0 1 0 1234567 0 0 18446744073709551615 0 0 0 0 0 0 0\n";

    static Stream<String> hostileNames() {
        return Stream.of(
                "java 1.4.2 :)",
                ")",
                "(",
                ") R 1 2 3 4 5 6",
                "))))))))))))))))",
                "1 (x) S 9 9 9 9",
                "a\nb\n) S 7 7 7",
                " ",
                "",
                "\t\\\"'%s%n",
                "zwölf Köpfe",
                "exactly15bytes!");
    }

    @ParameterizedTest
    @MethodSource("hostileNames")
    void shouldReadAThreadWithAHostileName(String name) throws InterruptedException {
        CpuLoad.runOnThreads(1, () -> {
            SystemCalls.setThreadName(name.getBytes(StandardCharsets.UTF_8));
            int tid = SystemCalls.gettid();
            long[] before = new long[2];
            long[] after = new long[2];
            // Ensures that neither user nor system time is zero in /proc.
            while (before[0] < 2 * UNIT || before[1] < 2 * UNIT) {
                if (before[0] < 2 * UNIT) CpuLoad.burnUser(100_000);
                if (before[1] < 2 * UNIT) CpuLoad.burnSystem(10);
                SystemCalls.rusage(before);
            }
            ProcStat stat = ProcStat.ofThread(tid);
            long user = KernelReaders.userNanosByText(tid);
            SystemCalls.rusage(after);

            assertThat(stat.id()).isEqualTo(tid);
            assertThat(stat.state()).isEqualTo('R');
            byte[] bytes = name.getBytes(StandardCharsets.UTF_8);
            int truncated = Math.min(bytes.length, 15);
            assertThat(stat.name()).isEqualTo(new String(bytes, 0, truncated, StandardCharsets.UTF_8));
            assertThat(stat.userNanos()).isBetween(before[0] - UNIT, after[0]).isPositive();
            assertThat(stat.systemNanos()).isBetween(before[1] - UNIT, after[1]).isPositive();
            assertThat(user).isBetween(stat.userNanos(), after[0]);
        });
    }

    @Property
    void shouldParseAnyNameAndAnyNumbers(
            @ForAll @Positive int id,
            @ForAll String name,
            @ForAll @LongRange(max = 1L << 36) long user,
            @ForAll @LongRange(max = 1L << 36) long system) {
        String safeName = new String(name.getBytes(StandardCharsets.UTF_8), StandardCharsets.UTF_8);
        byte[] text = (id + " (" + safeName + ") S 1 2 3 -4 5 6 7 8 9 10 " + user + " " + system + REMAINING_FIELDS)
                .getBytes(StandardCharsets.UTF_8);
        assertThat(ProcStat.parse(text, text.length))
                .isEqualTo(new ProcStat(id, safeName, 'S', user * UNIT, system * UNIT));
    }

    @Property
    void shouldAcceptOrRejectAnyBytes(@ForAll @Size(max = 400) byte[] text) {
        try {
            assertThat(ProcStat.parse(text, text.length).userNanos()).isNotNegative();
        } catch (IllegalArgumentException e) {
            assertThat(e).hasMessageContaining("/proc stat");
        }
    }

    @Test
    void shouldRejectTruncatedText() {
        byte[] text = ("7 (java) S 1 2 3 -4 5 6 7 8 9 10 11 12" + REMAINING_FIELDS).getBytes(StandardCharsets.UTF_8);
        int systemEnd = new String(text, StandardCharsets.UTF_8).indexOf(" 12") + 3;
        for (int length = 0; length < systemEnd - 1; length++) {
            int truncated = length;
            assertThatIllegalArgumentException().isThrownBy(() -> ProcStat.parse(text, truncated));
        }
        assertThat(ProcStat.parse(text, text.length)).isEqualTo(new ProcStat(7, "java", 'S', 11 * UNIT, 12 * UNIT));
    }

    @Test
    void shouldReturnNullOrMinusOneIfThereIsNoSuchThread() {
        assertThat(ProcStat.ofThread(4_194_305)).isNull();
        assertThat(ProcStat.read("/proc/self/no such file")).isNull();
        assertThat(KernelReaders.userNanosByText(4_194_305)).isEqualTo(-1);
    }

    @Test
    void shouldReadAProcess() {
        ProcStat stat = ProcStat.read("/proc/self/stat");
        assertThat((long) stat.id()).isEqualTo(ProcessHandle.current().pid());
        assertThat(stat.userNanos()).isPositive();
    }
}
