// SPDX-License-Identifier: Apache-2.0
// Copyright the TaskClock authors
package org.taskclock.monitor.proc;

import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.SeekableByteChannel;
import java.nio.file.AccessDeniedException;
import java.nio.file.FileAlreadyExistsException;
import java.nio.file.FileSystemException;
import java.nio.file.Files;
import java.nio.file.LinkOption;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.nio.file.SecureDirectoryStream;
import java.nio.file.StandardOpenOption;
import java.nio.file.attribute.BasicFileAttributeView;
import java.nio.file.attribute.BasicFileAttributes;
import java.nio.file.attribute.PosixFileAttributeView;
import java.nio.file.attribute.PosixFileAttributes;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.List;
import java.util.Set;

/**
 * The files of a process, which it controls: it can replace any of them with a link out of its container, a pipe, a
 * device, or an endless file, or keep whoever opens it waiting. All access goes through this class.
 *
 * <p>Paths are absolute, as the process sees them. Each directory is opened relative to the one before and without
 * following links ({@link SecureDirectoryStream}, which uses openat), and links are resolved here, so that none leads
 * out of the root of the process. The C library's realpath, or openat2 with RESOLVE_IN_ROOT, would need native code or
 * Linux 5.6. Only regular files are opened. Each call runs on a thread of {@link TargetWorkers}.
 */
public final class TargetFiles {
    /** The size of texts, such as the file "release" of a JDK. */
    public static final int MAX_TEXT_BYTES = 64 << 10;

    public static final String TMP = "/tmp/";

    /** As MAXSYMLINKS in the kernel. */
    private static final int MAX_LINKS = 40;

    private static final int MAX_COMPONENTS = 128;
    private static final int MAX_ENTRIES = 10_000;

    private final long pid;
    private final Path root;

    TargetFiles(long pid, Path root) {
        this.pid = pid;
        this.root = root;
    }

    /** Returns the files of the process with this id. */
    public static TargetFiles of(long pid) {
        return new TargetFiles(pid, Path.of("/proc/" + pid + "/root"));
    }

    /** What to do with a file, once its directory is open. */
    @FunctionalInterface
    private interface Action<T> {
        T run(Place place) throws IOException;
    }

    /** A directory and the name of an entry in it, which is not a link if links are followed. */
    private record Place(SecureDirectoryStream<Path> directory, Path name, Path path) {
        PosixFileAttributeView view() {
            return directory.getFileAttributeView(name, PosixFileAttributeView.class, LinkOption.NOFOLLOW_LINKS);
        }

        SeekableByteChannel open() throws IOException {
            if (!view().readAttributes().isRegularFile())
                throw new FileSystemException(path.toString(), null, "is not a regular file");
            return directory.newByteChannel(name, Set.of(StandardOpenOption.READ, LinkOption.NOFOLLOW_LINKS));
        }
    }

    /**
     * Opens a regular file, but no link, for reading. What reads it must run on a thread of {@link TargetWorkers}, too.
     */
    SeekableByteChannel open(String path) throws IOException {
        return at(path, false, Place::open);
    }

    /** Reads a regular file. Throws if it is longer than {@code maxBytes}. */
    public byte[] read(String path, int maxBytes) throws IOException {
        return at(path, true, place -> {
            try (SeekableByteChannel channel = place.open()) {
                return readAll(channel, path, maxBytes);
            }
        });
    }

    private static byte[] readAll(SeekableByteChannel channel, String path, long maxBytes) throws IOException {
        ByteArrayOutputStream all = new ByteArrayOutputStream();
        ByteBuffer buffer = ByteBuffer.allocate(1 << 16);
        while (channel.read(buffer) >= 0) {
            all.write(buffer.array(), 0, buffer.position());
            buffer.clear();
            if (all.size() > maxBytes) throw tooLong(path);
        }
        return all.toByteArray();
    }

    private static FileSystemException tooLong(String path) {
        return new FileSystemException(path, null, "is too large");
    }

    /** Copies a regular file to a file of ours. Throws if it is longer than {@code maxBytes}. */
    public void copyTo(String path, Path to, long maxBytes, long timeoutMillis) throws IOException {
        at(path, true, timeoutMillis, place -> {
            try (SeekableByteChannel in = place.open();
                    SeekableByteChannel out =
                            Files.newByteChannel(to, StandardOpenOption.WRITE, StandardOpenOption.TRUNCATE_EXISTING)) {
                ByteBuffer buffer = ByteBuffer.allocate(1 << 16);
                for (long copied = 0; in.read(buffer) >= 0; buffer.clear()) {
                    copied += buffer.flip().limit();
                    if (copied > maxBytes) throw tooLong(path);
                    while (buffer.hasRemaining()) out.write(buffer);
                }
                return null;
            }
        });
    }

    /** Creates a file that any user can read. Throws {@link FileAlreadyExistsException} if there is one. */
    public void create(String path, byte... content) throws IOException {
        at(path, false, place -> {
            var permissions = PosixFilePermissions.fromString("rw-r--r--");
            try (SeekableByteChannel channel = place.directory.newByteChannel(
                    place.name,
                    Set.of(StandardOpenOption.WRITE, StandardOpenOption.CREATE_NEW),
                    PosixFilePermissions.asFileAttribute(permissions))) {
                ByteBuffer buffer = ByteBuffer.wrap(content);
                while (buffer.hasRemaining()) channel.write(buffer);
            }
            if (content.length > 0) place.view().setPermissions(permissions); // despite the umask
            return null;
        });
    }

    /** Deletes a file, or a link. Does nothing if there is none. */
    public void deleteIfExists(String path) throws IOException {
        remove(path, false);
    }

    public void deleteDirectoryIfExists(String path) throws IOException {
        remove(path, true);
    }

    private void remove(String path, boolean isDirectory) throws IOException {
        try {
            at(path, false, place -> {
                if (isDirectory) place.directory.deleteDirectory(place.name);
                else place.directory.deleteFile(place.name);
                return null;
            });
        } catch (NoSuchFileException e) {
            return;
        }
    }

    /** Returns what is there, without following a link; null if there is nothing. */
    public PosixFileAttributes attributes(String path) throws IOException {
        try {
            return at(path, false, place -> place.view().readAttributes());
        } catch (NoSuchFileException e) {
            return null;
        }
    }

    boolean isDirectory(String path) throws IOException {
        try {
            return at(path, true, place -> place.view().readAttributes().isDirectory());
        } catch (NoSuchFileException e) {
            return false;
        }
    }

    public boolean exists(String path) throws IOException {
        return attributes(path) != null;
    }

    /** Returns the attributes of an entry in the working directory; null if there is none, or it cannot be read. */
    public PosixFileAttributes inWorkingDirectory(String name) throws IOException {
        return TargetWorkers.call(pid, () -> {
            try (SecureDirectoryStream<Path> directory = open(Path.of("/proc/" + pid + "/cwd"))) {
                return new Place(directory, Path.of(name), Path.of(name)).view().readAttributes();
            } catch (NoSuchFileException | AccessDeniedException e) {
                return null;
            }
        });
    }

    /** Returns whether a path is the same file for the process as it is for us. */
    public boolean isSame(Path file) throws IOException {
        Object key = Files.readAttributes(file, BasicFileAttributes.class).fileKey();
        try {
            return at(
                    file.toString(),
                    true,
                    place -> key.equals(place.view().readAttributes().fileKey()));
        } catch (NoSuchFileException | AccessDeniedException e) {
            return false;
        }
    }

    /** Returns the names in a directory. */
    public List<String> list(String path) throws IOException {
        return at(path + "/.", true, place -> {
            List<String> names = new ArrayList<>();
            for (Path entry : place.directory) {
                if (names.size() == MAX_ENTRIES) throw tooLong(path);
                names.add(entry.getFileName().toString());
            }
            return names;
        });
    }

    /**
     * Returns the path through /proc of a file for what can only be used by its path, such as a socket. It has no link
     * now, but the process can replace a directory at any time, so the caller must check what it has reached.
     */
    public Path locate(String path) throws IOException {
        return at(path, false, Place::path);
    }

    private <T> T at(String path, boolean followsLast, Action<T> action) throws IOException {
        return at(path, followsLast, TargetWorkers.TIMEOUT_MILLIS, action);
    }

    private <T> T at(String path, boolean followsLast, long timeoutMillis, Action<T> action) throws IOException {
        return TargetWorkers.call(pid, timeoutMillis, () -> {
            try (Walk walk = new Walk()) {
                return action.run(walk.to(path, followsLast));
            }
        });
    }

    @SuppressWarnings("StreamResourceLeak") // the caller closes it
    private static SecureDirectoryStream<Path> open(Path directory) throws IOException {
        return (SecureDirectoryStream<Path>) Files.newDirectoryStream(directory);
    }

    /** Open directories, from the root of the process to the current one. */
    private final class Walk implements AutoCloseable {
        private final Deque<SecureDirectoryStream<Path>> directories = new ArrayDeque<>();
        private Path current = root;

        Place to(String path, boolean followsLast) throws IOException {
            openTop();
            Deque<String> rest = new ArrayDeque<>(List.of(path.split("/")));
            for (int links = 0, components = 0; !rest.isEmpty(); ) {
                if (++components > MAX_COMPONENTS) throw tooLong(path);
                String name = rest.pop();
                boolean isLast = rest.isEmpty();
                if (name.equals("..")) up();
                if (name.isEmpty() || name.equals(".") || name.equals("..")) {
                    if (isLast) return place(Path.of("."));
                    continue;
                }
                Path entry = Path.of(name);
                if (isLast && !followsLast) return place(entry);
                BasicFileAttributes attributes = directories
                        .peek()
                        .getFileAttributeView(entry, BasicFileAttributeView.class, LinkOption.NOFOLLOW_LINKS)
                        .readAttributes();
                if (attributes.isSymbolicLink()) {
                    if (++links > MAX_LINKS) throw new FileSystemException(path, null, "has too many links");
                    follow(entry, rest);
                    if (rest.isEmpty()) return place(Path.of("."));
                } else if (isLast) {
                    return place(entry);
                } else if (attributes.isDirectory()) {
                    directories.push(directories.peek().newDirectoryStream(entry, LinkOption.NOFOLLOW_LINKS));
                    current = current.resolve(entry);
                } else {
                    throw new FileSystemException(path, null, "is not in a directory");
                }
            }
            return place(Path.of("."));
        }

        private void openTop() throws IOException {
            try {
                directories.push(TargetFiles.open(root));
            } catch (AccessDeniedException e) {
                // A process of our own user that cannot be inspected, such as one with capabilities, has our root.
                current = Path.of("/");
                directories.push(TargetFiles.open(current));
            }
        }

        private Place place(Path name) {
            return new Place(directories.peek(), name, current.resolve(name));
        }

        private void up() throws IOException {
            if (directories.size() == 1) return;
            directories.pop().close();
            current = current.getParent();
        }

        /** If the link is replaced meanwhile, the walk goes elsewhere, but stays in the root. */
        private void follow(Path link, Deque<String> rest) throws IOException {
            Path target = Files.readSymbolicLink(current.resolve(link));
            if (target.isAbsolute()) while (directories.size() > 1) up();
            for (int i = target.getNameCount() - 1; i >= 0; i--)
                rest.push(target.getName(i).toString());
        }

        @Override
        public void close() throws IOException {
            while (!directories.isEmpty()) directories.pop().close();
        }
    }
}
