// SPDX-License-Identifier: Apache-2.0
// Copyright the TaskClock authors
package org.taskclock.web;

import java.io.IOException;
import java.io.InputStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.nio.file.attribute.PosixFilePermissions;
import java.time.Clock;
import java.time.Duration;
import java.time.Instant;
import java.time.ZoneOffset;
import java.time.format.DateTimeFormatter;
import java.util.ArrayDeque;
import java.util.Comparator;
import java.util.Deque;
import java.util.HashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.concurrent.ArrayBlockingQueue;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.TimeUnit;
import java.util.function.Consumer;
import java.util.stream.Stream;
import java.util.zip.ZipEntry;
import java.util.zip.ZipFile;
import java.util.zip.ZipOutputStream;
import org.taskclock.history.JvmKey;
import org.taskclock.monitor.finding.Finding;
import org.taskclock.monitor.profile.Profile;
import org.taskclock.monitor.profile.ProfileException;
import org.taskclock.monitor.profile.ProfileSelection;
import org.taskclock.monitor.profile.ProfileSource;
import org.taskclock.monitor.profile.Profiler;
import org.taskclock.monitor.recording.Mark;
import org.taskclock.monitor.sampling.MeasuredDump;
import org.taskclock.monitor.usage.DaemonThread;
import org.taskclock.web.http.InternalErrors;

/**
 * Keeps what explains a finding after it has ended: when one begins, a thread dump that says what each thread has just
 * used, and a profile of the threads concerned, in one file. Files are deleted with the history of that time.
 *
 * <p>The cost is limited: one a minute for each JVM, one an hour for each cause, and twelve an hour in all. Each takes
 * about a second of CPU time of the JVM, most of it to start Flight Recorder, so together less than 0.5 % of a
 * processor.
 */
final class Evidence implements AutoCloseable {
    static final String SUFFIX = ".zip";
    static final String PART = ".part";

    static final String THREADS = "threads.txt";
    static final String PROFILE = "profile.collapsed";
    static final String WHY = "why.txt";

    private static final Duration PAUSE = Duration.ofMinutes(1);
    private static final Duration SAME_CAUSE = Duration.ofHours(1);
    private static final int MAX_PER_HOUR = 12;
    private static final int MAX_WAITING = 4;

    private static final Duration MEASURED = Duration.ofSeconds(1);
    private static final Duration PROFILED = Duration.ofSeconds(5);

    private static final long MAX_FILE_BYTES = 2 << 20;
    /** Characters of a text before it is compressed, mostly to a tenth. */
    static final int MAX_PART = 4 << 20;

    private static final long MAX_BYTES = 100 << 20;

    private static final DateTimeFormatter TIME =
            DateTimeFormatter.ofPattern("yyyyMMdd-HHmmss").withZone(ZoneOffset.UTC);

    private record Task(JvmKey jvm, DatedFinding finding) {}

    /** A part of a file. */
    @FunctionalInterface
    private interface Part {
        String text() throws IOException;
    }

    private final Path directory;
    private final Duration keep;
    private final Clock clock;
    private final Consumer<Mark> marks;
    private final Consumer<String> log;

    private final BlockingQueue<Task> tasks = new ArrayBlockingQueue<>(MAX_WAITING);
    private final DaemonThread thread = new DaemonThread(this::run, "taskclock-evidence");

    /** What was logged last; empty if the last evidence could be kept. Of our thread. */
    private String logged = "";

    // Of the thread that calls begin().

    private final Map<String, Instant> lastOfJvm = new HashMap<>();
    private final Map<String, Instant> lastOfCause = new HashMap<>();
    private final Deque<Instant> lastHour = new ArrayDeque<>();

    /**
     * @param keep how long a file is kept
     * @param marks receives a mark for each file
     */
    Evidence(Path directory, Duration keep, Clock clock, Consumer<Mark> marks, Consumer<String> log) {
        this.directory = directory;
        this.keep = keep;
        this.clock = clock;
        this.marks = marks;
        this.log = log;
    }

    void start() {
        thread.start();
    }

    /** Called when a finding begins. Returns at once. */
    void begin(JvmKey jvm, DatedFinding finding) {
        if (tasks.remainingCapacity() > 0 && mayTake(jvm.id(), finding.finding(), clock.instant()))
            tasks.add(new Task(jvm, finding));
    }

    /** Returns whether evidence may be taken now, considering its cost, and counts it. */
    boolean mayTake(String jvm, Finding finding, Instant now) {
        lastOfJvm.values().removeIf(at -> !at.plus(PAUSE).isAfter(now));
        lastOfCause.values().removeIf(at -> !at.plus(SAME_CAUSE).isAfter(now));
        lastHour.removeIf(at -> !at.plus(Duration.ofHours(1)).isAfter(now));
        String cause = jvm + " " + DatedFinding.key(finding);
        if (lastOfJvm.containsKey(jvm) || lastOfCause.containsKey(cause) || lastHour.size() >= MAX_PER_HOUR)
            return false;
        lastOfJvm.put(jvm, now);
        lastOfCause.put(cause, now);
        lastHour.add(now);
        return true;
    }

    private void run() {
        try {
            while (true) {
                Task task = tasks.poll(1, TimeUnit.HOURS);
                try {
                    if (task == null) deleteOld();
                    else take(task);
                    logged = "";
                } catch (IOException e) {
                    log(e.getMessage());
                } catch (RuntimeException | Error e) {
                    log(InternalErrors.describe(e));
                }
            }
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }

    private void take(Task task) throws IOException {
        String name = write(task.jvm, task.finding);
        String text = "evidence of " + task.finding.finding().kind() + ": " + name;
        marks.accept(new Mark(clock.instant(), task.jvm.id(), "evidence", text));
    }

    /** Logs why evidence cannot be kept, once until it can be. */
    private void log(String reason) {
        if (!logged.equals(reason)) log.accept("no evidence is kept: " + reason);
        logged = String.valueOf(reason);
    }

    /** Takes the evidence. Returns the name of the file. */
    String write(JvmKey jvm, DatedFinding finding) throws IOException {
        Files.createDirectories(
                directory, PosixFilePermissions.asFileAttribute(PosixFilePermissions.fromString("rwx------")));
        deleteOld();
        String name = jvm.id() + "-" + TIME.format(clock.instant()) + "-"
                + finding.finding().kind() + SUFFIX;
        Path temporary = Files.createTempFile(directory, ".", PART); // only its owner may read it
        try {
            StringBuilder why = new StringBuilder(describe(jvm, finding));
            try (ZipOutputStream zip = new ZipOutputStream(Files.newOutputStream(temporary))) {
                add(zip, why, THREADS, () -> MeasuredDump.take(jvm.pid(), MEASURED, Evidence::sleep));
                add(zip, why, PROFILE, () -> profile(jvm.pid(), finding.finding(), why));
                add(zip, why, WHY, why::toString);
            }
            if (Files.size(temporary) > MAX_FILE_BYTES) throw new IOException("larger than 2 MB");
            Files.move(temporary, directory.resolve(name), StandardCopyOption.ATOMIC_MOVE);
        } finally {
            Files.deleteIfExists(temporary);
        }
        return name;
    }

    private static String describe(JvmKey jvm, DatedFinding dated) {
        Finding finding = dated.finding();
        return String.join(
                        "\n",
                        finding.kind() + ": " + finding.text(),
                        "process " + jvm.pid() + " (" + jvm.service() + "), since " + dated.since(),
                        String.join("\n", finding.evidence()),
                        finding.kind().meaning(),
                        finding.kind().action())
                + "\n";
    }

    /** Adds a part, or the reason why it is missing to the description. */
    private static void add(ZipOutputStream zip, StringBuilder why, String name, Part part) throws IOException {
        String text;
        try {
            text = part.text();
        } catch (IOException e) {
            why.append("without ")
                    .append(name)
                    .append(": ")
                    .append(e.getMessage())
                    .append('\n');
            return;
        }
        if (text.length() > MAX_PART) why.append(name).append(" is cut\n");
        zip.putNextEntry(new ZipEntry(name));
        zip.write(text.substring(0, Math.min(MAX_PART, text.length())).getBytes(StandardCharsets.UTF_8));
    }

    private static String profile(long pid, Finding finding, StringBuilder why) throws IOException {
        Profile profile = profile(pid, selection(finding), PROFILED);
        String samples = String.format(Locale.ROOT, "%,d samples of ", profile.samples());
        why.append(samples + profile.threads() + ", " + profile.source() + "\n");
        for (String note : profile.notes()) why.append("note: " + note + "\n");
        return profile.collapsed();
    }

    /** Profiles threads with the best source that works. */
    static Profile profile(long pid, ProfileSelection selection, Duration duration) throws IOException {
        Profile profile;
        try {
            profile = profile(pid, selection, ProfileSource.AUTO, duration);
        } catch (ProfileException e) {
            // async-profiler may be in use, also for our continuous profiles.
            profile = profile(pid, selection, ProfileSource.JFR, duration);
        }
        // Before JDK 25, Flight Recorder does not sample native code, such as that of Thread.yield.
        return profile.samples() > 0 ? profile : profile(pid, selection, ProfileSource.STACKS, duration);
    }

    private static Profile profile(long pid, ProfileSelection selection, ProfileSource source, Duration duration)
            throws IOException {
        Profiler.Settings settings =
                new Profiler.Settings(selection, source, null, duration, Profiler.DEFAULT_PERIOD.toNanos());
        return Profiler.run(pid, settings, Evidence::sleep);
    }

    private static ProfileSelection selection(Finding finding) {
        if (finding.tid() > 0) return ProfileSelection.thread(Integer.toString(finding.tid()));
        return finding.text().contains("pool \"") ? ProfileSelection.pool(finding.subject()) : ProfileSelection.all();
    }

    private static boolean sleep(Duration duration) {
        try {
            Thread.sleep(duration.toMillis());
            return true;
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            return false;
        }
    }

    /** Deletes files that are too old or unfinished, and the oldest ones while all together are too large. */
    private void deleteOld() throws IOException {
        for (Path file : files(PART)) Files.deleteIfExists(file);
        long bytes = MAX_FILE_BYTES;
        for (Path file : files()) {
            bytes += Files.size(file);
            Instant end = Files.getLastModifiedTime(file).toInstant().plus(keep);
            if (bytes > MAX_BYTES || end.isBefore(clock.instant())) Files.deleteIfExists(file);
        }
    }

    /** Returns all files, the newest first. */
    List<Path> files() throws IOException {
        return files(SUFFIX);
    }

    /** Returns a file by its name; null if there is none. */
    Path find(String name) throws IOException {
        for (Path file : files()) if (file.getFileName().toString().equals(name)) return file;
        return null;
    }

    /** Returns the text of a part of a file; empty if it has none. */
    static String part(Path file, String name) throws IOException {
        try (ZipFile zip = new ZipFile(file.toFile())) {
            ZipEntry part = zip.getEntry(name);
            if (part == null) return "";
            try (InputStream in = zip.getInputStream(part)) {
                return new String(in.readNBytes(MAX_PART), StandardCharsets.UTF_8);
            }
        }
    }

    private List<Path> files(String suffix) throws IOException {
        if (!Files.isDirectory(directory)) return List.of();
        try (Stream<Path> files = Files.list(directory)) {
            return files.filter(file -> file.getFileName().toString().endsWith(suffix))
                    .sorted(Comparator.comparingLong(
                                    (Path file) -> file.toFile().lastModified())
                            .reversed())
                    .toList();
        }
    }

    @Override
    public void close() {
        thread.end(TimeUnit.SECONDS.toMillis(5));
    }
}
