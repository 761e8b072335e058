// SPDX-License-Identifier: Apache-2.0
// Copyright the TaskClock authors
package org.taskclock.cli;

import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.concurrent.Callable;
import org.taskclock.report.RecordingPage;
import org.taskclock.report.ReportPage;
import org.taskclock.report.Result;
import org.taskclock.watch.Recording;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;

@Command(
        name = "report",
        mixinStandardHelpOptions = true,
        versionProvider = Main.Version.class,
        description = {
            "Draws results as one page of HTML: curves, bars, timelines, tables, flame graphs, findings, the machine, and how to"
                    + " repeat it.",
            "The page needs no network and no other file. Of several results it also shows where they differ."
        },
        footer = {
            "",
            "Examples:",
            "  taskclock report quick.json                        writes taskclock-report.html",
            "  taskclock report before.json after.json -o both.html",
            "",
            "Exit codes: 0 done, 1 it failed, 2 wrong usage."
        })
final class Report implements Callable<Integer> {
    @Parameters(arity = "1..*", paramLabel = "RESULT", description = "What bench, experiment or record has written.")
    private List<Path> files;

    @Option(
            names = {"-o", "--output"},
            paramLabel = "FILE",
            defaultValue = "taskclock-report.html",
            description = "The page to write, - for standard output; ${DEFAULT-VALUE} if not given.")
    private Path output;

    @Override
    public Integer call() throws IOException {
        List<Result> results = new ArrayList<>();
        for (Path file : files) {
            try {
                if (isSame(file, output)) {
                    return Main.complain(
                            file + ": is a result, the page would take its place: name another by -o", Main.USAGE);
                }
                results.addAll(read(file));
            } catch (NoSuchFileException e) {
                return Main.complain(
                        file + ": no such file: give what bench, experiment or record has written", Main.FAILED);
            } catch (IOException e) {
                String why = e.getMessage() == null ? e.toString() : e.getMessage();
                return Main.complain(why.contains(file.toString()) ? why : file + ": " + why, Main.FAILED);
            }
        }
        if (results.isEmpty())
            return Main.complain("results: there are none in what was given: record for longer", Main.FAILED);
        String page;
        try {
            page = ReportPage.of(results);
        } catch (IllegalArgumentException e) {
            return Main.complain("results: " + e.getMessage() + ": measure anew", Main.FAILED);
        }
        if (output.toString().equals("-")) {
            Main.print(page, StandardCharsets.UTF_8);
            return Main.OK;
        }
        write(page);
        Main.print(String.format(
                Locale.ROOT, "report: %s, %,d KiB: open it in a browser%n", output, page.length() / 1024));
        return Main.OK;
    }

    private static boolean isSame(Path file, Path other) throws IOException {
        return Files.exists(file) && Files.exists(other) && Files.isSameFile(file, other);
    }

    private static List<Result> read(Path file) throws IOException {
        if (!isCompressed(file)) return List.of(Result.read(file));
        try (Recording recording = Recording.open(file)) {
            return RecordingPage.results(recording, recording.machine(), recording.faults());
        } catch (UncheckedIOException e) {
            throw e.getCause(); // while its frames were read
        }
    }

    /** As recordings are, and results are not. */
    private static boolean isCompressed(Path file) throws IOException {
        try (InputStream in = Files.newInputStream(file)) {
            return in.read() == 0x1f && in.read() == 0x8b;
        }
    }

    /** All of it or nothing. */
    private void write(String page) throws IOException {
        byte[] bytes = page.getBytes(StandardCharsets.UTF_8); // writeString fails for halves of pairs
        if (Files.exists(output) && !Files.isRegularFile(output)) {
            Files.write(output, bytes);
            return;
        }
        Path beside = Path.of(output + ".part");
        try {
            Files.write(beside, bytes);
            Files.move(beside, output, StandardCopyOption.REPLACE_EXISTING, StandardCopyOption.ATOMIC_MOVE);
        } finally {
            Files.deleteIfExists(beside);
        }
    }
}
