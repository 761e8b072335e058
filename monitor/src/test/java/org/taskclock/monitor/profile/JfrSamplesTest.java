// SPDX-License-Identifier: Apache-2.0
// Copyright the TaskClock authors
package org.taskclock.monitor.profile;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import jdk.jfr.Recording;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** Samples in a recording of this JVM. */
@Timeout(60)
class JfrSamplesTest {
    private static final long PERIOD_NANOS = 10_000_000;

    private static volatile boolean stopped;

    @TempDir
    private Path folder;

    private static void outer() {
        while (!stopped && inner() > 0) {}
    }

    private static double inner() {
        double sum = 0;
        for (int i = 1; i < 100_000; i++) sum += Math.sqrt(i);
        return sum;
    }

    @Test
    void shouldReadThreadsAndStacks() throws Exception {
        Thread thread = new Thread(JfrSamplesTest::outer, "busy thread");
        Path file = folder.resolve("recording.jfr");
        try (Recording recording = new Recording()) {
            recording.enable("jdk.ExecutionSample").withPeriod(Duration.ofNanos(PERIOD_NANOS));
            recording.start();
            thread.start();
            thread.join(1_500);
            recording.dump(file);
        } finally {
            stopped = true;
        }
        List<StackSource.Sample> samples = JfrSamples.read(file, false, false, PERIOD_NANOS).stream()
                .filter(sample -> sample.thread().equals("busy thread"))
                .toList();
        assertThat(samples).isNotEmpty().allSatisfy(sample -> {
            assertThat(sample.javaId()).isEqualTo(thread.getId());
            assertThat(sample.tid()).isZero();
            assertThat(sample.cpuNanos()).isEqualTo(sample.samples() * PERIOD_NANOS);
            assertThat(Profile.name(sample.frames().get(0))).isEqualTo("java.lang.Thread.run");
        });
        assertThat(samples.stream().mapToLong(StackSource.Sample::samples).sum())
                .isBetween(10L, 200L);
        assertThat(samples).anySatisfy(sample -> {
            List<String> frames = sample.frames();
            assertThat(frames).allMatch(frame -> frame.matches(".*_\\[[j0i]]"));
            List<String> names = frames.stream().map(Profile::name).toList();
            String outer = JfrSamplesTest.class.getName() + ".outer";
            assertThat(names).containsSubsequence(outer, JfrSamplesTest.class.getName() + ".inner");
        });
        List<StackSource.Sample> withLines = JfrSamples.read(file, false, true, PERIOD_NANOS);
        assertThat(withLines).allSatisfy(sample -> assertThat(sample.frames())
                .as("the call of a method reference has no line")
                .noneMatch(frame -> frame.contains(":65535")));
        assertThat(withLines).as("with lines").anySatisfy(sample -> assertThat(sample.frames())
                .anyMatch(frame -> frame.matches(".*JfrSamplesTest\\.inner:[0-9]+_\\[[j0i]]")));
    }
}
