// SPDX-License-Identifier: Apache-2.0
// Copyright the TaskClock authors
package org.taskclock.agent;

import java.lang.reflect.Method;

/** Starts virtual threads through reflection, because the tests are compiled for JDK 17. */
final class VirtualThreadStarter {
    private VirtualThreadStarter() {}

    static Thread start(String name, Runnable task) {
        try {
            Object builder = Thread.class.getMethod("ofVirtual").invoke(null);
            Class<?> type = Class.forName("java.lang.Thread$Builder");
            Method named = type.getMethod("name", String.class);
            return (Thread) type.getMethod("start", Runnable.class).invoke(named.invoke(builder, name), task);
        } catch (ReflectiveOperationException e) {
            throw new LinkageError(e.getMessage(), e);
        }
    }
}
