// SPDX-License-Identifier: Apache-2.0
// Copyright the TaskClock authors
package org.taskclock;

import java.lang.invoke.MethodHandle;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.MethodType;

/** Tells virtual threads from others. JDK 22 and later have another class of this name, which just asks. */
final class ThreadType {
    private static final int FIRST_WITH_VIRTUAL_THREADS = 19;

    /** {@code Thread.isVirtual()}, where the JDK has it. */
    private static final MethodHandle IS_VIRTUAL = isVirtualHandle();

    private ThreadType() {}

    static boolean isVirtual(Thread thread) {
        if (IS_VIRTUAL == null) return false;
        try {
            return (boolean) IS_VIRTUAL.invokeExact(thread);
        } catch (Throwable e) {
            throw new AssertionError(e);
        }
    }

    private static MethodHandle isVirtualHandle() {
        // Method handles would cost the first reading of a process milliseconds.
        if (Runtime.version().feature() < FIRST_WITH_VIRTUAL_THREADS) return null;
        try {
            return MethodHandles.publicLookup()
                    .findVirtual(Thread.class, "isVirtual", MethodType.methodType(boolean.class));
        } catch (NoSuchMethodException | IllegalAccessException e) {
            return null; // a preview that is not enabled
        }
    }
}
