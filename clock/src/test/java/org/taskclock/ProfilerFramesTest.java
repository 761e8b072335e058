// SPDX-License-Identifier: Apache-2.0
// Copyright the TaskClock authors
package org.taskclock;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import java.util.Arrays;
import java.util.Set;
import java.util.TreeSet;
import one.profiler.AsyncProfiler;
import org.junit.jupiter.api.Test;

/** Tests that a profiler can name the functions of the library, although its file has been deleted. */
class ProfilerFramesTest {
    @Test
    void shouldNameNativeFrames() {
        assumeTrue(ExpectedBackend.isNative(), "no native library for this system");
        ChildJvm child = ChildJvm.run(ProfiledReadings.class).succeeded();
        assertThat(child.out().lines())
                .as("frames")
                .contains("taskclock_cpu_nanos", "taskclock_thread_nanos")
                .noneMatch(frame -> frame.contains("libtaskclock"));
    }

    /** Prints the frames of a profile of readings. */
    static final class ProfiledReadings {
        private static final long NANOS = 1_500_000_000;

        private ProfiledReadings() {}

        public static void main(String[] arguments) throws Exception {
            TaskClock.status();
            read();
            AsyncProfiler profiler = AsyncProfiler.getInstance();
            profiler.execute("start,event=ctimer,interval=1ms");
            read();
            profiler.stop();
            Set<String> frames = new TreeSet<>();
            profiler.execute("collapsed")
                    .lines()
                    .map(line -> line.substring(0, line.lastIndexOf(' ')).split(";"))
                    .forEach(stack -> frames.addAll(Arrays.asList(stack)));
            frames.forEach(System.out::println);
        }

        private static void read() {
            ThreadClock clock = ThreadClock.of(Thread.currentThread());
            long end = System.nanoTime() + NANOS;
            while (System.nanoTime() < end) {
                for (int i = 0; i < 100; i++) CpuLoad.sink = TaskClock.cpuNanos() + clock.cpuNanos();
            }
        }
    }
}
