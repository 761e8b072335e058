// SPDX-License-Identifier: Apache-2.0
// Copyright the TaskClock authors
package org.taskclock;

import java.io.File;
import java.nio.ByteBuffer;
import java.util.function.BiConsumer;

/**
 * Finds and loads the native library, and declares the functions called through JNI on every JDK. Single reads, for
 * which every nanosecond counts, are in {@link Native}.
 */
final class Library {
    static final String PATH_PROPERTY = "taskclock.library.path";
    /**
     * Passes the name of this class, which may have been relocated, to the native code while the library is being
     * loaded.
     */
    private static final String LOADING_CLASS_PROPERTY = "taskclock.loading";

    /** Below the tick of any Linux. */
    private static final long MIN_TICK_NANOS = 100_000;

    private static volatile boolean isLoaded;
    private static volatile boolean isShared;
    /** The reason why the library is not loaded; null if it is loaded, or was not needed so far. */
    private static volatile String failure;

    private static volatile boolean isFailurePermanent;
    private static long tickNanos;
    private static boolean isPrecise;

    private Library() {}

    static boolean isLoaded() {
        return isLoaded;
    }

    /** Returns whether the library is loaded. Loads it if it was not needed so far. */
    static boolean isAvailable() {
        return isLoaded || (Preparation.run() && isLoaded);
    }

    /** Returns why the library is not loaded, with the remedy. */
    static String failure() {
        String reason = failure;
        return reason != null ? reason : "not loaded yet: no memory or no stack is left";
    }

    /** Returns whether another attempt to load the library is pointless. */
    static boolean isFailurePermanent() {
        return isLoaded || isFailurePermanent;
    }

    static long tickNanos() {
        return isLoaded ? tickNanos : -1;
    }

    /** gVisor claims that these clocks have a resolution of 1 ns. They advance in steps of 10 ms. */
    static long tick(long resolutionNanos) {
        return resolutionNanos < MIN_TICK_NANOS ? -1 : resolutionNanos;
    }

    static boolean isPrecise() {
        return isPrecise;
    }

    /** Loads the library unless it is loaded. Returns null, or the reason why it is not loaded. */
    static synchronized String load() {
        if (isLoaded) return null;
        isFailurePermanent = false;
        String reason = tryLoad();
        if (reason == null) {
            tickNanos = tick(resolutionOfTicks());
            isPrecise = readPrecise();
            isShared = shareError() == 0;
            isLoaded = true;
        }
        failure = reason;
        return reason;
    }

    /** Returns whether all copies obey one switch. Otherwise {@link #ensureShared} may change that. */
    static boolean isShared() {
        return isShared;
    }

    /** Tries again to share the process-wide state if that failed while the library was loaded. */
    static void ensureShared() {
        if (isShared) return;
        synchronized (Runtime.getRuntime()) {
            isShared = share();
        }
    }

    /** Describes whether this copy shares the process-wide state. */
    static String state() {
        if (!isLoaded) return "none";
        int foreign = foreignPages();
        String ignored = foreign == 0
                ? ""
                : "; ignored " + foreign + " mapping" + (foreign == 1 ? "" : "s")
                        + " named taskclock-abi4 that TaskClock did not create";
        if (shareError() != 0) {
            return "own: cannot create a shared page (" + shareStep() + ": errno " + shareError() + ")" + ignored;
        }
        if (isApart()) {
            return "own: another copy shares its state, so this one asks the kernel at each reading" + ignored;
        }
        return (isFirstCopy() ? "shared, first copy in this process" : "shared with an earlier copy in this process")
                + ignored;
    }

    /** The names of 32-bit and big-endian systems differ from these, as do those of 32-bit JVMs on 64-bit systems. */
    private static String fileName(String system, String architecture) {
        if (!"Linux".equals(system)) return null;
        if ("amd64".equals(architecture)) return "libtaskclock-linux-x86_64.so";
        return "aarch64".equals(architecture) ? "libtaskclock-linux-aarch64.so" : null;
    }

    private static String permanently(String reason) {
        isFailurePermanent = true;
        return reason;
    }

    private static String tryLoad() {
        // This property must prevent anything native from being loaded.
        if (Backend.MXBEAN.toString().equals(System.getProperty(Backends.PROPERTY))) {
            return permanently("switched off by -D" + Backends.PROPERTY + "=" + Backend.MXBEAN);
        }
        String fileName = fileName(System.getProperty("os.name"), System.getProperty("os.arch"));
        if (fileName == null) {
            return permanently("no native library for " + System.getProperty("os.name") + "-"
                    + System.getProperty("os.arch") + ", only for Linux-amd64 and Linux-aarch64");
        }
        String configured = System.getProperty(PATH_PROPERTY);
        if (configured == null) return extractAndLoad(fileName);
        String failure;
        try {
            File path = new File(configured).getAbsoluteFile();
            failure = load(path.isDirectory() ? new File(path, fileName) : path);
        } catch (RuntimeException e) {
            failure = "cannot load the native library: " + reason(e);
        }
        // The JVM binds a library file to one class loader, so a second copy of TaskClock needs its own file.
        if (failure != null && failure.contains("already loaded in another classloader"))
            return extractAndLoad(fileName);
        return failure == null ? null : failure + " (from -D" + PATH_PROPERTY + ")";
    }

    /** Loads the library that defines the variable for thread contexts. Returns null, or why that failed. */
    static String loadContext() {
        String clock = fileName(System.getProperty("os.name"), System.getProperty("os.arch"));
        String fileName = clock.replace("libtaskclock", "libtaskclock-context");
        String configured = System.getProperty(PATH_PROPERTY);
        if (configured != null) {
            File path = new File(configured).getAbsoluteFile();
            File given = new File(path.isDirectory() ? path : path.getParentFile(), fileName);
            if (given.isFile()) return load(given);
        }
        return extractAndLoad(fileName);
    }

    private static String extractAndLoad(String fileName) {
        try (ExtractedLibrary extracted = ExtractedLibrary.extract(fileName)) {
            if (extracted == null) {
                return permanently(fileName + " is missing next to " + Library.class.getName() + " in its jar: the"
                        + " build omits it if there is no compiler for this architecture");
            }
            return load(extracted.file());
        } catch (Exception | LinkageError e) {
            return "cannot extract the native library into " + System.getProperty("java.io.tmpdir") + ": " + reason(e)
                    + "; use -Djava.io.tmpdir or -D" + PATH_PROPERTY;
        }
    }

    private static String load(File file) {
        if (!file.isFile()) return "there is no file " + file;
        // All copies of TaskClock in this JVM use this lock, because they share no class of ours.
        synchronized (Runtime.getRuntime()) {
            System.setProperty(LOADING_CLASS_PROPERTY, Library.class.getName().replace('.', '/'));
            try {
                loadFile(file.toString());
                // Bound before isLoaded() returns true, so that every read works from then on.
                JniBinding.bind();
                return null;
            } catch (LinkageError | RuntimeException e) {
                // Compared by name, because instanceof would load these classes in the first reading of a process.
                String type = e.getClass().getSimpleName();
                if (type.equals("IllegalCallerException") || type.equals("ExceptionInInitializerError")) {
                    return "native access is denied: " + reason(e)
                            + "; start the JVM with --enable-native-access=ALL-UNNAMED,"
                            + " or =org.taskclock on the module path";
                }
                return "cannot load the native library " + file + ": " + reason(e)
                        + "; if its file system is mounted noexec, use -Djava.io.tmpdir or -D" + PATH_PROPERTY;
            } finally {
                System.clearProperty(LOADING_CLASS_PROPERTY);
            }
        }
    }

    /**
     * Loads a library file. The agent's copy leaves this to its class loader, which needs no permission for native
     * access.
     */
    @SuppressWarnings("unchecked")
    private static void loadFile(String file) {
        if (isPartOfAgent())
            ((BiConsumer<Class<?>, String>) Library.class.getClassLoader()).accept(Library.class, file);
        else System.load(file);
    }

    /**
     * Returns whether this copy belongs to the agent, which rarely reads from Java, so linking FFM would not pay off.
     */
    static boolean isPartOfAgent() {
        return Library.class.getClassLoader() instanceof BiConsumer;
    }

    private static String reason(Throwable e) {
        if (e.getCause() != null) return reason(e.getCause());
        // File system exceptions often carry only the file name as their message.
        boolean isUnclear = e.getMessage() == null || e.getClass().getName().startsWith("java.nio.file.");
        return isUnclear ? e.toString() : e.getMessage();
    }

    /** Registers the native methods of {@link JniBinding}. */
    static native void bind(Class<?> natives);

    /** Returns the address of the active C function with this name; 0 if there is none. */
    static native long address(String function);

    /** Returns the errno with which the kernel refuses the system calls that the clock needs; 0 if it allows them. */
    static native int kernelRefusal();

    /** Returns what the kernel says to be the resolution of the clocks that count whole ticks. */
    private static native long resolutionOfTicks();

    private static native boolean readPrecise();

    /** Returns whether this is the first copy of the library in this process. */
    private static native boolean isFirstCopy();

    /** Shares the state if that failed before. Callers hold the lock. Returns false if it fails again. */
    private static native boolean share();

    /** Returns whether another copy has shared its state before this one could. */
    static native boolean isApart();

    private static native int foreignPages();

    /** Returns the errno of the failure to create the shared page; 0 if there is a page. */
    private static native int shareError();

    /** Returns the name of the system call that failed to create the shared page; null if none did. */
    private static native String shareStep();

    /** Returns whether the tables of libjvm are visible. They map a Thread to its kernel id. */
    static native boolean knowsJavaThreads();

    /** Tests a backend and switches to it. Returns 0, or a PROBE_ number of shared.h if it is not usable. */
    static native int selectBackend(int backend);

    /** Sets the bound on the mean error of a reading. */
    static native void setAccuracy(long budgetNanos);

    // The components of ClockStatus.Calibration and ClockStatus.Accuracy.

    static native long counterHertz();

    static native long calibratedOverNanos();

    static native long calibrationResets();

    static native long budgetNanos();

    static native long lifeNanos();

    static native long observedNanos();

    static native long aheadNanos();

    /** Returns how often a reading detected that the process was restored from a checkpoint. */
    static native long restores();

    /** Returns a number that grows each time the backend must be selected again. */
    static native long changes();

    /** Returns the number of the backend that all copies of the library use now. */
    static native long backendInUse();

    /** Returns 1 if the agent's kill switch is on, otherwise 0. */
    static native long isOff();

    /** Has the same effect as a detected restore: readings use the system call until a backend is selected. */
    static native void machineChanged();

    /** Returns whether an agent tracks virtual threads, or did so earlier. */
    static native boolean hasCarriers();

    /** Returns the version of glibc; null with another C library. */
    static native String libc();

    /** Returns the file with code that uses restartable sequences; null if there is none. */
    static native String rseqUser();

    /** Returns the kernel id of the calling thread; of its carrier on a virtual thread. */
    static native int ownTid();

    /** Returns the kernel id of a platform thread; -1 if it is not running or this JVM does not expose the id. */
    static native int tid(Thread thread);

    /** Lists the ids of this process's threads. Returns how many there are, or -errno if they cannot be listed. */
    static native int tids(int[] into);

    /** Returns the number of this process's threads; -1 if it is unknown. */
    static native int threadCount();

    /** Reads {@code count} clocks; stores -1 for those that cannot be read. */
    static native void clocks(int[] ids, long[] nanos, int count);

    /** Reads the calling thread's user and system time with getrusage. */
    static native boolean rusage(long[] userSystem);

    /** Returns the object that all copies of the library share, which is {@code candidate} if there was none. */
    static native Object sharedObject(Object candidate);

    /** Returns how long the calling thread was ready to run but had no processor; -1 if unknown. */
    static native long waitNanos();

    /** Sets whether threads keep the file open from which they read their wait time. If not, closes all of them. */
    static native void keepWaitFiles(boolean on);

    /** Returns the loaded library that defines the variable for thread contexts; null if there is none. */
    static native String definesContext();

    /** Finds the variable of the library that {@link #loadContext} has loaded. Returns false if that fails. */
    static native boolean startContexts();

    /** Returns a new record of the calling thread, which profilers find; null if that fails. */
    static native ByteBuffer threadContext();

    /** Maps memory for this many records, which is never freed; returns null if there is none. */
    static native ByteBuffer mapContexts(int count);

    /** Returns the address of memory outside the heap. */
    static native long addressOf(ByteBuffer memory);

    /**
     * Publishes the keys of these records. Callers hold a lock that all copies share. Returns 0, 17 (EEXIST) if other
     * code publishes a process context, or another errno.
     */
    static native int publishContext(byte[] payload);

    /** Measures {@code count} bare system calls that read clock {@code id}; returns -1 if it cannot be read. */
    static native long rawNanos(int id, int count);
}
