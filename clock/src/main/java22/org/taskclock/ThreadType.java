// SPDX-License-Identifier: Apache-2.0
// Copyright the TaskClock authors
package org.taskclock;

/** Detects virtual threads. */
final class ThreadType {
    private ThreadType() {}

    static boolean isVirtual(Thread thread) {
        return thread.isVirtual();
    }
}
