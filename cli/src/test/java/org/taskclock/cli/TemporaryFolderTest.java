// SPDX-License-Identifier: Apache-2.0
// Copyright the TaskClock authors
package org.taskclock.cli;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.taskclock.testing.LoadJvm;

/** Commands whose folder for temporary files is missing, full, or read-only. */
class TemporaryFolderTest {
    private static final String REMEDY = ": choose another one with -Djava.io.tmpdir=DIR\n";

    @TempDir
    private Path directory;

    /** Runs the command line with a file system mounted on the directory. Returns its output and the files left there. */
    private String runWithMount(String mountOptions, String... arguments) throws Exception {
        List<String> command = new ArrayList<>(List.of(
                "unshare",
                "--mount",
                "sh",
                "-c",
                "mount -t tmpfs -o " + mountOptions + " none " + directory + " && \"$@\"; echo status $?; ls -A "
                        + directory,
                "sh"));
        command.addAll(CliResult.builder(arguments).command());
        command.add(7, "-XX:-UsePerfData");
        Process process = new ProcessBuilder(command).redirectErrorStream(true).start();
        process.getOutputStream().close();
        return new String(process.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
    }

    private static void assumeMountsArePermitted() throws InterruptedException {
        int exit;
        try {
            exit = new ProcessBuilder("unshare", "--mount", "mount", "-t", "tmpfs", "none", "/mnt").start().waitFor();
        } catch (IOException e) {
            exit = -1;
        }
        assumeTrue(exit == 0, "NOT RUN: not permitted: unshare --mount");
    }

    @Test
    void shouldNameAMissingFolder() throws Exception {
        Path missing = directory.resolve("missing");
        String folder = "the temporary folder " + missing + " does not exist" + REMEDY;
        try (LoadJvm load = LoadJvm.start("idle")) {
            CliResult attach = CliResult.run("-Djava.io.tmpdir=" + missing, "attach", Long.toString(load.pid()));
            assertThat(attach.err()).endsWith("taskclock: cannot attach to process " + load.pid() + ": " + folder);
            assertThat(attach.exitCode()).isEqualTo(Main.FAILED);
        }
        CliResult time = CliResult.run("-Djava.io.tmpdir=" + missing, "time", "--", "true");
        assertThat(time.err()).endsWith("taskclock: " + folder);
        assertThat(time.exitCode()).isEqualTo(Main.FAILED);
    }

    @Test
    void shouldNameAFullOrReadOnlyFolder() throws Exception {
        assumeMountsArePermitted();
        String folder = ": the temporary folder " + directory;
        try (LoadJvm load = LoadJvm.start("idle")) {
            String pid = Long.toString(load.pid());
            String option = "-Djava.io.tmpdir=" + directory;
            assertThat(runWithMount("size=64k", option, "attach", pid))
                    .endsWith("cannot attach to process " + pid + folder + " is full" + REMEDY + "status 1\n");
            assertThat(runWithMount("ro", option, "attach", pid))
                    .endsWith("cannot attach to process " + pid + folder + " is not writable" + REMEDY + "status 1\n");
        }
    }

    @Test
    void shouldNameTheFullFolderOfAJvm() throws Exception {
        assumeMountsArePermitted();
        assumeTrue(
                !Path.of("").toAbsolutePath().startsWith("/tmp"),
                "NOT RUN: the build is in /tmp, which the test hides");
        List<String> prefix = List.of(
                "unshare",
                "--mount",
                "sh",
                "-c",
                "mount -t tmpfs -o size=64k none /tmp && exec \"$@\"",
                "sh");
        try (LoadJvm load = LoadJvm.startWithPrefix(prefix, "idle")) {
            CliResult attach = CliResult.run("attach", Long.toString(load.pid()));
            assertThat(attach.err())
                    .isEqualTo("taskclock: cannot attach to process " + load.pid() + ": its /tmp is full\n");
            assertThat(attach.exitCode()).isEqualTo(Main.FAILED);
            assertThat(Path.of("/proc/" + load.pid() + "/root/tmp").toFile().list())
                    .noneMatch(name -> name.startsWith("taskclock"));
        }
    }
}
