// SPDX-License-Identifier: Apache-2.0
// Copyright the TaskClock authors
package org.taskclock;

import java.lang.invoke.MethodHandle;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.MethodType;

/** The Java ids of threads. A class can override {@code Thread.getId}, and then it may return another thread's id. */
final class JavaThreadId {
    /** Whether a class of threads overrides getId. */
    private static final ClassValue<Boolean> OVERRIDES_GET_ID = new ClassValue<>() {
        @Override
        protected Boolean computeValue(Class<?> type) {
            try {
                return type.getMethod("getId").getDeclaringClass() != Thread.class;
            } catch (NoSuchMethodException | LinkageError e) {
                return true;
            }
        }
    };

    private JavaThreadId() {}

    /** Returns the thread's id; -1 if it cannot be known: before JDK 19, if the thread's class overrides getId. */
    static long of(Thread thread) {
        Class<?> type = thread.getClass();
        return type == Thread.class || !OVERRIDES_GET_ID.get(type) ? thread.getId() : Handle.threadId(thread);
    }

    /** A separate class, because loading method handles takes milliseconds, and few threads need them. */
    private static final class Handle {
        /** {@code Thread.threadId()}, which no class can override; null before JDK 19. */
        private static final MethodHandle THREAD_ID = find();

        static long threadId(Thread thread) {
            if (THREAD_ID == null) return -1;
            try {
                return (long) THREAD_ID.invokeExact(thread);
            } catch (Throwable e) {
                throw new AssertionError(e);
            }
        }

        private static MethodHandle find() {
            try {
                return MethodHandles.publicLookup()
                        .findVirtual(Thread.class, "threadId", MethodType.methodType(long.class));
            } catch (NoSuchMethodException | IllegalAccessException e) {
                return null;
            }
        }
    }
}
