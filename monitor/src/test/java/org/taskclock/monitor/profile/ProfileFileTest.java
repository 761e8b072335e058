// SPDX-License-Identifier: Apache-2.0
// Copyright the TaskClock authors
package org.taskclock.monitor.profile;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Arrays;
import java.util.Random;
import java.util.concurrent.TimeUnit;
import jdk.jfr.Recording;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.taskclock.TaskClock;

class ProfileFileTest {
    private static final Duration LIMIT = Duration.ofMinutes(2);

    @TempDir
    private Path directory;

    private Path file(byte... content) throws IOException {
        return Files.write(directory.resolve("file"), content);
    }

    private void assertRefused(String reason, byte... content) throws IOException {
        Path file = file(content);
        assertThatThrownBy(() -> ProfileFile.read(file, LIMIT))
                .isInstanceOf(ProfileException.class)
                .hasMessageContaining(reason);
        assertThat(directory).isDirectoryNotContaining(path -> !path.equals(file));
    }

    /** Computes between the readings, because {@code jdk.ExecutionSample} has no thread that is in native code. */
    private static long spin(long nanos) {
        long end = TaskClock.cpuNanos() + nanos;
        long turns = 0;
        do {
            for (int i = 0; i < 1_000_000; i++) turns = turns * 31 + i;
        } while (TaskClock.cpuNanos() < end);
        return turns;
    }

    private byte[] recording(boolean hasSamples) throws IOException {
        Path file = directory.resolve("recording.jfr");
        try (Recording recording = new Recording()) {
            if (hasSamples) recording.enable("jdk.ExecutionSample").withPeriod(Duration.ofMillis(10));
            recording.start();
            assertThat(spin(TimeUnit.SECONDS.toNanos(2))).isNotZero();
            recording.stop();
            recording.dump(file);
        }
        byte[] content = Files.readAllBytes(file);
        Files.delete(file);
        return content;
    }

    @Test
    void shouldReadCollapsedStacks() throws Exception {
        ProfileFile read = ProfileFile.read(
                file("not a stack\nmain;caf\u00e9 3\nmain 4\n".getBytes(StandardCharsets.UTF_8)), LIMIT);
        assertThat(read.source()).isEqualTo("collapsed stacks");
        assertThat(read.stacks().text()).isEqualTo("main 4\nmain;caf\u00e9 3\n");
        assertThat(read.notes()).containsExactly("1 lines that are not stacks were left out");
    }

    @Test
    void shouldReadAJfrRecording() throws Exception {
        byte[] recording = recording(true);
        ProfileFile read = ProfileFile.read(file(recording), LIMIT);
        assertThat(read.source()).isEqualTo("JFR (jdk.ExecutionSample)");
        assertThat(read.stacks().text()).contains("ProfileFileTest.spin");
        assertRefused("", Arrays.copyOf(recording, recording.length / 2));
        Random random = new Random(1);
        for (int i = 0; i < 3; i++) {
            byte[] damaged = recording.clone();
            for (int j = 0; j < 100; j++) damaged[100 + random.nextInt(damaged.length - 100)] = (byte) random.nextInt();
            try {
                ProfileFile.read(file(damaged), LIMIT);
            } catch (ProfileException e) {
                assertThat(e.getMessage()).doesNotContain("\n", "crashed").isNotBlank();
            }
        }
    }

    @Test
    void shouldSayWhyAFileCannotBeRead() throws Exception {
        byte[] noise = new byte[100_000];
        new Random(1).nextBytes(noise);
        assertRefused("it is neither", noise);
        assertRefused("it is neither");
        assertRefused("it is neither", "a 1\nb\nc\n".getBytes(StandardCharsets.UTF_8));
        assertRefused("the JFR recording has no execution or CPU-time samples", recording(false));
        assertRefused("it is a damaged JFR recording", "FLR\0".getBytes(StandardCharsets.UTF_8));
    }

    /** A recording of 100 bytes whose reader would need 8 GB. */
    @Test
    void shouldLimitMemoryAndTime() throws Exception {
        ByteBuffer hostile = ByteBuffer.allocate(100);
        hostile.putInt(0x464c5200).putInt(0x20000).putLong(100).putLong(68).putLong(68);
        hostile.position(68).put((byte) 30).put(new byte[4]);
        hostile.put(new byte[] {-1, -1, -1, -1, 7});
        assertRefused("reading it takes too much memory", hostile.array());
        Path file = file("a 1".getBytes(StandardCharsets.UTF_8));
        assertThatThrownBy(() -> ProfileFile.read(file, Duration.ofMillis(1)))
                .hasMessageContaining("reading it takes longer than");
    }
}
