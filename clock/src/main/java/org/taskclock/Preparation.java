// SPDX-License-Identifier: Apache-2.0
// Copyright the TaskClock authors
package org.taskclock;

import java.io.File;
import java.io.FileInputStream;
import java.io.IOException;

/**
 * Prepares the clock at its first reading, and again later if that fails: without memory, stack, files, or threads, a
 * reading uses what works. The JVM never repeats a static initializer that failed, so this class and those it uses have
 * none that can fail for lack of memory.
 */
final class Preparation {
    private static final long FIRST_DISTANCE_NANOS = 100_000_000L;
    private static final long MAX_DISTANCE_NANOS = 900_000_000_000L;

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
    private static boolean isRunning;

    private Preparation() {}

    /** Returns whether the native library is in use. Throws an exception if a forced backend cannot be used. */
    static boolean run() {
        if (!isDone && isDue()) tryOnce();
        String message = error;
        if (message != null) {
            throw isPropertyInvalid ? new IllegalArgumentException(message) : new IllegalStateException(message);
        }
        return isNative;
    }

    /** Like {@link #run}, but does not wait until the next try is due. */
    static boolean runNow() {
        if (!isDone) nextTryNanos = System.nanoTime();
        return run();
    }

    private static boolean isDue() {
        return distanceNanos == 0 || System.nanoTime() - nextTryNanos >= 0;
    }

    private static synchronized void tryOnce() {
        // A class loader may read the clock while we load a class.
        if (isRunning || isDone || !isDue()) return;
        isRunning = true;
        try {
            requireRoom();
            error = null;
            isNative = Backends.load();
            isDone = isNative ? Backends.startSelection() : Library.isFailurePermanent();
            TaskClock.isSettled = isNative && isDone;
        } catch (IllegalArgumentException | IllegalStateException e) {
            isPropertyInvalid = e instanceof IllegalArgumentException;
            error = e.getMessage();
        } catch (RuntimeException | LinkageError | VirtualMachineError e) {
            // Tried again later.
        } finally {
            distanceNanos = distanceNanos == 0 ? FIRST_DISTANCE_NANOS : Math.min(2 * distanceNanos, MAX_DISTANCE_NANOS);
            nextTryNanos = System.nanoTime() + distanceNanos;
            isRunning = false;
        }
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
            if (!canOpen(SPARE_FILES)) return false;
            MxbeanClock.refusal();
            isBeanReady = true;
            return true;
        } catch (LinkageError | VirtualMachineError e) {
            return false;
        }
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
}
