// SPDX-License-Identifier: Apache-2.0
// Copyright the TaskClock authors
package org.taskclock.cli;

import java.io.IOException;
import java.nio.file.Path;
import java.time.Duration;
import java.time.Instant;
import java.time.LocalTime;
import java.time.ZoneId;
import java.time.ZonedDateTime;
import java.time.format.DateTimeParseException;
import java.util.Comparator;
import java.util.List;
import java.util.concurrent.Callable;
import org.taskclock.watch.Frame;
import org.taskclock.watch.Recording;
import org.taskclock.watch.Row;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.Parameters;
import picocli.CommandLine.Spec;

@Command(
        name = "replay",
        mixinStandardHelpOptions = true,
        versionProvider = Main.Version.class,
        description = {
            "Shows a recording in the interface of top; as text where the output is no terminal.",
            "A file that is damaged, or breaks off, is shown as far as it is whole."
        },
        footer = {
            "",
            "A time is 14:30, 14:30:05, 2026-11-21T14:30:05Z, or as +5m from the start.",
            "",
            "Examples:",
            "  taskclock replay night.gz                  from the start",
            "  taskclock replay night.gz --at 03:12 -b    that interval, as text",
            "  taskclock replay night.gz --from +1h --to +2h --json | jq -c 'select(.cpuPercent > 90)'",
            "",
            "Exit codes: 0 shown, 1 it failed, 2 wrong usage."
        })
final class Replay implements Callable<Integer> {
    @Spec
    private CommandSpec spec;

    @Parameters(index = "0", paramLabel = "FILE", description = "As record has written it.")
    private Path file;

    @Option(names = "--from", paramLabel = "TIME", description = "Nothing before.")
    private String from;

    @Option(names = "--to", paramLabel = "TIME", description = "Nothing after.")
    private String to;

    @Option(names = "--at", paramLabel = "TIME", description = "Begin there; as text, only that interval.")
    private String at;

    @Option(
            names = "--speed",
            paramLabel = "FACTOR",
            description = "10: ten times as fast as it was. As it was unless given; as text, all at once.")
    private Double speed;

    @Mixin
    private Shown shown;

    @Override
    public Integer call() throws IOException {
        shown.check(spec);
        if (speed != null && !(speed > 0)) throw misused("--speed " + speed + ": more than 0");
        try (Recording recording = Recording.open(file)) {
            for (String fault : recording.faults()) System.err.println("taskclock: " + fault);
            recording.limit(time("--from", from, recording), time("--to", to, recording));
            if (recording.frames() == 0) {
                return Main.complain("replay: " + file + ": holds no interval of that time", Main.FAILED);
            }
            Instant there = time("--at", at, recording);
            if (there != null) recording.seek(there);
            if (shown.isForTerminal() && Tty.usable()) return show(recording);
            print(recording, there != null);
            if (there == null && to == null && recording.end() == null)
                System.err.println(
                        "taskclock: " + file + ": breaks off here: what wrote it was ended, or is still at it");
            return Main.OK;
        } catch (java.nio.file.NoSuchFileException e) {
            return Main.complain("replay: " + file + ": there is no such file", Main.FAILED);
        } catch (java.nio.file.FileSystemException e) {
            return Main.complain("replay: " + file + ": " + Recorder.reason(e), Main.FAILED);
        } catch (IOException e) {
            if ("Broken pipe".equals(e.getMessage())) throw e;
            return Main.complain("replay: " + e.getMessage(), Main.FAILED);
        }
    }

    private ParameterException misused(String message) {
        return new ParameterException(spec.commandLine(), message);
    }

    private int show(Recording recording) throws IOException {
        Frame first = recording.iterator().next();
        double seconds = first.intervalNanos() / 1e9 / (speed == null ? 1 : speed);
        Screen.run(List.of(recording), shown.screen(seconds, 0, Column.CPU));
        return Main.OK;
    }

    private void print(Recording recording, boolean one) throws IOException {
        TopText text = new TopText(false);
        Main.print(shown.head());
        Stop stop = new Stop();
        for (Frame frame; (frame = recording.next()) != null; ) {
            if (speed != null && !stop.sleep(Duration.ofNanos((long) (frame.intervalNanos() / speed)))) return;
            Main.print(shown.of(frame, Comparator.comparingLong(Row::cpuNanos).reversed(), text));
            if (one || stop.isTold()) return;
        }
    }

    private Instant time(String option, String text, Recording recording) {
        if (text == null) return null;
        try {
            if (text.startsWith("+")) return recording.started().plus(new Amounts.Time().convert(text.substring(1)));
            if (text.contains("T")) return Instant.parse(text);
            // On the day of the recording, or the one after.
            ZonedDateTime start = recording.started().atZone(ZoneId.systemDefault());
            ZonedDateTime time = start.with(LocalTime.parse(text));
            // Who says 14:30 may mean the minute in which it was begun.
            return (time.isBefore(start.minusMinutes(1)) ? time.plusDays(1) : time).toInstant();
        } catch (DateTimeParseException | picocli.CommandLine.TypeConversionException e) {
            throw misused(option + " \"" + text + "\" is no time, as 14:30, 14:30:05, 2026-11-21T14:30:05Z or +5m");
        }
    }
}
