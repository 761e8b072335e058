// SPDX-License-Identifier: Apache-2.0
// Copyright the TaskClock authors
package org.taskclock;

import java.io.File;
import java.io.FileInputStream;
import java.io.IOException;
import java.lang.management.ManagementFactory;
import javax.management.MBeanServer;
import javax.management.MBeanServerFactory;
import javax.management.MalformedObjectNameException;
import javax.management.ObjectName;

/**
 * Prepares the clock at its first reading, and again later if that fails: without memory, stack, files, or threads, a
 * reading uses what works. The JVM never repeats a static initializer that failed, so this class and those it uses have
 * none that can fail for lack of memory.
 */
final class Preparation {
    private static final long FIRST_DISTANCE_NANOS = 100_000_000L;
    private static final long MAX_DISTANCE_NANOS = 900_000_000_000L;

    /**
     * The longest time that a reading waits for the first preparation by another thread, which usually takes 10 ms.
     * Reading ThreadMXBean meanwhile would take longer, and its user and system time may be ahead of ours.
     */
    private static final long FIRST_WAIT_MILLIS = 2_000;

    private static final long NANOS_PER_MILLI = 1_000_000;

    // More than the preparation needs, so that it is not attempted where static initializers of the JDK may fail.
    private static final int SPARE_BYTES = 1 << 20;
    private static final int SPARE_FRAMES = 256;
    private static final int SPARE_FILES = 2;

    /** Whether there is nothing to try again. */
    private static volatile boolean isDone;

    private static volatile boolean isNative;
    private static volatile boolean isBeanReady;
    /** Set if the properties are invalid, or a forced backend cannot be used. */
    private static volatile String error;

    private static volatile boolean isPropertyInvalid;

    private static volatile long distanceNanos;
    private static volatile long nextTryNanos;

    /**
     * The thread that prepares; null if none does. The class's lock, which it does not hold meanwhile, guards writes.
     */
    private static volatile Thread preparing;

    private Preparation() {}

    /**
     * Returns whether the native library is in use. Only waits for another thread if that prepares the clock for the
     * first time, and then not for long. Throws an exception if a forced backend cannot be used.
     */
    static boolean run() {
        if (!isDone && isDue()) tryOnce(false);
        return requireUsable();
    }

    /** Like {@link #run}, but waits for another thread that prepares the clock, and not until the next try is due. */
    static boolean runNow() {
        if (!isDone) tryOnce(true);
        return requireUsable();
    }

    private static boolean requireUsable() {
        String message = error;
        if (message != null) {
            throw isPropertyInvalid ? new IllegalArgumentException(message) : new IllegalStateException(message);
        }
        return isNative;
    }

    /** Returns whether the native library is in use, without trying again. */
    static boolean isNative() {
        return isNative;
    }

    private static boolean isDue() {
        return distanceNanos == 0 || System.nanoTime() - nextTryNanos >= 0;
    }

    private static void tryOnce(boolean isNow) {
        boolean begun = false;
        try {
            // First, so that end() has room, too.
            requireRoom();
            begun = begin(isNow);
            if (begun) prepare();
        } catch (RuntimeException | LinkageError | VirtualMachineError e) {
            postpone();
        } finally {
            if (begun) end();
        }
    }

    private static synchronized boolean begin(boolean isNow) {
        boolean isFirst = distanceNanos == 0 && !isBeanReady;
        awaitEnd(isNow ? Long.MAX_VALUE : isFirst ? FIRST_WAIT_MILLIS : 0);
        if (preparing != null || isDone || !(isNow || isDue())) return false;
        preparing = Thread.currentThread();
        return true;
    }

    private static synchronized void end() {
        preparing = null;
        Preparation.class.notifyAll();
    }

    private static synchronized void awaitEnd(long millis) {
        boolean interrupted = false;
        long start = System.nanoTime();
        long left = millis;
        // A class loader may read the clock while we load a class.
        while (left > 0 && preparing != null && preparing != Thread.currentThread()) {
            try {
                Preparation.class.wait(left);
            } catch (InterruptedException e) {
                interrupted = true;
            }
            left = millis - (System.nanoTime() - start) / NANOS_PER_MILLI;
        }
        if (interrupted) Thread.currentThread().interrupt();
    }

    private static void prepare() {
        String message = null;
        try {
            isNative = Backends.load();
            isDone = isNative ? Backends.startSelection() : Library.isFailurePermanent();
            TaskClock.isSettled = isNative && isDone;
        } catch (IllegalArgumentException | IllegalStateException e) {
            isPropertyInvalid = e instanceof IllegalArgumentException;
            message = e.getMessage();
        }
        error = message;
        postpone();
    }

    private static void postpone() {
        distanceNanos = distanceNanos == 0 ? FIRST_DISTANCE_NANOS : Math.min(2 * distanceNanos, MAX_DISTANCE_NANOS);
        nextTryNanos = System.nanoTime() + distanceNanos;
    }

    private static void requireRoom() {
        if (useStack(SPARE_FRAMES, 0, 0, 0, 0) + new byte[SPARE_BYTES].length < 0) throw new AssertionError();
    }

    private static long useStack(int frames, long a, long b, long c, long d) {
        return frames == 0 ? a + b + c + d : useStack(frames - 1, a + 1, b + 2, c + 3, d + 4) + 1;
    }

    /**
     * Returns whether ThreadMXBean can be used. It is not touched without memory, stack, or files: its initialization
     * would fail, and the program could never use it again.
     */
    static boolean isBeanUsable() {
        if (isBeanReady) return true;
        try {
            requireRoom();
            if (!canOpenFiles() && !MBeans.includeThreads()) return false;
            MxbeanClock.refusal();
            isBeanReady = true;
            return true;
        } catch (LinkageError | VirtualMachineError e) {
            return false;
        }
    }

    /** Returns whether the JVM has file descriptors left. */
    static boolean canOpenFiles() {
        return canOpen(SPARE_FILES);
    }

    private static boolean canOpen(int files) {
        File file = new File(System.getProperty("java.home"), "lib/modules");
        if (files == 0 || !file.canRead()) return true;
        try (FileInputStream in = new FileInputStream(file)) {
            return in.getFD().valid() && canOpen(files - 1);
        } catch (IOException e) {
            return false;
        }
    }

    /** A separate class, so that a first reading does not load that of the exception. */
    private static final class MBeans {
        /**
         * Returns whether the program has initialized ThreadMXBean. There is no way to know that if it has not also
         * used the MBean server.
         */
        static boolean includeThreads() {
            try {
                ObjectName name = new ObjectName(ManagementFactory.THREAD_MXBEAN_NAME);
                for (MBeanServer server : MBeanServerFactory.findMBeanServer(null)) {
                    if (server.isRegistered(name)) return true;
                }
            } catch (MalformedObjectNameException | RuntimeException e) {
                // A security manager forbids it.
            }
            return false;
        }
    }
}
