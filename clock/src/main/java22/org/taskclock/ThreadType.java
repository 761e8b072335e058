// SPDX-License-Identifier: Apache-2.0
// Copyright the TaskClock authors
package org.taskclock;

/** Tells virtual threads from others. */
final class ThreadType {
    private ThreadType() {}

    static boolean isVirtual(Thread thread) {
        return thread.isVirtual();
    }
}
