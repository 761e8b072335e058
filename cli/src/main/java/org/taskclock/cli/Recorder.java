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
import java.util.Locale;
import java.util.Map;
import java.util.TreeMap;
import java.util.concurrent.Callable;
import org.taskclock.watch.Frame;
import org.taskclock.watch.RecordingWriter;
import org.taskclock.watch.Sampler;
import org.taskclock.watch.Unwatchable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;

@Command(
        name = "record",
        mixinStandardHelpOptions = true,
        versionProvider = Main.Version.class,
        description = {
            "Writes down what each thread of a JVM uses, once a second, until Ctrl-C, or the JVM ends.",
            "The file is JSON in lines, compressed by gzip; what was written survives whatever ends this command or the JVM."
        },
        footer = {
            "",
            "Examples:",
            "  taskclock record 4711 -o night.gz --for 8h       one night",
            "  taskclock record 4711 -o last.gz --max-size 50M  for as long as it runs, the oldest goes",
            "  taskclock replay night.gz                        in the interface of top",
            "  zcat night.gz | jq -c 'select(.totals) | [.time, .totals.processNanos]'",
            "",
            "Exit codes: 0 recorded, also where the JVM ended, 1 it failed, 2 wrong usage, 4 no such process,",
            "5 not permitted."
        })
final class Recorder implements Callable<Integer> {
    /** A block with the names of some thousand threads has its place in half of it. */
    private static final long LEAST_BYTES = 200 << 10;

    @Parameters(index = "0", paramLabel = "PID|NAME", description = "The JVM.")
    private String jvm;

    @Option(
            names = {"-o", "--output"},
            paramLabel = "FILE",
            description = "Default: a name with the process id and the time.")
    private Path file;

    @Option(
            names = "--for",
            paramLabel = "TIME",
            converter = Amounts.Time.class,
            description = "500ms, 10s, 5m, 1h, 2d.")
    private Duration duration;

    @Option(
            names = "--every",
            paramLabel = "TIME",
            converter = Amounts.Time.class,
            defaultValue = "1s",
            description = "Default: ${DEFAULT-VALUE}.")
    private Duration every;

    @Option(
            names = "--max-size",
            paramLabel = "SIZE",
            converter = Amounts.Size.class,
            description = "100M, 2G: the oldest goes. The older half is in FILE.1.")
    private Long maxSize;

    @Option(
            names = "--max-age",
            paramLabel = "TIME",
            converter = Amounts.Time.class,
            description = "1h, 2d: the oldest goes, likewise.")
    private Duration maxAge;

    @Option(names = "--no-attach", description = "Names of 15 characters, and the JVM notices nothing.")
    private boolean noAttach;

    @Option(names = "--force", description = "Write over FILE if it is there.")
    private boolean force;

    @Override
    public Integer call() throws IOException, InterruptedException {
        if (maxSize != null && maxSize < LEAST_BYTES) {
            return Main.complain("record: --max-size: is " + LEAST_BYTES / 1024 + "K at least", Main.USAGE);
        }
        if (every.toMillis() < 100) return Main.complain("record: --every: is 100ms at least", Main.USAGE);
        Stop stop = new Stop();
        try {
            long pid = Choice.of(jvm, true);
            try (Sampler sampler = noAttach ? Sampler.withoutAttach(pid) : Sampler.of(pid)) {
                sampler.next();
                return record(sampler, stop);
            }
        } catch (Unwatchable e) {
            return Choice.complain(e);
        } catch (Target.Failure e) {
            return Main.complain(e.getMessage(), e.exitCode);
        }
    }

    private int record(Sampler sampler, Stop stop) {
        if (file == null) file = Path.of(defaultName(sampler.pid()));
        if (Files.isRegularFile(file) && !force) {
            return Main.complain("record: " + file + ": is there already: choose another, or say --force", Main.FAILED);
        }
        RecordingWriter.Limits limits =
                new RecordingWriter.Limits(maxSize == null ? 0 : maxSize, maxAge == null ? Duration.ZERO : maxAge);
        Instant last = null;
        try (RecordingWriter writer = new RecordingWriter(file, limits, Main.version(), machine())) {
            System.err.println("taskclock: recording process " + sampler.pid() + " (" + sampler.name() + ") into "
                    + file + (duration == null ? ": Ctrl-C ends it" : " for " + Amounts.time(duration)));
            String end = null;
            long frames = 0;
            long start = System.nanoTime();
            while (end == null) {
                long now = System.nanoTime() - start;
                // On the beat, however long a reading takes; beats that were missed are left out.
                long next = (now / every.toNanos() + 1) * every.toNanos();
                boolean over = duration != null && next >= duration.toNanos();
                if (over) next = Math.max(now, duration.toNanos());
                if (!stop.sleep(Duration.ofNanos(next - now))) end = "it was stopped";
                else if (over) end = "its time was up";
                try {
                    Frame frame = sampler.next();
                    writer.write(frame);
                    last = frame.end();
                    frames++;
                } catch (Unwatchable e) {
                    end = e.getMessage();
                }
            }
            writer.end(end);
            System.err.println(String.format(
                    Locale.ROOT,
                    "taskclock: %s: %,d intervals, %s, until %s: taskclock replay %s",
                    file,
                    frames,
                    Amounts.size(writer.bytes()),
                    end,
                    file));
            return Main.OK;
        } catch (IOException e) {
            return Main.complain(
                    "record: " + file + ": " + reason(e)
                            + (last == null ? "" : ": what was recorded up to " + last + " can be read"),
                    Main.FAILED);
        }
    }

    private static String defaultName(long pid) {
        return "taskclock-" + pid + "-"
                + DateTimeFormatter.ofPattern("yyyyMMdd-HHmmss").format(LocalDateTime.now(ZoneId.systemDefault()))
                + ".gz";
    }

    private static Map<String, String> machine() {
        Map<String, String> facts = new TreeMap<>();
        facts.put("kernel", System.getProperty("os.version"));
        facts.put("processors", Integer.toString(Runtime.getRuntime().availableProcessors()));
        try {
            facts.put(
                    "host",
                    Files.readString(Path.of("/proc/sys/kernel/hostname")).strip());
        } catch (IOException e) {
            facts.put("host", "unknown");
        }
        return facts;
    }

    /** Of the JDK's exceptions for files, some have the file's name as their message. */
    static String reason(IOException e) {
        if (e instanceof NoSuchFileException) return "there is no such folder";
        if (e instanceof AccessDeniedException) return "may not be written to";
        if (e instanceof FileSystemException f && f.getReason() != null) return f.getReason();
        return String.valueOf(e.getMessage());
    }
}
