// SPDX-License-Identifier: Apache-2.0
// Copyright the TaskClock authors
package org.taskclock;

import java.lang.invoke.MethodHandle;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.MethodType;
import org.taskclock.internal.JdkVersions;

/** Detects virtual threads. JDK 22 and later use another class of this name, which calls Thread.isVirtual directly. */
final class ThreadType {
    private static final boolean MAY_BE_VIRTUAL = Runtime.version().feature() >= JdkVersions.THREAD_ID;

    private ThreadType() {}

    static boolean isVirtual(Thread thread) {
        return MAY_BE_VIRTUAL && Handle.isVirtual(thread);
    }

    /** A separate class, because loading method handles would add milliseconds to the first reading on older JDKs. */
    private static final class Handle {
        /** {@code Thread.isVirtual()}; null on a JDK where it is a disabled preview feature. */
        private static final MethodHandle IS_VIRTUAL = find();

        static boolean isVirtual(Thread thread) {
            if (IS_VIRTUAL == null) return false;
            try {
                return (boolean) IS_VIRTUAL.invokeExact(thread);
            } catch (Throwable e) {
                throw new AssertionError(e);
            }
        }

        private static MethodHandle find() {
            try {
                return MethodHandles.publicLookup()
                        .findVirtual(Thread.class, "isVirtual", MethodType.methodType(boolean.class));
            } catch (NoSuchMethodException | IllegalAccessException e) {
                return null;
            }
        }
    }
}
