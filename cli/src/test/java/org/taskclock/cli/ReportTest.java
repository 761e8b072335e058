// SPDX-License-Identifier: Apache-2.0
// Copyright the TaskClock authors
package org.taskclock.cli;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.file.Files;
import java.nio.file.Path;
import java.util.LinkedHashMap;
import java.util.Map;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** {@code taskclock report}. */
@Tag("slow17")
class ReportTest {
    private static final String RESULT =
            "{\"format\": \"taskclock-result/1\", \"kind\": \"bench\", \"name\": \"quick\"}";

    @TempDir
    private Path directory;

    @Test
    void shouldWriteAReport() throws Exception {
        Path result = Files.writeString(directory.resolve("a.json"), RESULT);
        Path page = directory.resolve("page.html");
        CliResult child = CliResult.runHere("report", result.toString(), result.toString(), "-o", page.toString());
        assertThat(child.err()).isEmpty();
        assertThat(child.exitCode()).isZero();
        assertThat(child.out()).startsWith("report: " + page);
        assertThat(Files.readString(page))
                .startsWith("<!DOCTYPE html>")
                .contains("bench quick", "uPlot")
                .endsWith("</html>\n");
        try (var files = Files.list(directory)) {
            assertThat(files).containsExactlyInAnyOrder(result, page);
        }
    }

    @Test
    void shouldWriteToStandardOutput() throws Exception {
        Path result = Files.writeString(directory.resolve("a.json"), RESULT);
        CliResult child = CliResult.runHere("report", result.toString(), "-o", "-");
        assertThat(child.exitCode()).isZero();
        assertThat(child.out()).startsWith("<!DOCTYPE html>").endsWith("</html>\n");
    }

    @Test
    void shouldRejectInvalidResults() throws Exception {
        Path garbage = Files.writeString(directory.resolve("garbage.json"), "{\"format\": 3}");
        assertFailed(
                CliResult.runHere(
                        "report",
                        garbage.toString(),
                        "-o",
                        directory.resolve("x.html").toString()),
                1,
                "garbage.json: is not a TaskClock result");
        Path binary = Files.write(directory.resolve("binary"), new byte[] {(byte) 0xff, 0, 1});
        assertFailed(
                CliResult.runHere(
                        "report",
                        binary.toString(),
                        "-o",
                        directory.resolve("x.html").toString()),
                1,
                "binary");
        assertFailed(
                CliResult.runHere("report", directory.resolve("none.json").toString()), 1, "none.json: no such file");
        Path result = Files.writeString(directory.resolve("a.json"), RESULT);
        assertFailed(
                CliResult.runHere("report", result.toString(), "-o", result.toString()), 2, "would be overwritten");
        assertFailed(
                CliResult.runHere(
                        "report",
                        result.toString(),
                        "-o",
                        directory.resolve("no/x.html").toString()),
                1,
                "x.html");
        assertThat(Files.readString(result)).isEqualTo(RESULT);
    }

    @Test
    void shouldSayWhatIsWrongWithAForeignFile() throws Exception {
        Map<String, String> problems = new LinkedHashMap<>();
        problems.put("", "is not a TaskClock result: it is empty");
        problems.put("hello world\n", "is not a TaskClock result: it is not a JSON object");
        problems.put("[1, 2", "is not a TaskClock result: it is not a JSON object");
        problems.put("42", "is not a TaskClock result: it is not a JSON object");
        problems.put("{\"a\": 1}", "is not a TaskClock result: it has no member \"format\"");
        problems.put(
                "{\"format\": \"taskclock-result/9\"}",
                "is not a TaskClock result: its format is \"taskclock-result/9\","
                        + " but this version reads \"taskclock-result/1\"");
        problems.put(RESULT.replace("\"quick\"", "[]"), "is damaged: a member of the result has the wrong type");
        for (Map.Entry<String, String> entry : problems.entrySet()) {
            Path file = Files.writeString(directory.resolve("foreign"), entry.getKey());
            assertThat(CliResult.runHere("report", file.toString(), "-o", directory + "/x.html"))
                    .isEqualTo(new CliResult(1, "", "taskclock: " + file + ": " + entry.getValue() + "\n"));
        }
        Path binary = Files.write(directory.resolve("binary"), new byte[] {(byte) 0xff, 0, 1});
        assertThat(CliResult.runHere("report", binary.toString()).err())
                .isEqualTo("taskclock: " + binary + ": is not a TaskClock result: it is not text\n");
        assertThat(CliResult.runHere("report", directory.toString()).err())
                .isEqualTo("taskclock: " + directory + ": Is a directory\n");
    }

    @Test
    void shouldNameAnOutputThatCannotBeWritten() throws Exception {
        Path result = Files.writeString(directory.resolve("a.json"), RESULT);
        assertThat(CliResult.runHere("report", result.toString(), "-o", "/dev/full")
                        .err())
                .isEqualTo("taskclock: report: /dev/full: No space left on device: choose another file with -o\n");
        Path missing = directory.resolve("no/x.html");
        assertThat(CliResult.runHere("report", result.toString(), "-o", missing.toString())
                        .err())
                .isEqualTo(
                        "taskclock: report: " + missing + ": no such file or directory: choose another file with -o\n");
    }

    private static void assertFailed(CliResult child, int exitCode, String text) {
        assertThat(child.err()).startsWith("taskclock: ").contains(text).hasLineCount(1);
        assertThat(child.out()).isEmpty();
        assertThat(child.exitCode()).isEqualTo(exitCode);
    }
}
