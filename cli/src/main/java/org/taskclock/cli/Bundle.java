// SPDX-License-Identifier: Apache-2.0
// Copyright the TaskClock authors
package org.taskclock.cli;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.nio.file.attribute.PosixFilePermissions;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.function.Consumer;
import java.util.function.Predicate;
import java.util.zip.ZipEntry;
import java.util.zip.ZipOutputStream;
import org.taskclock.ClockStatus;
import org.taskclock.TaskClock;
import org.taskclock.metrics.ThreadNames;
import org.taskclock.monitor.attach.AttachClient;
import org.taskclock.monitor.attach.TargetJvm;
import org.taskclock.monitor.attach.ThreadDump;
import org.taskclock.monitor.profile.Profile;
import org.taskclock.monitor.profile.ProfileSelection;
import org.taskclock.monitor.profile.ProfileSource;
import org.taskclock.monitor.profile.Profiler;
import org.taskclock.monitor.recording.RecordingWriter;
import org.taskclock.monitor.sampling.Explanation;
import org.taskclock.monitor.sampling.Interval;
import org.taskclock.monitor.sampling.MeasuredDump;
import org.taskclock.monitor.sampling.Sampler;
import org.taskclock.report.MachineInfo;

/** Writes a file with all that a colleague needs to see where the CPU time of a JVM goes. */
final class Bundle {
    private static final Duration INTERVAL = Duration.ofSeconds(1);
    private static final Duration PROFILE = Duration.ofSeconds(5);
    private static final long TIMEOUT_MILLIS = 10_000;

    private final long pid;
    private final Duration duration;
    private final boolean redact;
    private final Predicate<Duration> sleep;
    private final Consumer<String> progress;
    private final Redaction redaction = new Redaction();
    private final List<String> missing = new ArrayList<>();

    /** A part of the bundle. */
    @FunctionalInterface
    private interface Part {
        String text() throws IOException;
    }

    /**
     * Prepares a bundle.
     *
     * @param duration how long to record
     * @param redact whether the names that the program has chosen are replaced
     * @param sleep waits for the given time, or returns false early if the bundle should be completed now
     * @param progress receives what is being done
     */
    Bundle(long pid, Duration duration, boolean redact, Predicate<Duration> sleep, Consumer<String> progress) {
        this.pid = pid;
        this.duration = duration;
        this.redact = redact;
        this.sleep = sleep;
        this.progress = progress;
    }

    /** Writes the file, which only its owner may read. Returns the parts that are missing, with the reason. */
    List<String> write(Path file) throws IOException {
        Path folder = file.toAbsolutePath().getParent();
        Path temporary = Files.createTempFile(folder, ".taskclock", ".zip");
        try {
            try (ZipOutputStream zip = new ZipOutputStream(Files.newOutputStream(temporary))) {
                write(zip);
            }
            Files.setPosixFilePermissions(temporary, PosixFilePermissions.fromString("rw-------"));
            Files.move(temporary, file, StandardCopyOption.REPLACE_EXISTING);
        } finally {
            Files.deleteIfExists(temporary);
        }
        return List.copyOf(missing);
    }

    private void write(ZipOutputStream zip) throws IOException {
        Explanation explanation = new Explanation();
        Path recording = Files.createTempFile("taskclock", ".gz");
        try (Sampler sampler = Sampler.of(pid)) {
            progress.accept("recording process " + pid + " for " + UnitConverters.formatDuration(duration));
            record(sampler, explanation, recording, zip);
            zip.putNextEntry(new ZipEntry("recording.gz"));
            Files.copy(recording, zip);
        } finally {
            Files.delete(recording);
        }
        add(
                zip,
                "why.txt",
                () -> String.join("\n", explanation.lines(problem -> TopText.TIME.format(problem.begin()))) + "\n");
        progress.accept("profiling for " + UnitConverters.formatDuration(PROFILE));
        add(zip, "profile.html", this::profile);
        add(zip, "agent.txt", this::agent);
        add(zip, "jvm.txt", this::describe);
        add(zip, "machine.md", Bundle::machine);
        add(zip, "missing.txt", () -> String.join("\n", missing));
    }

    private void record(Sampler sampler, Explanation explanation, Path recording, ZipOutputStream zip)
            throws IOException {
        sampler.watchJavaStatus(true);
        sampler.next();
        try (RecordingWriter writer = new RecordingWriter(
                recording, RecordingWriter.Limits.NONE, Main.version(), RecordCommand.machine(!redact))) {
            Interval last;
            Duration left = duration;
            boolean goesOn;
            do {
                goesOn = sleep.test(left.compareTo(INTERVAL) < 0 ? left : INTERVAL);
                left = left.minus(INTERVAL);
                last = sampler.next();
                Interval written = redact ? redaction.apply(last) : last;
                writer.write(written);
                explanation.add(written);
            } while (left.compareTo(Duration.ZERO) > 0 && goesOn);
            writer.end("time limit reached");
            Interval end = last;
            add(zip, "threads.txt", () -> dump(sampler, end));
        }
    }

    private String dump(Sampler sampler, Interval interval) throws IOException {
        ThreadDump dump = sampler.dump();
        String text = MeasuredDump.text(dump, interval);
        if (!redact) return text;
        dump.all().stream()
                .filter(entry -> entry.owner() == ThreadNames.Owner.JAVA)
                .forEach(entry -> redaction.thread(entry.name()));
        return redaction.text(text);
    }

    private String profile() throws IOException {
        Profiler.Settings settings = new Profiler.Settings(
                ProfileSelection.all(), ProfileSource.AUTO, null, PROFILE, Profiler.DEFAULT_PERIOD.toNanos(), true);
        Profile profile = Profiler.run(pid, settings, sleep);
        return ProfilePage.of(
                redact ? profile.anonymous("program") : profile, List.of("profile", Long.toString(pid), "--for", "5s"));
    }

    private String agent() throws IOException {
        TargetJvm target = TargetJvm.of(pid);
        if (target.yieldMode() == null) return "no agent\n";
        return StatusCommand.text(target.report());
    }

    private String describe() throws IOException {
        AttachClient client = AttachClient.of(pid);
        StringBuilder text = new StringBuilder(client.execute(TIMEOUT_MILLIS, "jcmd", "VM.version"));
        if (!redact) text.append(client.execute(TIMEOUT_MILLIS, "jcmd", "VM.command_line"));
        return text.append(client.execute(TIMEOUT_MILLIS, "jcmd", "VM.uptime")).toString();
    }

    private static String machine() throws IOException {
        ClockStatus status = TaskClock.status();
        String doctor = DoctorText.machine(MachineInfo.read(), status) + "\n" + DoctorText.backends(status);
        return new DoctorReport(Path.of("/")).of(Main.version(), doctor, System.getProperties(), System.getenv());
    }

    private void add(ZipOutputStream zip, String name, Part part) throws IOException {
        String text;
        try {
            text = part.text();
        } catch (IOException e) {
            missing.add(name + ": " + e.getMessage());
            return;
        }
        if (text.isEmpty()) return;
        zip.putNextEntry(new ZipEntry(name));
        zip.write(text.getBytes(StandardCharsets.UTF_8));
    }
}
