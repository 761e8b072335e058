// SPDX-License-Identifier: Apache-2.0
// Copyright the TaskClock authors
package org.taskclock.cli;

import java.io.IOException;
import java.nio.file.FileSystemException;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.time.Duration;
import java.time.Instant;
import java.time.LocalTime;
import java.time.ZoneId;
import java.time.ZonedDateTime;
import java.time.format.DateTimeFormatter;
import java.time.format.DateTimeParseException;
import java.time.temporal.ChronoUnit;
import java.util.List;
import java.util.Locale;
import java.util.concurrent.Callable;
import org.taskclock.monitor.finding.Evidence;
import org.taskclock.monitor.recording.Recording;
import org.taskclock.monitor.sampling.Interval;
import org.taskclock.monitor.sampling.ThreadColumn;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.Parameters;
import picocli.CommandLine.Spec;
import picocli.CommandLine.TypeConversionException;

@Command(
        name = "replay",
        description = {
            "Show a recording in the terminal interface of top, or as text if the output is not a terminal.",
            "Damaged blocks are skipped. A truncated file is shown up to its last complete interval."
        },
        footer = {
            "",
            "TIME is 14:30, 14:30:05, 2026-11-21T14:30:05Z, or +5m from the start. It must be within the recording.",
            "",
            "Keys: [ ] step, { } step by 60, ( ) previous and next finding, R what spiked, F1 help.",
            "",
            "Examples:",
            "  taskclock replay night.gz                  from the start",
            "  taskclock replay night.gz --at 03:12 -b    one interval, as text",
            "  taskclock replay night.gz --from +1h --to +2h --json | jq .cpuPercent",
            "  taskclock replay night.gz --evidence | less",
            "",
            "Exit codes: 0 success, 1 failure, 2 usage error."
        })
final class ReplayCommand implements Callable<Integer> {
    @Spec
    private CommandSpec spec;

    @Parameters(index = "0", paramLabel = "FILE", description = "Recording to show.")
    private Path file;

    @Option(names = "--from", paramLabel = "TIME", description = "Skip everything before this time.")
    private String from;

    @Option(names = "--to", paramLabel = "TIME", description = "Skip everything after this time.")
    private String to;

    @Option(
            names = "--at",
            paramLabel = "TIME",
            description = "Start at this time. In text mode, show only that interval.")
    private String at;

    @Option(
            names = "--speed",
            paramLabel = "FACTOR",
            description = "Playback speed, such as 10 for ten times real time (default: 1; in text mode, no delay).")
    private Double speed;

    @Option(
            names = "--evidence",
            description = "Print the thread dumps that record --evidence took when findings began.")
    private boolean evidence;

    @Mixin
    private OutputOptions output;

    @Mixin
    private ScreenOptions screen;

    @Override
    public Integer call() throws IOException {
        output.validate(spec);
        if (speed != null && !(speed > 0)) throw usageError("--speed " + speed + ": must be greater than 0");
        try (Recording recording = Recording.open(file)) {
            for (String fault : recording.faults()) System.err.println("taskclock: " + fault);
            if (recording.intervalCount() == 0) return Main.fail("replay: " + file + ": no intervals", Main.FAILED);
            Recording.Position whole = recording.position();
            Instant start = parseTime("--at", at, whole);
            Instant low = parseTime("--from", from, whole);
            Instant high = parseTime("--to", to, whole);
            recording.limit(low, high);
            if (recording.intervalCount() == 0) throw usageError("no interval ended in that time range");
            if (start != null && ((low != null && start.isBefore(low)) || (high != null && start.isAfter(high))))
                throw usageError("--at " + at + " is not between --from and --to");
            if (evidence) return printEvidence(recording);
            if (start != null) recording.seek(start);
            if (output.isForTerminal() && Tty.isUsable()) {
                TerminalUi.Outcome outcome = show(recording);
                if (outcome.terminalUsed()) return outcome.exitCode(Main.FAILED);
            }
            Tty.release();
            print(recording, start != null);
            if (start == null && to == null && recording.endReason() == null)
                System.err.println("taskclock: " + file + ": truncated: the recorder was killed or is still running");
            return Main.OK;
        } catch (NoSuchFileException e) {
            return Main.fail("replay: " + file + ": no such file", Main.FAILED);
        } catch (FileSystemException e) {
            return Main.fail("replay: " + file + ": " + RecordCommand.describe(e), Main.FAILED);
        } catch (IOException e) {
            if ("Broken pipe".equals(e.getMessage())) throw e;
            return Main.fail("replay: " + e.getMessage(), Main.FAILED);
        }
    }

    private ParameterException usageError(String message) {
        return new ParameterException(spec.commandLine(), message);
    }

    private TerminalUi.Outcome show(Recording recording) throws IOException {
        Interval first = recording.iterator().next();
        double seconds = first.intervalNanos() / 1e9 / (speed == null ? 1 : speed);
        return TerminalUi.run(
                List.of(recording),
                output.terminalUi(seconds, 0, ThreadColumn.CPU),
                screen.settings(spec, false),
                screen.mouse());
    }

    private void print(Recording recording, boolean firstOnly) throws IOException {
        TopText text = new TopText(false, ThreadColumn.CPU, output.showsAccounts());
        output.print(output.header());
        TerminationSignal termination = new TerminationSignal();
        for (Interval interval; (interval = recording.next()) != null; ) {
            if (speed != null && !termination.sleep(Duration.ofNanos((long) (interval.intervalNanos() / speed))))
                return;
            output.print(output.format(interval, ThreadColumn.CPU, text));
            if (firstOnly || termination.isReceived()) return;
        }
    }

    /** Returns the time, after checking that the recording covers it. */
    private int printEvidence(Recording recording) throws IOException {
        List<Evidence> all = recording.evidence();
        if (all.isEmpty()) return Main.fail("replay: " + file + ": no evidence: record with --evidence", Main.FAILED);
        for (Evidence one : all) {
            String dump = one.files().getOrDefault(Evidence.THREADS, "");
            Main.printUtf8(one.files().get(Evidence.WHY) + "\n" + dump + "\n");
        }
        return Main.OK;
    }

    private Instant parseTime(String option, String text, Recording.Position whole) {
        if (text == null) return null;
        Instant time = parseTime(option, text, whole.start());
        // People rarely type fractions of a second, and 14:30 may refer to the minute in which the recording began.
        ChronoUnit precision = text.length() == "14:30".length() ? ChronoUnit.MINUTES : ChronoUnit.SECONDS;
        if (!time.isBefore(whole.start().truncatedTo(precision)) && !time.isAfter(whole.end())) return time;
        DateTimeFormatter format =
                DateTimeFormatter.ofPattern("yyyy-MM-dd HH:mm:ss", Locale.ROOT).withZone(ZoneId.systemDefault());
        throw usageError(option + " " + text + " is outside of " + file + ": it covers " + format.format(whole.start())
                + " to " + format.format(whole.end()) + " (" + ZoneId.systemDefault() + ")");
    }

    private Instant parseTime(String option, String text, Instant start) {
        try {
            if (text.startsWith("+"))
                return start.plus(new UnitConverters.DurationConverter().convert(text.substring(1)));
            if (text.contains("T")) return Instant.parse(text);
            // A time of day is on the first day of the recording, or on the second if it is before the start.
            ZonedDateTime first = start.atZone(ZoneId.systemDefault());
            ZonedDateTime time = first.with(LocalTime.parse(text));
            return (time.isBefore(first.minusMinutes(1)) ? time.plusDays(1) : time).toInstant();
        } catch (DateTimeParseException | TypeConversionException e) {
            throw usageError(
                    option + " \"" + text + "\" is not a time such as 14:30, 14:30:05, 2026-11-21T14:30:05Z or +5m");
        }
    }
}
