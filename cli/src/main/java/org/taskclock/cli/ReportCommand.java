// SPDX-License-Identifier: Apache-2.0
// Copyright the TaskClock authors
package org.taskclock.cli;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.time.ZoneId;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.concurrent.Callable;
import org.taskclock.monitor.recording.Recording;
import org.taskclock.report.RecordingResults;
import org.taskclock.report.ReportPage;
import org.taskclock.report.Result;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;

@Command(
        name = "report",
        description = {
            "Render results as a self-contained HTML report.",
            "The report has findings, charts, timelines, tables, flame graphs, machine details, and the commands that"
                    + " reproduce the results. With several results, it also compares them. A recording has a heatmap"
                    + " of threads and time. Times are in the time zone of this system."
        },
        footer = {
            "",
            "Examples:",
            "  taskclock report quick.json          writes taskclock-report.html",
            "  taskclock report before.json after.json -o both.html",
            "",
            "Exit codes: 0 success, 1 failure, 2 usage error."
        })
final class ReportCommand implements Callable<Integer> {
    @Parameters(arity = "1..*", paramLabel = "RESULT", description = "Output files of bench, experiment or record.")
    private List<Path> files;

    @Option(
            names = {"-o", "--output"},
            paramLabel = "FILE",
            defaultValue = "taskclock-report.html",
            description = "Output file, or - for standard output (default: ${DEFAULT-VALUE}).")
    private Path output;

    @Override
    public Integer call() throws IOException {
        List<Result> results = new ArrayList<>();
        List<String> names = new ArrayList<>();
        for (Path file : files) {
            try {
                if (isSame(file, output)) {
                    return Main.fail(
                            file + ": is an input file and would be overwritten: choose another file with -o",
                            Main.USAGE);
                }
                for (Result result : read(file)) {
                    results.add(result);
                    names.add(file.getFileName().toString().replaceFirst("\\.[^.]*$", ""));
                }
            } catch (NoSuchFileException e) {
                return Main.fail(
                        file + ": no such file: specify an output file of bench, experiment or record", Main.FAILED);
            } catch (IOException e) {
                String message = RecordCommand.describe(e);
                return Main.fail(message.contains(file.toString()) ? message : file + ": " + message, Main.FAILED);
            }
        }
        if (results.isEmpty())
            return Main.fail("report: no results in the given files: record for longer", Main.FAILED);
        String page;
        try {
            page = ReportPage.of(results, names, ZoneId.systemDefault());
        } catch (IllegalArgumentException e) {
            return Main.fail("report: " + e.getMessage() + ": measure again", Main.FAILED);
        }
        if (output.toString().equals("-")) {
            Main.printUtf8(page);
            return Main.OK;
        }
        try {
            write(output, page);
        } catch (IOException e) {
            return Main.fail(
                    "report: " + output + ": " + RecordCommand.describe(e) + ": choose another file with -o",
                    Main.FAILED);
        }
        Main.print(String.format(
                Locale.ROOT, "report: %s, %,d KiB: open it in a browser%n", output, page.length() / 1024));
        return Main.OK;
    }

    private static boolean isSame(Path file, Path other) throws IOException {
        return Files.exists(file) && Files.exists(other) && Files.isSameFile(file, other);
    }

    private static List<Result> read(Path file) throws IOException {
        if (!Recording.isLikely(file)) return List.of(Result.read(file));
        try (Recording recording = Recording.open(file)) {
            return RecordingResults.of(
                    recording, recording.evidence(), recording.machine(), recording.faults(), ZoneId.systemDefault());
        } catch (UncheckedIOException e) {
            throw e.getCause(); // from iterating over the intervals
        }
    }

    static void write(Path output, String text) throws IOException {
        write(output, text.getBytes(StandardCharsets.UTF_8)); // writeString rejects unpaired surrogates
    }

    /** Writes a file, replacing it atomically. */
    static void write(Path output, byte... bytes) throws IOException {
        if (Files.exists(output) && !Files.isRegularFile(output)) {
            Files.write(output, bytes);
            return;
        }
        Path temporary = Path.of(output + ".part");
        try {
            Files.write(temporary, bytes);
            Files.move(temporary, output, StandardCopyOption.REPLACE_EXISTING, StandardCopyOption.ATOMIC_MOVE);
        } finally {
            Files.deleteIfExists(temporary);
        }
    }
}
