// SPDX-License-Identifier: Apache-2.0
// Copyright the TaskClock authors
package org.taskclock.history;

import java.io.IOException;
import java.nio.channels.FileChannel;
import java.nio.channels.FileLock;
import java.nio.channels.OverlappingFileLockException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.nio.file.attribute.PosixFilePermission;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.EnumSet;
import java.util.Set;

/** The directory of the database file. */
final class HistoryDirectory {
    private static final Set<PosixFilePermission> OWNER = EnumSet.of(
            PosixFilePermission.OWNER_READ, PosixFilePermission.OWNER_WRITE, PosixFilePermission.OWNER_EXECUTE);

    private HistoryDirectory() {}

    /** Creates the directory if it does not exist, with access for its owner only. */
    static void create(Path directory) throws HistoryException {
        try {
            if (!Files.exists(directory)) {
                Path parent = directory.toAbsolutePath().getParent();
                if (parent != null) Files.createDirectories(parent);
                Files.createDirectory(
                        directory, PosixFilePermissions.asFileAttribute(PosixFilePermissions.fromString("rwx------")));
            } else if (Files.isDirectory(directory) && isOwn(directory) && !isPrivate(directory)) {
                throw new HistoryException(directory + ": other users have access: run chmod 700 " + directory
                        + ", or choose another directory with --data");
            }
            Files.createDirectories(directory.resolve(HistoryDatabase.EXPORTS));
        } catch (HistoryException e) {
            throw e;
        } catch (IOException | UnsupportedOperationException e) {
            throw new HistoryException(
                    directory + ": cannot be created: " + Failures.describe(e) + ": choose another with --data", e);
        }
        if (!Files.isDirectory(directory) || !Files.isWritable(directory))
            throw new HistoryException(directory + ": not a writable directory: choose another with --data");
    }

    /** Keeps other processes from writing to the directory until the channel is closed. */
    static FileChannel lock(Path directory) throws HistoryException {
        try {
            FileChannel channel =
                    FileChannel.open(directory.resolve("lock"), StandardOpenOption.CREATE, StandardOpenOption.WRITE);
            FileLock held = tryLock(channel);
            if (held != null) return channel;
            channel.close();
        } catch (IOException e) {
            throw new HistoryException(directory + ": cannot be locked: " + Failures.describe(e), e);
        }
        throw new HistoryException(directory
                + ": in use by another process that writes a history: stop it, or choose another directory with"
                + " --data");
    }

    private static FileLock tryLock(FileChannel channel) throws IOException {
        try {
            return channel.tryLock();
        } catch (OverlappingFileLockException e) {
            return null;
        }
    }

    /**
     * Returns whether this user owns a directory. Another user's directory, such as a volume of a container, is used
     * with its existing permissions, because only its owner can change them.
     */
    private static boolean isOwn(Path directory) throws IOException {
        return Files.getAttribute(directory, "unix:uid").equals(Files.getAttribute(Path.of("/proc/self"), "unix:uid"));
    }

    private static boolean isPrivate(Path directory) throws IOException {
        return OWNER.containsAll(Files.getPosixFilePermissions(directory));
    }
}
