// SPDX-License-Identifier: Apache-2.0
// Copyright the TaskClock authors
package org.taskclock;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/**
 * Tests that reads do not allocate and that the compiler eliminates a {@link CpuTime} that does not escape.
 * {@link KernelReaders#userNanosByText} is excluded: it opens a file, like the JVM code that it reproduces.
 */
@Tag("contract")
class AllocationTest {
    /** Two iterators of a ConcurrentHashMap, which JDK 17 does not eliminate. */
    private static final int ACCOUNT_BYTES = 112;
    /** ThreadMXBean's arrays for the id and the time, which the compiler does not always eliminate. */
    private static final int THREAD_MXBEAN_BYTES = 48;
    /** The CpuTime in ThreadClock.userNanos and systemNanos, which JDK 21 does not eliminate on a virtual thread. */
    private static final int VIRTUAL_SPLIT_BYTES = 40;

    @Test
    void shouldAllocateNothing() {
        // Only the second compiler eliminates objects.
        List<String> options =
                new ArrayList<>(List.of("-XX:TieredStopAtLevel=4", "-Dtaskclock.backend=" + ExpectedBackend.name()));
        if (VirtualThreadRunner.isSupported()) {
            options.add("-Djdk.virtualThreadScheduler.parallelism=1");
            options.add("-Djdk.virtualThreadScheduler.maxPoolSize=1");
        }
        List<String> lines = ChildJvm.run(options, AllocationProbe.class)
                .succeeded()
                .out()
                .lines()
                .toList();
        for (String line : lines) {
            int bytes = Integer.parseInt(line.substring(0, line.indexOf(' ')));
            int allowed = line.endsWith(AllocationProbe.ACCOUNT_READ) ? ACCOUNT_BYTES : 0;
            if (AllocationProbe.callsThreadMXBean(line, ExpectedBackend.isNative())) allowed = THREAD_MXBEAN_BYTES;
            if (Runtime.version().feature() < 25 && line.contains(" virtual: ThreadClock.of(other)."))
                allowed = VIRTUAL_SPLIT_BYTES;
            assertThat(bytes).as(line).isBetween(0, allowed);
        }
        assertThat(lines).contains("0 TaskClock.now", "0 view.getCurrentThreadUserTime");
        if (VirtualThreadRunner.isSupported()) assertThat(lines).contains("0 virtual: TaskClock.now");
    }
}
