// SPDX-License-Identifier: Apache-2.0
// Copyright the TaskClock authors
package org.taskclock.history;

import java.io.IOException;
import java.io.RandomAccessFile;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.nio.file.attribute.FileTime;
import java.nio.file.attribute.PosixFilePermissions;
import java.time.Instant;
import java.util.Comparator;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.UUID;
import java.util.stream.Stream;

/** Copies of Parquet files of an object storage. Those that were used least recently are deleted first. */
final class FileCache {
    private static final byte[] MAGIC = "PAR1".getBytes(StandardCharsets.US_ASCII);

    /** The least size of a Parquet file: two marks and a length. */
    private static final int MIN_BYTES = 12;

    private final Path directory;
    private final long maxBytes;

    FileCache(Path directory, long maxBytes) {
        this.directory = directory.toAbsolutePath().normalize();
        this.maxBytes = maxBytes;
    }

    Path directory() {
        return directory;
    }

    /** Returns where a copy of an object is. Its name changes with the content. */
    Path path(ObjectStore store, ObjectStore.Entry entry) {
        String key = entry.key();
        Path parent = directory.resolve(hash(store + " " + endpoint())).resolve(key.substring(0, key.lastIndexOf('/')));
        return parent.resolve(hash(entry.etag() + " " + entry.bytes()) + ".parquet");
    }

    private static String endpoint() {
        return System.getProperty("aws.endpointUrl", String.valueOf(System.getenv("AWS_ENDPOINT_URL")));
    }

    private static String hash(String text) {
        return UUID.nameUUIDFromBytes(text.getBytes(StandardCharsets.UTF_8)).toString();
    }

    /** Copies the objects that are missing, and returns all. */
    List<ObjectStore.Entry> fetch(ObjectStore store, List<ObjectStore.Entry> entries) throws IOException {
        long bytes = entries.stream().mapToLong(ObjectStore.Entry::bytes).sum();
        if (bytes > maxBytes)
            throw new HistoryException(
                    store + ": the query needs " + (bytes >> 20) + " MB of files, more than the cache" + " of "
                            + (maxBytes >> 20) + " MB holds: select fewer days or hosts");
        Files.createDirectories(
                directory, PosixFilePermissions.asFileAttribute(PosixFilePermissions.fromString("rwx------")));
        Set<Path> used = new HashSet<>();
        for (ObjectStore.Entry entry : entries) used.add(path(store, entry));
        evict(used, bytes);
        for (ObjectStore.Entry entry : entries) {
            Path file = path(store, entry);
            if (Files.exists(file)) Files.setLastModifiedTime(file, FileTime.from(Instant.now()));
            else copy(store, entry, file);
        }
        return entries;
    }

    private static void copy(ObjectStore store, ObjectStore.Entry entry, Path file) throws IOException {
        Files.createDirectories(file.getParent());
        Path part = file.resolveSibling("." + UUID.randomUUID() + ".part"); // must not exist yet
        try {
            store.get(entry.key(), part);
            if (!isWhole(part, entry.bytes()))
                throw new HistoryException(store + entry.key() + ": is not a whole Parquet file: upload it again");
            Files.move(part, file, StandardCopyOption.ATOMIC_MOVE);
        } finally {
            Files.deleteIfExists(part);
        }
    }

    private static boolean isWhole(Path file, long bytes) throws IOException {
        if (Files.size(file) != bytes || bytes < MIN_BYTES) return false;
        try (RandomAccessFile in = new RandomAccessFile(file.toFile(), "r")) {
            byte[] mark = new byte[MAGIC.length];
            in.seek(bytes - MAGIC.length);
            in.readFully(mark);
            return java.util.Arrays.equals(mark, MAGIC);
        }
    }

    /** Deletes the files that were not used for longest, except these, until this many bytes fit. */
    private void evict(Set<Path> used, long bytes) throws IOException {
        try (Stream<Path> files = Files.walk(directory)) {
            List<Path> others = files.filter(file -> Files.isRegularFile(file) && !used.contains(file))
                    .sorted(Comparator.comparingLong(
                                    (Path file) -> file.toFile().lastModified())
                            .reversed())
                    .toList();
            long left = maxBytes - bytes;
            for (Path file : others) {
                left -= file.toFile().length();
                if (left < 0) Files.deleteIfExists(file);
            }
        } catch (UncheckedIOException e) {
            throw e.getCause();
        }
    }
}
