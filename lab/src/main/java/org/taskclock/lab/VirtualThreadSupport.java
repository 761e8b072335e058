// SPDX-License-Identifier: Apache-2.0
// Copyright the TaskClock authors
package org.taskclock.lab;

import java.lang.reflect.Method;
import org.taskclock.internal.JdkVersions;

/** Starts virtual threads through reflection, because this code is compiled for JDK 17. */
final class VirtualThreadSupport {
    private VirtualThreadSupport() {}

    static Thread start(String name, Runnable task) {
        try {
            // Look up the methods in the interface, because the builder's class is not public.
            Class<?> type = Class.forName("java.lang.Thread$Builder");
            Method named = type.getMethod("name", String.class);
            Object builder = Thread.class.getMethod("ofVirtual").invoke(null);
            return (Thread) type.getMethod("start", Runnable.class).invoke(named.invoke(builder, name), task);
        } catch (ReflectiveOperationException e) {
            throw new UnsupportedOperationException(
                    "virtual threads need JDK " + JdkVersions.VIRTUAL_THREADS + " or later", e);
        }
    }

    static Thread start(boolean virtual, String name, Runnable task) {
        if (virtual) return start(name, task);
        Thread thread = new Thread(task, name);
        thread.start();
        return thread;
    }
}
