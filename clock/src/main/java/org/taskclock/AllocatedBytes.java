// SPDX-License-Identifier: Apache-2.0
// Copyright the TaskClock authors
package org.taskclock;

import com.sun.management.ThreadMXBean;
import java.lang.management.ManagementFactory;

/** The bytes of heap that a thread has allocated, if this JVM reports them. */
final class AllocatedBytes {
    private static final ThreadMXBean BEAN = bean();

    private AllocatedBytes() {}

    private static ThreadMXBean bean() {
        return ManagementFactory.getThreadMXBean() instanceof ThreadMXBean bean
                        && bean.isThreadAllocatedMemorySupported()
                ? bean
                : null;
    }

    /** Returns -1 on a virtual thread, or if the measurement is disabled. */
    static long ofCurrentThread() {
        return BEAN == null ? -1 : BEAN.getCurrentThreadAllocatedBytes();
    }

    /** Also returns -1 if the thread has ended. */
    static long of(Thread thread) {
        long id = JavaThreadId.of(thread);
        return BEAN == null || id < 0 ? -1 : BEAN.getThreadAllocatedBytes(id);
    }
}
