// SPDX-License-Identifier: Apache-2.0
// Copyright the TaskClock authors
package org.taskclock;

import java.io.File;
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

    /** Why there is no library; null when there is. */
    private static final String FAILURE = load();

    private static final long TICK_NANOS = FAILURE == null ? readTickNanos() : -1;
    private static final boolean PRECISE = FAILURE == null && readPrecise();

    private Library() {}

    static boolean isLoaded() {
        return FAILURE == null;
    }

    /** Why the library was not loaded, with the remedy; null when it was. */
    static String failure() {
        return FAILURE;
    }

    static long tickNanos() {
        return TICK_NANOS;
    }

    static boolean isPrecise() {
        return PRECISE;
    }

    /** What the process-wide state is, in words. */
    static String state() {
        if (!isLoaded()) return "none";
        int foreign = foreignPages();
        String ignored = foreign == 0
                ? ""
                : "; ignored " + foreign + " mapping" + (foreign == 1 ? "" : "s")
                        + " named taskclock-abi2 that no copy of" + " TaskClock made";
        if (shareError() != 0) {
            return "own: no page can be shared (" + shareStep() + ": errno " + shareError() + ")" + ignored;
        }
        return (isFirstCopy() ? "shared, first copy in this process" : "shared with an earlier copy in this process")
                + ignored;
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
            File path = new File(given).getAbsoluteFile();
            failure = load(path.isDirectory() ? new File(path, FILE) : path);
        } catch (RuntimeException e) {
            failure = "cannot load the native library: " + reason(e);
        }
        // The JVM ties a file to one class loader; a second copy of TaskClock needs a file of its own.
        if (failure != null && failure.contains("already loaded in another classloader")) return extractAndLoad();
        return failure == null ? null : failure + " (from -D" + PATH_PROPERTY + ")";
    }

    private static String extractAndLoad() {
        try (ExtractedLibrary extracted = ExtractedLibrary.of(FILE)) {
            if (extracted == null) return FILE + " is missing beside " + Library.class.getName() + " in its jar";
            return load(extracted.file());
        } catch (Exception | LinkageError e) {
            return "cannot extract the native library into " + System.getProperty("java.io.tmpdir") + ": " + reason(e)
                    + "; use -Djava.io.tmpdir or -D" + PATH_PROPERTY;
        }
    }

    private static String load(File file) {
        if (!file.isFile()) return "there is no file " + file;
        // All copies of TaskClock in this JVM agree on this lock, as they have nothing else in common.
        synchronized (Runtime.getRuntime()) {
            System.setProperty(HANDOVER_PROPERTY, Library.class.getName().replace('.', '/'));
            try {
                loadFile(file.toString());
                // Bound here and nowhere else, so that where this class says "loaded", every read works.
                JniBinding.link();
                return null;
            } catch (LinkageError | RuntimeException e) {
                // Not by their types, which the first reading of a process would have to load.
                String type = e.getClass().getSimpleName();
                if (type.equals("IllegalCallerException") || type.equals("ExceptionInInitializerError")) {
                    return "native access is denied: " + reason(e)
                            + "; start the JVM with --enable-native-access=ALL-UNNAMED,"
                            + " or =org.taskclock on the module path";
                }
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
        if (isPartOfAgent())
            ((BiConsumer<Class<?>, String>) Library.class.getClassLoader()).accept(Library.class, file);
        else System.load(file);
    }

    /** Whether this copy is the agent's, which reads seldom by Java and would link FFM for nothing. */
    static boolean isPartOfAgent() {
        return Library.class.getClassLoader() instanceof BiConsumer;
    }

    private static String reason(Throwable e) {
        if (e.getCause() != null) return reason(e.getCause());
        // File system exceptions often carry only the file name as their message.
        boolean isUnclear = e.getMessage() == null || e.getClass().getName().startsWith("java.nio.file.");
        return isUnclear ? e.toString() : e.getMessage();
    }

    /** Registers the methods of {@link JniBinding}, on a class of that shape. */
    static native void bind(Class<?> natives);

    /** Where the C function is in use by that name; 0 if there is none. */
    static native long address(String function);

    /** The errno with which the kernel refuses the system calls that the clock needs; 0 if it allows them. */
    static native int kernelRefusal();

    private static native long readTickNanos();

    private static native boolean readPrecise();

    /** Whether no copy of the library was in this process before. */
    private static native boolean isFirstCopy();

    private static native int foreignPages();

    /** The errno with which no page can be shared; 0 if one is. */
    private static native int shareError();

    /** The system call that failed then. */
    private static native String shareStep();

    /** Whether libjvm's tables are visible, by which a Thread's kernel id is found. */
    static native boolean knowsJavaThreads();

    /** Tries a rung and changes to it; 0, or why not, by the numbers of taskclock.h. */
    static native int selectRung(int rung);

    /** Sets the bound for the mean error of a reading. */
    static native void setAccuracy(long budgetNanos);

    // The parts of ClockStatus.Calibration and Accuracy.

    static native long counterHertz();

    static native long calibratedOverNanos();

    static native long calibrationResets();

    static native long budgetNanos();

    static native long lifeNanos();

    static native long observedNanos();

    static native long aheadNanos();

    /** How often a reading noticed that the process was restored from a checkpoint. */
    static native long restores();

    /** As if a reading had noticed it: the system call is used until a rung is selected. */
    static native void machineChanged();

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
