// SPDX-License-Identifier: Apache-2.0
// Copyright the TaskClock authors
package org.taskclock;

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

    /** Returns the thread's id; -1 if it cannot be known, because the thread's class overrides getId. */
    static long of(Thread thread) {
        Class<?> type = thread.getClass();
        return type == Thread.class || !OVERRIDES_GET_ID.get(type) ? thread.getId() : -1;
    }
}
