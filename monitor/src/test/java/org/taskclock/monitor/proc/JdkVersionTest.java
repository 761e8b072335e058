// SPDX-License-Identifier: Apache-2.0
// Copyright the TaskClock authors
package org.taskclock.monitor.proc;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.io.RandomAccessFile;
import java.nio.file.Files;
import java.nio.file.Path;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** Tests the file "release" of a program that has put a file of its choice beside its "JDK". */
@Timeout(value = 60, threadMode = Timeout.ThreadMode.SEPARATE_THREAD)
class JdkVersionTest {
    @TempDir
    Path folder;

    private Path release;
    private Process process;

    @BeforeEach
    void start() throws IOException {
        Path program = Files.createDirectories(folder.resolve("bin")).resolve("java");
        Files.copy(Path.of("/bin/sleep").toRealPath(), program);
        release = folder.resolve("release");
        process = new ProcessBuilder(program.toString(), "600").start();
    }

    @AfterEach
    void end() {
        process.destroyForcibly();
    }

    @Test
    void shouldReadTheVersion() throws IOException {
        Files.writeString(release, "IMPLEMENTOR=\"x\"\nJAVA_VERSION=\"21.0.4\"\n");
        assertThat(JdkVersion.of(process.pid())).isEqualTo("21.0.4");
        assertThat(JvmProcesses.featureOf(process.pid())).isEqualTo(21);
    }

    @Test
    void shouldNotWaitForAPipe() throws Exception {
        assertThat(new ProcessBuilder("mkfifo", release.toString()).start().waitFor())
                .isZero();
        assertThat(JdkVersion.of(process.pid())).isNull();
        assertThat(JvmProcesses.featureOf(process.pid())).isZero();
    }

    @Test
    void shouldNotReadAnEndlessFile() throws IOException {
        Files.createSymbolicLink(release, Path.of("/dev/zero"));
        assertThat(JdkVersion.of(process.pid())).isNull();
        Files.delete(release);
        try (RandomAccessFile file = new RandomAccessFile(release.toFile(), "rw")) {
            file.setLength(1L << 40);
        }
        assertThat(JdkVersion.of(process.pid())).isNull();
    }

    @Test
    void shouldLimitTheLengthOfTheVersion() throws IOException {
        Files.writeString(release, "JAVA_VERSION=\"" + "1".repeat(10_000) + "\"\n");
        assertThat(JdkVersion.of(process.pid())).hasSize(TargetText.MAX_LENGTH).endsWith("~");
        Files.writeString(release, "JAVA_VERSION=\"");
        assertThat(JdkVersion.of(process.pid())).isNull();
    }
}
