// SPDX-License-Identifier: Apache-2.0
// Copyright the TaskClock authors
package org.taskclock;

import java.io.IOException;
import java.io.InputStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.FileAlreadyExistsException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.FileAttribute;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.function.BiConsumer;

/**
 * The native library: finds and loads it, and declares what is called by JNI on every JDK. Single reads, where a
 * nanosecond counts, are in {@link Native}.
 */
final class Library {
    static final String PATH_PROPERTY = "taskclock.library.path";
    /** Where the native half, while it is being loaded, finds the name of this class, whatever it was relocated to. */
    private static final String HANDOVER_PROPERTY = "taskclock.loading";

    private static final String FILE = "libtaskclock-linux-x86_64.so";
    private static final int FACTS = 6;
    private static final int TRIES = 10;

    private static final FileAttribute<?> OWNER_ONLY =
            PosixFilePermissions.asFileAttribute(PosixFilePermissions.fromString("rwx------"));

    /** Why there is no library; null when there is. */
    private static final String FAILURE = load();

    private static final long[] facts = new long[FACTS];

    static {
        if (FAILURE == null) facts(facts);
    }

    private Library() {}

    static boolean isLoaded() {
        return FAILURE == null;
    }

    /** Why the library was not loaded, with the remedy; null when it was. */
    static String failure() {
        return FAILURE;
    }

    /** The errno with which the kernel refuses the system calls that the clock needs; 0 if it allows them. */
    static int probeErrno() {
        return (int) facts[0];
    }

    static long tickNanos() {
        return isLoaded() ? facts[1] : -1;
    }

    static boolean isPrecise() {
        return facts[2] != 0;
    }

    /** What the process-wide state is, in words. */
    static String state() {
        if (!isLoaded()) return "none";
        if (facts[3] != 0) return "own: no page can be shared (memfd_create: errno " + facts[3] + ")";
        return facts[5] != 0 ? "shared, first copy in this process" : "shared with an earlier copy in this process";
    }

    /** Whether libjvm's tables are visible, by which a Thread's kernel id is found. */
    static boolean knowsJavaThreads() {
        return facts[4] != 0;
    }

    private static String load() {
        // The kill switch: with it nothing native is loaded, whatever is asked. Rungs would ask us back.
        if (Rung.MXBEAN.toString().equals(System.getProperty(Rungs.PROPERTY))) {
            return "switched off by -D" + Rungs.PROPERTY + "=" + Rung.MXBEAN;
        }
        String system = System.getProperty("os.name") + "-" + System.getProperty("os.arch");
        if (!system.equals("Linux-amd64")) return "no native library for " + system + ", only for Linux-amd64";
        String given = System.getProperty(PATH_PROPERTY);
        if (given == null) return extractAndLoad();
        String failure;
        try {
            Path path = Path.of(given).toAbsolutePath();
            failure = load(Files.isDirectory(path) ? path.resolve(FILE) : path);
        } catch (RuntimeException e) {
            failure = "cannot load the native library: " + reason(e);
        }
        // The JVM ties a file to one class loader; a second copy of TaskClock needs a file of its own.
        if (failure != null && failure.contains("already loaded in another classloader")) return extractAndLoad();
        return failure == null ? null : failure + " (from -D" + PATH_PROPERTY + ")";
    }

    private static String extractAndLoad() {
        Path directory = null;
        Path file = null;
        try (InputStream library = Library.class.getResourceAsStream(FILE)) {
            if (library == null) return FILE + " is missing beside " + Library.class.getName() + " in its jar";
            directory = temporaryDirectory();
            file = directory.resolve("libtaskclock-" + version() + ".so");
            Files.copy(library, file);
            return load(file);
        } catch (IOException | RuntimeException | LinkageError e) {
            // The last, as the JDK's own class for temporary files fails so where the property is not a path.
            return "cannot extract the native library into " + System.getProperty("java.io.tmpdir") + ": " + reason(e)
                    + "; use -Djava.io.tmpdir or -D" + PATH_PROPERTY;
        } finally {
            // A mapped library needs no name; so nothing stays behind, however the JVM ends.
            delete(file);
            delete(directory);
        }
    }

    /**
     * A new directory, of this process's owner alone. Without the JDK's random names, which cost the start of a program 20
     * ms: it is not the name that protects it.
     */
    private static Path temporaryDirectory() throws IOException {
        Path parent = Path.of(System.getProperty("java.io.tmpdir"));
        for (int i = 0; ; i++) {
            String name = "taskclock-" + Long.toHexString(System.nanoTime());
            try {
                return Files.createDirectory(parent.resolve(name), OWNER_ONLY);
            } catch (FileAlreadyExistsException e) {
                if (i == TRIES) throw e;
            }
        }
    }

    private static String version() throws IOException {
        try (InputStream text = Library.class.getResourceAsStream("version")) {
            return text == null ? "unknown" : new String(text.readAllBytes(), StandardCharsets.UTF_8).trim();
        }
    }

    private static String load(Path file) {
        if (!Files.isRegularFile(file)) return "there is no file " + file;
        // All copies of TaskClock in this JVM agree on this lock, as they have nothing else in common.
        synchronized (Runtime.getRuntime()) {
            System.setProperty(HANDOVER_PROPERTY, Library.class.getName().replace('.', '/'));
            try {
                loadFile(file.toString());
                // Bound here and nowhere else, so that where this class says "loaded", every read works.
                Native.binding();
                return null;
            } catch (IllegalCallerException | ExceptionInInitializerError e) {
                return "native access is denied: " + reason(e)
                        + "; start the JVM with --enable-native-access=ALL-UNNAMED,"
                        + " or =org.taskclock on the module path";
            } catch (LinkageError | RuntimeException e) {
                return "cannot load the native library " + file + ": " + reason(e)
                        + "; if it is on a file system that is" + " mounted noexec, use -Djava.io.tmpdir or -D"
                        + PATH_PROPERTY;
            } finally {
                System.clearProperty(HANDOVER_PROPERTY);
            }
        }
    }

    /** The agent's class loader may load without the JVM's permission, and does so for us. */
    @SuppressWarnings("unchecked")
    private static void loadFile(String file) {
        ClassLoader loader = Library.class.getClassLoader();
        if (loader instanceof BiConsumer) ((BiConsumer<Class<?>, String>) loader).accept(Library.class, file);
        else System.load(file);
    }

    private static String reason(Throwable e) {
        if (e.getCause() != null) return reason(e.getCause());
        // The message of a file system's exception is often no more than the file's name.
        return e.getMessage() == null || e instanceof IOException ? e.toString() : e.getMessage();
    }

    private static void delete(Path path) {
        try {
            if (path != null) Files.deleteIfExists(path);
        } catch (IOException | RuntimeException e) {
            path.toFile().deleteOnExit();
        }
    }

    /** Registers the methods of {@link Native} that are native, on a class of that shape. */
    static native void bind(Class<?> natives);

    /** Addresses of the functions behind {@link Native}, in the order of struct functions in taskclock.h. */
    static native void functions(long[] into);

    private static native void facts(long[] into);

    /** Tries a rung on the calling thread and changes to it; 0, or why not, by the numbers of taskclock.h. */
    static native int selectRung(int rung);

    /** The counter's rate in Hz, what it was measured over and how long a base lives, in ns; -1 each until they are known. */
    static native void calibration(long[] into);

    /** Whether an agent accounts for virtual threads, or has done so. */
    static native boolean hasCarriers();

    /** The version of glibc; null under another C library. */
    static native String libc();

    /** The calling thread's kernel id; of the carrier on a virtual thread. */
    static native int ownTid();

    /** The kernel id of a platform thread; -1 if it is not running, or this JVM does not say. */
    static native int tid(Thread thread);

    /** Fills in ids of this process's threads; returns how many there are, -errno if they are hidden. */
    static native int tids(int[] into);

    /** Reads {@code count} clocks, -1 for those that cannot be read. */
    static native void clocks(int[] ids, long[] nanos, int count);

    /** Asks getrusage for the calling thread's user and system time. */
    static native boolean rusage(long[] userSystem);

    /** How long {@code count} bare system calls take that read clock {@code id}; -1 if it cannot be read. */
    static native long rawNanos(int id, int count);
}
