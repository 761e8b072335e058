// SPDX-License-Identifier: Apache-2.0
// Copyright the TaskClock authors
package org.taskclock.benchmarks;

/** A native call that does nothing, with the library's binding: JNI here, FFM on JDK 22 and later. */
final class EmptyCall {
    static {
        TimeStampCounter.load();
    }

    private EmptyCall() {}

    static native long call();
}
