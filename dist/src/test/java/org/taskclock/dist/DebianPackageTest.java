// SPDX-License-Identifier: Apache-2.0
// Copyright the TaskClock authors
package org.taskclock.dist;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** The package in {@code target}. {@code dist/try.sh} installs it. */
@Tag("slow17")
class DebianPackageTest {
    private Path file;

    @BeforeEach
    void findPackage() throws IOException {
        assumeTrue(Files.isExecutable(Path.of("/usr/bin/dpkg-deb")), "NOT RUN: dpkg-deb is not installed");
        String version = System.getProperty("project.version").replace('-', '~');
        file = Path.of("target", "taskclock_" + version + "_all.deb");
        assertThat(file).exists();
    }

    private String query(String option, String... arguments) throws Exception {
        List<String> command = new ArrayList<>(List.of("/usr/bin/dpkg-deb", option, file.toString()));
        command.addAll(List.of(arguments));
        ProcessResult result = ProcessResult.of(Map.of("LC_ALL", "C"), command);
        assertThat(result.exitCode()).as(result.output()).isZero();
        return result.output();
    }

    @Test
    void shouldContainTheCommandAndItsDocumentation() throws Exception {
        // Mode, owner, and path.
        List<String> files = query("--contents")
                .lines()
                .filter(line -> line.startsWith("-"))
                .map(line -> line.replaceFirst(" +\\d+ \\S+ \\S+ ", " "))
                .toList();
        assertThat(files)
                .containsExactlyInAnyOrder(
                        "-rwxr-xr-x root/root ./usr/bin/taskclock",
                        "-rw-r--r-- root/root ./usr/share/taskclock/taskclock-cli.jar",
                        "-rw-r--r-- root/root ./usr/share/taskclock/taskclock-agent.jar",
                        "-rw-r--r-- root/root ./usr/share/doc/taskclock/changelog.gz",
                        "-rw-r--r-- root/root ./usr/share/doc/taskclock/copyright",
                        "-rw-r--r-- root/root ./usr/share/man/man1/taskclock.1.gz",
                        "-rw-r--r-- root/root ./usr/share/bash-completion/completions/taskclock",
                        "-rw-r--r-- root/root ./usr/lib/systemd/system/taskclock-exporter.service",
                        "-rw-r--r-- root/root ./etc/default/taskclock-exporter",
                        "-rw-r--r-- root/root ./usr/lib/systemd/system/taskclock-serve.service",
                        "-rw-r--r-- root/root ./etc/default/taskclock-serve");
    }

    @Test
    void shouldDependOnAnyJavaThatItRunsOn() throws Exception {
        assertThat(query("--field", "Package", "Architecture", "Version", "Depends"))
                .contains("Package: taskclock\n", "Architecture: all\n")
                .contains("Version: " + System.getProperty("project.version").replace('-', '~'))
                .contains("java17-runtime-headless");
        assertThat(Files.readString(Path.of("src/main/deb/changelog")))
                .startsWith(
                        "taskclock (" + System.getProperty("project.version").replace("-SNAPSHOT", "") + ") ")
                .contains("\n -- " + query("--field", "Maintainer").strip() + "  ");
        assertThat(query("--info", "conffiles").lines())
                .containsExactlyInAnyOrder("/etc/default/taskclock-exporter", "/etc/default/taskclock-serve");
    }
}
