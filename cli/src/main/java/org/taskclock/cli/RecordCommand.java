// SPDX-License-Identifier: Apache-2.0
// Copyright the TaskClock authors
package org.taskclock.cli;

import java.io.IOException;
import java.nio.file.AccessDeniedException;
import java.nio.file.FileSystemException;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.time.Duration;
import java.time.Instant;
import java.time.LocalDateTime;
import java.time.ZoneId;
import java.time.format.DateTimeFormatter;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.TreeMap;
import java.util.concurrent.Callable;
import org.taskclock.monitor.attach.TemporaryAgent;
import org.taskclock.monitor.proc.MonitorException;
import org.taskclock.monitor.recording.RecordingWriter;
import org.taskclock.monitor.sampling.Interval;
import org.taskclock.monitor.sampling.Sampler;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.Parameters;
import picocli.CommandLine.Spec;

@Command(
        name = "record",
        description = {
            "Record per-thread CPU time to a file until interrupted or the JVM exits.",
            "The file is JSON lines, compressed with gzip. It remains readable if this command or the JVM is killed."
        },
        footer = {
            "",
            "Examples:",
            "  taskclock record 4711 -o night.gz --for 8h       one night",
            "  taskclock record 4711 -o last.gz --max-size 50M  keep the latest data",
            "  taskclock record orders 5s 12 -o minute.gz       12 intervals of 5 seconds",
            "  taskclock record orders --accounts -o tenants.gz  with the CPU time of named accounts",
            "  taskclock record orders --evidence --for 8h       with what explains each finding",
            "  taskclock replay night.gz                        view the recording",
            "  zcat night.gz | jq -c 'select(.totals) | [.time, .totals.processNanos]'",
            "",
            "Exit codes: 0 recorded (including when the JVM exits), 1 failure, 2 usage error, 4 no such process,"
                    + " 5 permission denied."
        })
final class RecordCommand implements Callable<Integer> {
    /** Half of this is enough for a block with the names of a few thousand threads. */
    private static final long MIN_SIZE_BYTES = 200 << 10;

    private static final Duration MIN_INTERVAL = Duration.ofMillis(100);

    @Mixin
    private SamplerOptions target;

    @Option(
            names = {"-o", "--output"},
            paramLabel = "FILE",
            description = "Output file (default: taskclock-PID-TIME.gz).")
    private Path file;

    @Option(
            names = "--for",
            paramLabel = "TIME",
            description = "Stop after this time, such as 500ms, 10s, 5m, 1h or 2d.")
    private Duration duration;

    @Parameters(
            index = "1..2",
            arity = "0..2",
            paramLabel = "[INTERVAL [COUNT]]",
            hideParamSyntax = true,
            description = "Interval, such as 500ms or 5s; number of intervals.")
    private List<String> arguments = new ArrayList<>();

    @Mixin
    private IntervalOptions interval;

    @Option(
            names = "--max-size",
            paramLabel = "SIZE",
            converter = UnitConverters.SizeConverter.class,
            description = "Keep at most this much data, such as 100M or 2G, and drop the oldest. FILE.1 holds the older"
                    + " half.")
    private Long maxSize;

    @Option(
            names = "--max-age",
            paramLabel = "TIME",
            description = "Keep data for this long, such as 1h or 2d, and drop older data.")
    private Duration maxAge;

    @Option(
            names = "--accounts",
            description =
                    "Include named accounts, such as tenants. Load the agent while recording, if it is not there.")
    private boolean accounts;

    @Option(
            names = "--evidence",
            description = "When a finding begins, add a thread dump and a profile of five seconds to the recording.")
    private boolean evidence;

    @Spec
    private CommandSpec spec;

    @Option(names = "--force", description = "Overwrite FILE if it exists.")
    private boolean force;

    @Override
    public Integer call() throws IOException, CommandException {
        if (maxSize != null && maxSize < MIN_SIZE_BYTES) {
            return Main.fail("record: --max-size: must be at least " + MIN_SIZE_BYTES / 1024 + "K", Main.USAGE);
        }
        TerminationSignal termination = new TerminationSignal();
        interval.parse(target.jvm().arguments(arguments), MIN_INTERVAL);
        if ((accounts || evidence) && target.isAttachDisabled())
            throw new ParameterException(
                    spec.commandLine(),
                    (accounts ? "--accounts" : "--evidence") + " requires attaching: remove --no-attach");
        long pid = target.jvm().selectBeforeArguments();
        TemporaryAgent agent = accounts ? TemporaryAgent.reportingAccounts(pid) : null;
        try (Sampler sampler = target.open(pid)) {
            sampler.next();
            return record(sampler, termination);
        } finally {
            if (agent != null) agent.close();
        }
    }

    private int record(Sampler sampler, TerminationSignal termination) {
        if (file == null) file = Path.of(defaultName(sampler.pid(), ".gz"));
        if (Files.isRegularFile(file) && !force) {
            return Main.fail("record: " + file + ": file exists: choose another name or use --force", Main.FAILED);
        }
        RecordingWriter.Limits limits =
                new RecordingWriter.Limits(maxSize == null ? 0 : maxSize, maxAge == null ? Duration.ZERO : maxAge);
        Instant lastWritten = null;
        try (RecordingWriter writer = new RecordingWriter(file, limits, Main.version(), machine(true));
                RecordedEvidence kept = evidence ? new RecordedEvidence(sampler, writer) : null) {
            System.err.println("taskclock: recording process " + sampler.pid() + " (" + sampler.name() + ") to " + file
                    + (duration == null
                            ? ": press Ctrl-C to stop"
                            : " for " + UnitConverters.formatDuration(duration)));
            String end = null;
            long count = 0;
            long everyNanos = interval.interval().toNanos();
            long start = System.nanoTime();
            Schedule schedule = new Schedule(start + everyNanos);
            while (end == null) {
                boolean isLast = duration != null && schedule.due() - start >= duration.toNanos();
                long next = isLast ? start + duration.toNanos() : schedule.due();
                if (!termination.sleepUntil(next)) end = "interrupted";
                else if (isLast) end = "time limit reached";
                schedule.advance(System.nanoTime(), everyNanos);
                try {
                    Interval interval = sampler.next();
                    writer.write(interval);
                    if (kept != null) kept.add(interval);
                    lastWritten = interval.end();
                    count++;
                } catch (MonitorException e) {
                    end = e.getMessage();
                }
                if (end == null && count == interval.count()) end = "count reached";
            }
            if (kept != null) kept.end();
            writer.end(end);
            System.err.println(String.format(
                    Locale.ROOT,
                    "taskclock: %s: %,d intervals, %s: %s: view with taskclock replay %s",
                    file,
                    count,
                    UnitConverters.formatSize(writer.bytes()),
                    end,
                    file));
            return Main.OK;
        } catch (IOException e) {
            return Main.fail(
                    "record: " + file + ": " + describe(e)
                            + (lastWritten == null ? "" : ": the recording is readable up to " + lastWritten),
                    Main.FAILED);
        }
    }

    static String defaultName(long pid, String suffix) {
        return "taskclock-" + pid + "-"
                + DateTimeFormatter.ofPattern("yyyyMMdd-HHmmss").format(LocalDateTime.now(ZoneId.systemDefault()))
                + suffix;
    }

    static Map<String, String> machine(boolean withHost) {
        Map<String, String> machine = new TreeMap<>();
        machine.put("kernel", System.getProperty("os.version"));
        machine.put("processors", Integer.toString(Runtime.getRuntime().availableProcessors()));
        if (!withHost) return machine;
        try {
            machine.put(
                    "host",
                    Files.readString(Path.of("/proc/sys/kernel/hostname")).strip());
        } catch (IOException e) {
            machine.put("host", "unknown");
        }
        return machine;
    }

    /** Describes why a file cannot be used. File system exceptions often carry only the file name as their message. */
    static String describe(IOException e) {
        if (e instanceof NoSuchFileException) return "no such file or directory";
        if (e instanceof AccessDeniedException) return "permission denied";
        if (e instanceof FileSystemException f && f.getReason() != null) return f.getReason();
        return String.valueOf(e.getMessage());
    }
}
