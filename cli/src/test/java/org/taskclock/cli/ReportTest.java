// SPDX-License-Identifier: Apache-2.0
// Copyright the TaskClock authors
package org.taskclock.cli;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.file.Files;
import java.nio.file.Path;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** {@code taskclock report}. */
class ReportTest {
    private static final String RESULT =
            "{\"format\": \"taskclock-result/1\", \"kind\": \"bench\", \"name\": \"quick\"}";

    @TempDir
    private Path directory;

    @Test
    void shouldWriteAReport() throws Exception {
        Path result = Files.writeString(directory.resolve("a.json"), RESULT);
        Path page = directory.resolve("page.html");
        CliResult child = CliResult.run("report", result.toString(), result.toString(), "-o", page.toString());
        assertThat(child.err()).isEmpty();
        assertThat(child.exitCode()).isZero();
        assertThat(child.out()).startsWith("report: " + page);
        assertThat(Files.readString(page))
                .startsWith("<!DOCTYPE html>")
                .contains("bench quick", "echarts")
                .endsWith("</html>\n");
        try (var files = Files.list(directory)) {
            assertThat(files).containsExactlyInAnyOrder(result, page);
        }
    }

    @Test
    void shouldWriteToStandardOutput() throws Exception {
        Path result = Files.writeString(directory.resolve("a.json"), RESULT);
        CliResult child = CliResult.run("report", result.toString(), "-o", "-");
        assertThat(child.exitCode()).isZero();
        assertThat(child.out()).startsWith("<!DOCTYPE html>").endsWith("</html>\n");
    }

    @Test
    void shouldRejectInvalidResults() throws Exception {
        Path garbage = Files.writeString(directory.resolve("garbage.json"), "{\"format\": 3}");
        assertFailed(
                CliResult.run(
                        "report",
                        garbage.toString(),
                        "-o",
                        directory.resolve("x.html").toString()),
                1,
                "garbage.json: is not a TaskClock result");
        Path binary = Files.write(directory.resolve("binary"), new byte[] {(byte) 0xff, 0, 1});
        assertFailed(
                CliResult.run(
                        "report",
                        binary.toString(),
                        "-o",
                        directory.resolve("x.html").toString()),
                1,
                "binary");
        assertFailed(CliResult.run("report", directory.resolve("none.json").toString()), 1, "none.json: no such file");
        Path result = Files.writeString(directory.resolve("a.json"), RESULT);
        assertFailed(CliResult.run("report", result.toString(), "-o", result.toString()), 2, "would be overwritten");
        assertFailed(
                CliResult.run(
                        "report",
                        result.toString(),
                        "-o",
                        directory.resolve("no/x.html").toString()),
                1,
                "x.html");
        assertThat(Files.readString(result)).isEqualTo(RESULT);
    }

    private static void assertFailed(CliResult child, int exitCode, String text) {
        assertThat(child.err()).startsWith("taskclock: ").contains(text).hasLineCount(1);
        assertThat(child.out()).isEmpty();
        assertThat(child.exitCode()).isEqualTo(exitCode);
    }
}
