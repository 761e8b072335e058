// SPDX-License-Identifier: Apache-2.0
// Copyright the TaskClock authors
package org.taskclock.dist;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.FileTime;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.ArrayList;
import java.util.Collections;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** The file {@code target/taskclock}, which consists of a shell script and the jar. */
class ExecutableFileTest {
    private static final String VERSION = "taskclock " + System.getProperty("project.version");

    @TempDir
    private Path directory;

    private Path file;

    @BeforeEach
    void install() throws IOException {
        file = Files.createDirectory(directory.resolve("a directory")).resolve("taskclock");
        Files.copy(Path.of("target/taskclock"), file);
        assertThat(Files.isExecutable(Path.of("target/taskclock"))).isTrue();
        assertThat(file.toFile().setExecutable(true)).isTrue();
    }

    private ProcessResult run(Map<String, String> environment, List<String> command) throws Exception {
        Map<String, String> all = new HashMap<>(environment);
        all.putIfAbsent("JAVA_HOME", System.getProperty("java.home"));
        return ProcessResult.of(all, command);
    }

    @Test
    void shouldRunInAnyDirectoryAndThroughALink() throws Exception {
        Path link = Files.createSymbolicLink(directory.resolve("link"), Path.of("a directory/taskclock"));
        for (Path launcher : List.of(file, link)) {
            ProcessResult result = run(Map.of(), List.of(launcher.toString(), "--version"));
            assertThat(result.output()).startsWith(VERSION);
            assertThat(result.exitCode()).isZero();
        }
        ProcessResult usage = run(Map.of(), List.of(file.toString(), "no such command"));
        assertThat(usage.output()).contains("no such command");
        assertThat(usage.exitCode()).isEqualTo(2);
    }

    @Tag("slow17")
    @ParameterizedTest
    @ValueSource(strings = {"dash", "bash", "busybox ash"})
    void shouldRunUnderEachShell(String shell) throws Exception {
        List<String> command = new ArrayList<>();
        Collections.addAll(command, shell.split(" "));
        Path program = Path.of("/bin", command.get(0));
        assumeTrue(Files.isExecutable(program), "NOT RUN: " + program + " is not installed");
        command.add(file.toString());
        command.add("--version");
        // Several options, and one that a shell would expand.
        ProcessResult result = run(Map.of("TASKCLOCK_JAVA_OPTS", "-showversion  -Da=/*"), command);
        assertThat(result.output()).contains("Runtime Environment").contains(VERSION);
        assertThat(result.exitCode()).isZero();
    }

    @Test
    void shouldReportAMissingJava() throws Exception {
        ProcessResult result = run(Map.of("JAVA_HOME", "/none"), List.of(file.toString(), "--version"));
        assertThat(result.output())
                .isEqualToIgnoringNewLines("taskclock: java: JAVA_HOME is /none, which has no bin/java: "
                        + "set it to a JDK 17 or later, or unset it");
        assertThat(result.exitCode()).isEqualTo(1);
    }

    @Test
    void shouldKeepTheClassArchiveInTheCacheDirectoryOfTheUser() throws Exception {
        Path cache = Files.createDirectory(directory.resolve("cache"));
        Map<String, String> environment = Map.of("XDG_CACHE_HOME", cache.toString());
        List<String> list = List.of(file.toString(), "list");
        assertThat(run(environment, list).exitCode()).isZero();
        // The second run gives the new archive its name.
        assertThat(run(environment, list).exitCode()).isZero();
        Path own = cache.resolve("taskclock");
        assertThat(PosixFilePermissions.toString(Files.getPosixFilePermissions(own)))
                .isEqualTo("rwx------");
        assertThat(own).isDirectoryContaining("glob:**/classes-list-*.jsa");

        Files.setLastModifiedTime(file, FileTime.fromMillis(0));
        assertThat(run(environment, list).exitCode()).isZero();
        // Of another file, as after an update.
        assertThat(own).isDirectoryNotContaining("glob:**/classes-list-*.jsa");
    }
}
