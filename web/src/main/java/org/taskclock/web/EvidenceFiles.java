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
import java.util.Comparator;
import java.util.List;
import java.util.Map;
import java.util.function.Consumer;
import java.util.stream.Stream;
import java.util.zip.ZipEntry;
import java.util.zip.ZipFile;
import java.util.zip.ZipOutputStream;
import org.taskclock.monitor.finding.Evidence;
import org.taskclock.monitor.profile.EvidenceTaker;
import org.taskclock.monitor.recording.Mark;

/** Keeps evidence of findings in one file each. Files are deleted with the history of that time. */
final class EvidenceFiles implements EvidenceTaker.Receiver {
    static final String SUFFIX = ".zip";
    static final String PART = ".part";

    static final long MAX_FILE_BYTES = 2 << 20;
    static final long MAX_BYTES = 100 << 20;

    private static final DateTimeFormatter TIME =
            DateTimeFormatter.ofPattern("yyyyMMdd-HHmmss").withZone(ZoneOffset.UTC);

    private final Path directory;
    private final Duration keep;
    private final Clock clock;
    private final Consumer<Mark> marks;

    /**
     * @param keep how long a file is kept
     * @param marks receives a mark for each file
     */
    EvidenceFiles(Path directory, Duration keep, Clock clock, Consumer<Mark> marks) {
        this.directory = directory;
        this.keep = keep;
        this.clock = clock;
        this.marks = marks;
    }

    @Override
    public void accept(EvidenceTaker.Jvm jvm, Evidence evidence) throws IOException {
        Files.createDirectories(
                directory, PosixFilePermissions.asFileAttribute(PosixFilePermissions.fromString("rwx------")));
        tick();
        String name = jvm.id() + "-" + TIME.format(clock.instant()) + "-" + evidence.kind() + SUFFIX;
        Path temporary = Files.createTempFile(directory, ".", PART); // only its owner may read it
        try {
            try (ZipOutputStream zip = new ZipOutputStream(Files.newOutputStream(temporary))) {
                for (Map.Entry<String, String> file : evidence.files().entrySet()) {
                    zip.putNextEntry(new ZipEntry(file.getKey()));
                    zip.write(file.getValue().getBytes(StandardCharsets.UTF_8));
                }
            }
            if (Files.size(temporary) > MAX_FILE_BYTES) throw new IOException(name + " is larger than 2 MB");
            Files.move(temporary, directory.resolve(name), StandardCopyOption.ATOMIC_MOVE);
        } finally {
            Files.deleteIfExists(temporary);
        }
        String text = "evidence of " + evidence.kind() + ": " + name;
        marks.accept(new Mark(clock.instant(), jvm.id(), "evidence", text));
    }

    /** Deletes files that are too old or unfinished, and the oldest ones while all together are too large. */
    @Override
    public void tick() throws IOException {
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
                return new String(in.readNBytes(Evidence.MAX_FILE), StandardCharsets.UTF_8);
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
}
