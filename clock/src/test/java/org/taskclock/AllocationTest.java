// SPDX-License-Identifier: Apache-2.0
// Copyright the TaskClock authors
package org.taskclock;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/**
 * No read allocates, and a {@link CpuTime} that does not escape is no object. {@link KernelReaders#userNanosByText} is
 * left out: it opens a file, like the JVM's code that it reproduces.
 */
@Tag("contract")
class AllocationTest {
    /** Two iterators of a ConcurrentHashMap, which JDK 17 does not optimize away. */
    private static final int TO_READ_AN_ACCOUNT = 112;
    /** ThreadMXBean puts the id and the time into arrays of one long, which the compiler does not always optimize away. */
    private static final int TO_ASK_THE_JVM = 48;
    /** The CpuTime in ThreadClock.userNanos and systemNanos, which JDK 21 does not optimize away on a virtual thread. */
    private static final int TO_SPLIT_ON_A_VIRTUAL_THREAD = 40;

    @Test
    void shouldAllocateNothing() {
        List<String> options = new ArrayList<>(List.of("-Dtaskclock.rung=" + Expected.rung()));
        if (VirtualThreads.exist()) {
            options.add("-Djdk.virtualThreadScheduler.parallelism=1");
            options.add("-Djdk.virtualThreadScheduler.maxPoolSize=1");
        }
        List<String> lines = ChildJvm.run(options, Allocating.class)
                .succeeded()
                .out()
                .lines()
                .toList();
        for (String line : lines) {
            int bytes = Integer.parseInt(line.substring(0, line.indexOf(' ')));
            int allowed = line.endsWith(Allocating.ACCOUNT) ? TO_READ_AN_ACCOUNT : 0;
            if (Allocating.asksTheJvm(line, Expected.isNative())) allowed = TO_ASK_THE_JVM;
            if (Runtime.version().feature() < 25 && line.contains(" virtual: ThreadClock.of(other)."))
                allowed = TO_SPLIT_ON_A_VIRTUAL_THREAD;
            assertThat(bytes).as(line).isBetween(0, allowed);
        }
        assertThat(lines).contains("0 TaskClock.now", "0 view.getCurrentThreadUserTime");
        if (VirtualThreads.exist()) assertThat(lines).contains("0 virtual: TaskClock.now");
    }
}
