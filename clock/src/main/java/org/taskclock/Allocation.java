// SPDX-License-Identifier: Apache-2.0
// Copyright the TaskClock authors
package org.taskclock;

import com.sun.management.ThreadMXBean;
import java.lang.management.ManagementFactory;

/** The bytes of heap that threads have allocated, where this JVM tells. */
final class Allocation {
    private static final ThreadMXBean BEAN = bean();

    private Allocation() {}

    private static ThreadMXBean bean() {
        return ManagementFactory.getThreadMXBean() instanceof ThreadMXBean bean
                        && bean.isThreadAllocatedMemorySupported()
                ? bean
                : null;
    }

    /** -1 on a virtual thread, or where it is switched off. */
    static long ofCurrentThread() {
        return BEAN == null ? -1 : BEAN.getCurrentThreadAllocatedBytes();
    }

    /** -1 as well if the thread has ended. */
    static long of(Thread thread) {
        return BEAN == null ? -1 : BEAN.getThreadAllocatedBytes(thread.getId());
    }
}
