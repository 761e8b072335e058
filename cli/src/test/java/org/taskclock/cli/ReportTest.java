// SPDX-License-Identifier: Apache-2.0
// Copyright the TaskClock authors
package org.taskclock.cli;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.file.Files;
import java.nio.file.Path;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class ReportTest {
    private static final String RESULT =
            "{\"format\": \"taskclock-result/1\", \"kind\": \"bench\", \"name\": \"quick\"}";

    @TempDir
    private Path folder;

    @Test
    void shouldWriteAPage() throws Exception {
        Path result = Files.writeString(folder.resolve("a.json"), RESULT);
        Path page = folder.resolve("page.html");
        Child child = Child.run("report", result.toString(), result.toString(), "-o", page.toString());
        assertThat(child.err()).isEmpty();
        assertThat(child.exitCode()).isZero();
        assertThat(child.out()).startsWith("report: " + page);
        assertThat(Files.readString(page))
                .startsWith("<!DOCTYPE html>")
                .contains("bench quick", "echarts")
                .endsWith("</html>\n");
        try (var files = Files.list(folder)) {
            assertThat(files).containsExactlyInAnyOrder(result, page);
        }
    }

    @Test
    void shouldWriteToStandardOutput() throws Exception {
        Path result = Files.writeString(folder.resolve("a.json"), RESULT);
        Child child = Child.run("report", result.toString(), "-o", "-");
        assertThat(child.exitCode()).isZero();
        assertThat(child.out()).startsWith("<!DOCTYPE html>").endsWith("</html>\n");
    }

    @Test
    void shouldRefuseWhatIsNoResult() throws Exception {
        Path garbage = Files.writeString(folder.resolve("garbage.json"), "{\"format\": 3}");
        assertFailed(
                Child.run(
                        "report",
                        garbage.toString(),
                        "-o",
                        folder.resolve("x.html").toString()),
                1,
                "garbage.json: is no result");
        Path binary = Files.write(folder.resolve("binary"), new byte[] {(byte) 0xff, 0, 1});
        assertFailed(
                Child.run(
                        "report",
                        binary.toString(),
                        "-o",
                        folder.resolve("x.html").toString()),
                1,
                "binary");
        assertFailed(Child.run("report", folder.resolve("none.json").toString()), 1, "none.json: no such file");
        Path result = Files.writeString(folder.resolve("a.json"), RESULT);
        assertFailed(Child.run("report", result.toString(), "-o", result.toString()), 2, "would take its place");
        assertFailed(
                Child.run(
                        "report",
                        result.toString(),
                        "-o",
                        folder.resolve("no/x.html").toString()),
                1,
                "x.html");
        assertThat(Files.readString(result)).isEqualTo(RESULT);
    }

    private static void assertFailed(Child child, int exitCode, String text) {
        assertThat(child.err()).startsWith("taskclock: ").contains(text).hasLineCount(1);
        assertThat(child.out()).isEmpty();
        assertThat(child.exitCode()).isEqualTo(exitCode);
    }
}
