// SPDX-License-Identifier: Apache-2.0
// Copyright the TaskClock authors
package org.taskclock.cli;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.io.InputStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.Enumeration;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.zip.GZIPInputStream;
import java.util.zip.ZipEntry;
import java.util.zip.ZipFile;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class BundleTest {
    @TempDir
    private Path folder;

    private Path bundle(HotJvm target, String... options) throws Exception {
        Path file = folder.resolve("bundle.zip");
        String[] arguments = new String[options.length + 6];
        System.arraycopy(new String[] {"bundle", target.pid, "--for", "3s", "-o", file.toString()}, 0, arguments, 0, 6);
        System.arraycopy(options, 0, arguments, 6, options.length);
        CliResult result = CliResult.run(arguments);
        assertThat(result.exitCode()).as(result.err()).isEqualTo(Main.OK);
        assertThat(folder).isDirectoryNotContaining(path -> !path.equals(file));
        return file;
    }

    private static Map<String, String> contents(Path file) throws IOException {
        Map<String, String> contents = new LinkedHashMap<>();
        try (ZipFile zip = new ZipFile(file.toFile())) {
            for (Enumeration<? extends ZipEntry> entries = zip.entries(); entries.hasMoreElements(); ) {
                ZipEntry entry = entries.nextElement();
                try (InputStream in = entry.getName().endsWith(".gz")
                        ? new GZIPInputStream(zip.getInputStream(entry))
                        : zip.getInputStream(entry)) {
                    contents.put(entry.getName(), new String(in.readAllBytes(), StandardCharsets.UTF_8));
                }
            }
        }
        return contents;
    }

    @Test
    void shouldContainWhatAColleagueNeeds() throws Exception {
        try (HotJvm target = new HotJvm("-Dsecret=xyzzy")) {
            Path file = bundle(target);
            assertThat(Files.getPosixFilePermissions(file)).isEqualTo(PosixFilePermissions.fromString("rw-------"));
            Map<String, String> contents = contents(file);
            assertThat(contents)
                    .containsOnlyKeys(
                            "threads.txt",
                            "recording.gz",
                            "why.txt",
                            "profile.html",
                            "agent.txt",
                            "jvm.txt",
                            "machine.md");
            assertThat(contents.get("why.txt"))
                    .contains(" used ", "\"worker-1\"")
                    .hasLineCount(5);
            assertThat(contents.get("threads.txt")).containsPattern("\"worker-1\" .* used=");
            assertThat(contents.get("recording.gz")).contains("worker-1");
            assertThat(contents.get("profile.html")).contains("Program.hot");
            assertThat(contents.get("agent.txt")).isEqualTo("no agent\n");
            assertThat(contents.get("jvm.txt")).contains("JDK ", "-Dsecret=xyzzy");
            assertThat(contents.get("machine.md")).contains("taskclock doctor");
        }
    }

    @Test
    void shouldRedactNames() throws Exception {
        try (HotJvm target = new HotJvm("-Dsecret=xyzzy")) {
            Map<String, String> contents = contents(bundle(target, "--redact"));
            String host = Files.readString(Path.of("/proc/sys/kernel/hostname")).strip();
            contents.forEach((name, text) -> assertThat(text)
                    .as(name)
                    .doesNotContain("worker-1", "worker-#", "other-1", "xyzzy", '"' + host + '"'));
            assertThat(contents.get("why.txt")).startsWith("program (" + target.pid + ") used ");
            assertThat(contents.get("threads.txt"))
                    .containsPattern("\"thread-\\d+\" .* used=")
                    .contains("Program.work", "\"VM Thread\"");
            assertThat(contents.get("profile.html")).contains("program, pid " + target.pid, "Program.hot");
        }
    }

    @Test
    void shouldSayWhatIsMissing() throws Exception {
        try (HotJvm target = new HotJvm("-XX:+DisableAttachMechanism")) {
            Map<String, String> contents = contents(bundle(target));
            assertThat(contents).containsKeys("recording.gz", "why.txt", "machine.md", "missing.txt");
            assertThat(contents.get("missing.txt"))
                    .contains("threads.txt: -XX:+DisableAttachMechanism forbids it", "profile.html: ", "jvm.txt: ");
        }
    }

    @Test
    void shouldFailWithoutAProcess() throws Exception {
        assertThat(CliResult.run(
                        "bundle", "999999999", "-o", folder.resolve("b.zip").toString()))
                .isEqualTo(new CliResult(Main.NO_PROCESS, "", "taskclock: there is no process 999999999\n"));
        assertThat(folder).isEmptyDirectory();
    }
}
