// SPDX-License-Identifier: Apache-2.0
// Copyright the TaskClock authors
package org.taskclock.integration.trinocpu;

import java.lang.reflect.Field;
import java.lang.reflect.Method;
import java.util.concurrent.Executor;
import java.util.concurrent.ThreadFactory;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.LongAdder;

/**
 * Virtual threads that know how long they have been mounted, for Trino with measure.patch. They run on the JDK's
 * carriers. A scheduler of our own wraps each mount, so that neither JVM TI nor TaskClock is involved; this needs
 * {@code --add-opens java.base/java.lang=ALL-UNNAMED}.
 */
public final class DriverThreads {
    private static final ThreadLocal<DriverThreads> CURRENT = new ThreadLocal<>();
    private static final LongAdder ALL_MOUNTED = new LongAdder();
    private static final LongAdder ALL_KERNEL = new LongAdder();

    /** Carriers add to it when a mount has ended; the next mount may have begun then, on another carrier. */
    private final LongAdder mounted = new LongAdder();

    private volatile long mountStart;

    private DriverThreads() {}

    /** Replaces io.airlift.concurrent.Threads.virtualThreadsNamed. */
    public static ThreadFactory named(String format) {
        AtomicInteger next = new AtomicInteger();
        try {
            Field defaultScheduler = Class.forName("java.lang.VirtualThread").getDeclaredField("DEFAULT_SCHEDULER");
            defaultScheduler.setAccessible(true);
            Executor carriers = (Executor) defaultScheduler.get(null);
            Method newThread = Class.forName("java.lang.ThreadBuilders")
                    .getDeclaredMethod("newVirtualThread", Executor.class, String.class, int.class, Runnable.class);
            newThread.setAccessible(true);
            return task -> {
                DriverThreads times = new DriverThreads();
                Executor scheduler = mount -> carriers.execute(() -> times.run(mount));
                Runnable run = () -> {
                    CURRENT.set(times);
                    task.run();
                };
                try {
                    return (Thread) newThread.invoke(null, scheduler, format.formatted(next.getAndIncrement()), 0, run);
                } catch (ReflectiveOperationException e) {
                    throw new IllegalStateException(e);
                }
            };
        } catch (ReflectiveOperationException e) {
            throw new IllegalStateException("this JDK starts virtual threads in another way", e);
        }
    }

    /** Runs on the carrier. */
    private void run(Runnable mount) {
        long kernel = Clocks.threadNanos();
        long start = System.nanoTime();
        mountStart = start;
        mount.run();
        long nanos = System.nanoTime() - start;
        mounted.add(nanos);
        ALL_MOUNTED.add(nanos);
        ALL_KERNEL.add(Clocks.threadNanos() - kernel);
    }

    static long mountedNanos() {
        DriverThreads times = CURRENT.get();
        long now = System.nanoTime();
        return times == null ? now : times.mounted.sum() + now - times.mountStart;
    }

    /** Returns how long all drivers have been mounted. */
    static long allMountedNanos() {
        return ALL_MOUNTED.sum();
    }

    /** Returns the CPU time of the carriers during all mounts of drivers. */
    static long allKernelNanos() {
        return ALL_KERNEL.sum();
    }
}
