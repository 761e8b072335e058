// SPDX-License-Identifier: Apache-2.0
// Copyright the TaskClock authors
package org.taskclock;

import java.lang.reflect.Method;
import java.util.concurrent.atomic.AtomicReference;
import org.taskclock.internal.JdkVersions;

/** Starts virtual threads through reflection, because these sources are compiled for JDK 17. */
final class VirtualThreadRunner {
    private VirtualThreadRunner() {}

    static boolean isSupported() {
        return Runtime.version().feature() >= JdkVersions.VIRTUAL_THREADS;
    }

    static Thread start(Runnable task) {
        try {
            Method start = Thread.class.getMethod("startVirtualThread", Runnable.class);
            return (Thread) start.invoke(null, task);
        } catch (ReflectiveOperationException e) {
            throw new LinkageError(e.getMessage(), e);
        }
    }

    /**
     * Runs a task on a virtual thread and waits for it to end. Rethrows its exception as the cause of an
     * AssertionError.
     */
    static void run(Runnable task) throws InterruptedException {
        AtomicReference<Throwable> thrown = new AtomicReference<>();
        Thread thread = start(() -> {
            try {
                task.run();
            } catch (Throwable e) {
                thrown.set(e);
            }
        });
        thread.join();
        if (thrown.get() != null) throw new AssertionError("failed on the virtual thread", thrown.get());
    }
}
