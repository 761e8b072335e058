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
import java.util.concurrent.Callable;
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
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;

@Command(
        name = "bundle",
        description = {
            "Write a file with all that a colleague needs to see where the CPU time of a JVM goes.",
            "It contains the output of why, a recording, a thread dump with figures, a profile, the state of the agent,"
                    + " the JVM's version and command line, and a report about this machine."
        },
        footer = {
            "",
            "Examples:",
            "  taskclock bundle 4711",
            "  taskclock bundle orders --for 30s --redact -o orders.zip",
            "",
            "Exit codes: 0 success, 1 failure, 2 usage error, 4 no such process (or it exited), 5 permission denied."
        })
final class BundleCommand implements Callable<Integer> {
    private static final Duration INTERVAL = Duration.ofSeconds(1);
    private static final Duration PROFILE = Duration.ofSeconds(5);
    private static final long TIMEOUT_MILLIS = 10_000;

    @Mixin
    private JvmOption jvm;

    @Option(
            names = "--for",
            paramLabel = "TIME",
            defaultValue = "10s",
            description = "How long to record (default: ${DEFAULT-VALUE}). The profile takes 5 s more.")
    private Duration duration;

    @Option(
            names = {"-o", "--output"},
            paramLabel = "FILE",
            description = "Output file (default: taskclock-PID-TIME.zip). Only its owner may read it.")
    private Path file;

    @Option(
            names = "--redact",
            description = "Replace the names of the program, its threads, and its accounts, and leave out its command"
                    + " line and the name of the host. The names of classes and methods stay.")
    private boolean redact;

    private final Redaction redaction = new Redaction();
    private TerminationSignal termination;
    private final List<String> missing = new ArrayList<>();

    /** A part of the bundle. */
    @FunctionalInterface
    private interface Part {
        String text() throws IOException;
    }

    @Override
    public Integer call() throws IOException, CommandException {
        termination = new TerminationSignal();
        long pid = jvm.select();
        if (file == null) file = Path.of(RecordCommand.defaultName(pid, ".zip"));
        Path folder = file.toAbsolutePath().getParent();
        Path temporary = Files.createTempFile(folder, ".taskclock", ".zip");
        try {
            try (ZipOutputStream zip = new ZipOutputStream(Files.newOutputStream(temporary))) {
                write(pid, zip);
            }
            Files.setPosixFilePermissions(temporary, PosixFilePermissions.fromString("rw-------"));
            Files.move(temporary, file, StandardCopyOption.REPLACE_EXISTING);
        } finally {
            Files.deleteIfExists(temporary);
        }
        for (String reason : missing) System.err.println("taskclock: without " + reason);
        System.err.println("taskclock: " + file + ": " + UnitConverters.formatSize(Files.size(file)));
        return Main.OK;
    }

    private void write(long pid, ZipOutputStream zip) throws IOException {
        Explanation explanation = new Explanation();
        Path recording = Files.createTempFile("taskclock", ".gz");
        try (Sampler sampler = Sampler.of(pid)) {
            System.err.println(
                    "taskclock: recording process " + pid + " for " + UnitConverters.formatDuration(duration));
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
        System.err.println("taskclock: profiling for " + UnitConverters.formatDuration(PROFILE));
        add(zip, "profile.html", () -> profile(pid));
        add(zip, "agent.txt", () -> agent(pid));
        add(zip, "jvm.txt", () -> describe(pid));
        add(zip, "machine.md", BundleCommand::machine);
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
            do {
                termination.sleep(left.compareTo(INTERVAL) < 0 ? left : INTERVAL);
                left = left.minus(INTERVAL);
                last = sampler.next();
                Interval written = redact ? redaction.apply(last) : last;
                writer.write(written);
                explanation.add(written);
            } while (left.compareTo(Duration.ZERO) > 0 && !termination.isReceived());
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

    private String profile(long pid) throws IOException {
        Profiler.Settings settings = new Profiler.Settings(
                ProfileSelection.all(), ProfileSource.AUTO, null, PROFILE, Profiler.DEFAULT_PERIOD.toNanos());
        Profile profile = Profiler.run(pid, settings, termination::sleep);
        return ProfilePage.of(
                redact ? profile.anonymous("program") : profile, List.of("profile", Long.toString(pid), "--for", "5s"));
    }

    private static String agent(long pid) throws IOException {
        TargetJvm target = TargetJvm.of(pid);
        if (target.yieldMode() == null) return "no agent\n";
        return StatusCommand.text(target.report());
    }

    private String describe(long pid) throws IOException {
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
