// SPDX-License-Identifier: Apache-2.0
// Copyright the TaskClock authors
package org.taskclock;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;

import java.io.IOException;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

@Tag("contract")
class ProcessClockTest {
    private static final boolean NATIVE = TaskClock.status().backend() != Backend.MXBEAN;

    @Test
    void shouldCountAllThreadsOfThisProcess() throws InterruptedException {
        ProcessClock clock = ProcessClock.current();
        long start = clock.cpuNanos();
        long[] own = new long[2];
        CpuLoad.runOnThreads(2, () -> {
            while (SystemCalls.threadCpuNanos() < 200_000_000) CpuLoad.burnUser(100_000);
            synchronized (own) {
                own[0] += SystemCalls.threadCpuNanos();
            }
        });
        // Other threads of this JVM work too. The time of ended threads is still counted.
        assertThat(clock.cpuNanos() - start).isGreaterThanOrEqualTo(NATIVE ? own[0] : own[0] - 20_000_000);
    }

    @Test
    void shouldSplitConsistentlyAndNeverDecrease() {
        ProcessClock clock = ProcessClock.current();
        CpuTime last = clock.now();
        assertThat(last.isKnown()).isEqualTo(NATIVE);
        for (int i = 0; i < 200 && NATIVE; i++) {
            CpuLoad.burnUser(20_000);
            CpuLoad.burnSystem(1);
            CpuTime now = clock.now();
            assertThat(now.userNanos() + now.systemNanos()).isEqualTo(now.cpuNanos());
            assertThat(now.userNanos()).isGreaterThanOrEqualTo(last.userNanos());
            assertThat(now.systemNanos()).isGreaterThanOrEqualTo(last.systemNanos());
            last = now;
        }
        ProcStat text = ProcStat.read("/proc/self/stat");
        if (NATIVE) {
            // The kernel scales the sum of all threads' ticks. The tolerance is 5 % plus five units of the text.
            long tolerance = last.cpuNanos() / 20 + 50_000_000;
            assertThat(last.userNanos()).isBetween(text.userNanos() - tolerance, text.userNanos() + tolerance);
        }
    }

    @Test
    void shouldReadAnotherProcessUntilItEnds() throws IOException, InterruptedException {
        Process child =
                new ProcessBuilder("sh", "-c", "i=0; while [ $i -lt 200000 ]; do i=$((i+1)); done; read line").start();
        ProcessClock clock = ProcessClock.of(child.pid());
        long minNanos = 10_000_000;
        long end = System.nanoTime() + 30_000_000_000L;
        while (clock.cpuNanos() < minNanos && System.nanoTime() < end) Thread.onSpinWait();
        assertThat(clock.cpuNanos()).isGreaterThanOrEqualTo(minNanos);
        // The first ticks may all have been in the kernel, which starts the shell.
        while (NATIVE && clock.now().userNanos() == 0 && System.nanoTime() < end) Thread.onSpinWait();
        if (NATIVE) assertThat(clock.now().userNanos()).isPositive();
        child.destroyForcibly().waitFor();
        assertThat(clock.cpuNanos()).isEqualTo(-1);
        assertThat(clock.now()).isEqualTo(CpuTime.UNKNOWN);
        assertThat(clock.systemNanos()).isEqualTo(-1);
    }

    @Test
    void shouldRejectInvalidProcessIds() {
        for (long pid : new long[] {0, -1, 1L << 40, 1 << 30}) {
            assertThatIllegalArgumentException()
                    .isThrownBy(() -> ProcessClock.of(pid))
                    .withMessageContaining(Long.toString(pid));
        }
    }
}
