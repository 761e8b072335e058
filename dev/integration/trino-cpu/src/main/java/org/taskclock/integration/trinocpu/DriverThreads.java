// SPDX-License-Identifier: Apache-2.0
// Copyright the TaskClock authors
package org.taskclock.integration.trinocpu;

import io.airlift.concurrent.Threads;
import java.lang.reflect.Field;
import java.lang.reflect.Method;
import java.util.concurrent.Executor;
import java.util.concurrent.ThreadFactory;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.LongAdder;
import java.util.concurrent.locks.ReentrantLock;

/**
 * Virtual threads that know how long they have been mounted and what their carriers' clocks showed meanwhile, for Trino
 * with measure.patch. They run on the JDK's carriers. A scheduler of our own wraps each mount, so that neither JVM TI
 * nor TaskClock is involved; this needs {@code --add-opens java.base/java.lang=ALL-UNNAMED}.
 */
public final class DriverThreads {
    private static final ThreadLocal<DriverThreads> CURRENT = new ThreadLocal<>();
    private static final LongAdder ALL_MOUNTED = new LongAdder();
    private static final LongAdder ALL_KERNEL = new LongAdder();

    private final ReentrantLock counting = new ReentrantLock();

    // Written by the carriers under the lock. The virtual thread reads them while the carrier under it holds the lock.
    private long mounted;
    private long kernel;
    private long mountStart;
    private long kernelStart;

    private DriverThreads() {}

    /** Replaces io.airlift.concurrent.Threads.virtualThreadsNamed; with -Dplatform=true, Trino's own threads. */
    public static ThreadFactory named(String format) {
        if (Boolean.getBoolean("platform")) return Threads.daemonThreadsNamed(format);
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

    /**
     * Runs on the carrier. The next mount may begin on another carrier before this method returns; the lock makes it
     * wait until this one is counted.
     */
    private void run(Runnable mount) {
        counting.lock();
        try {
            long cpu = Clocks.threadNanos();
            long start = System.nanoTime();
            kernelStart = cpu;
            mountStart = start;
            mount.run();
            long nanos = System.nanoTime() - start;
            cpu = Clocks.threadNanos() - cpu;
            mounted += nanos;
            kernel += cpu;
            ALL_MOUNTED.add(nanos);
            ALL_KERNEL.add(cpu);
        } finally {
            counting.unlock();
        }
    }

    static long mountedNanos() {
        DriverThreads times = CURRENT.get();
        long now = System.nanoTime();
        return times == null ? now : times.mounted + now - times.mountStart;
    }

    static long kernelNanos() {
        DriverThreads times = CURRENT.get();
        if (times == null) return Clocks.threadNanos();
        return times.kernel + Clocks.threadNanos() - times.kernelStart;
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
