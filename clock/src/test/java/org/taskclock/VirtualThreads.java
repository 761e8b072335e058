// SPDX-License-Identifier: Apache-2.0
// Copyright the TaskClock authors
package org.taskclock;

import java.lang.reflect.Method;
import java.util.concurrent.atomic.AtomicReference;

/** Virtual threads, from sources that are compiled for a JDK without them. */
final class VirtualThreads {
    private VirtualThreads() {}

    static boolean exist() {
        return Runtime.version().feature() >= 21;
    }

    static Thread start(Runnable task) {
        try {
            Method start = Thread.class.getMethod("startVirtualThread", Runnable.class);
            return (Thread) start.invoke(null, task);
        } catch (ReflectiveOperationException e) {
            throw new LinkageError(e.getMessage(), e);
        }
    }

    /** Runs a task on a virtual thread to its end, and throws what it throws. */
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
        if (thrown.get() != null) throw new AssertionError("on the virtual thread", thrown.get());
    }
}
