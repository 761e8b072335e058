// SPDX-License-Identifier: Apache-2.0
// Copyright the TaskClock authors
package org.taskclock;

/** The functions of {@link Native}, called through JNI. */
final class JniBinding {
    private JniBinding() {}

    /** Binds the functions. Can be repeated, unlike a static initializer. The JVM has linked this class by now. */
    static void bind() {
        Library.bind(JniBinding.class);
    }

    static native long cpuNanos();

    static native long userNanos();

    static native long systemNanos();

    static native long nowCpuNanos();

    static native long nowUserNanos();

    static native long clockNanos(int id);

    static native long processNanos(int id);

    static native long tickStamp();

    static native long virtualNanos(int value);
}
