// SPDX-License-Identifier: Apache-2.0
// Copyright the TaskClock authors
package org.taskclock;

import com.sun.management.ThreadMXBean;
import java.lang.management.ManagementFactory;

/** The bytes of heap that a thread has allocated, if this JVM reports them. */
final class AllocatedBytes {
    private AllocatedBytes() {}

    /** Returns -1 on a virtual thread, or if the measurement is disabled or cannot be used now. */
    static long ofCurrentThread() {
        ThreadMXBean bean = bean();
        return bean == null ? -1 : bean.getCurrentThreadAllocatedBytes();
    }

    /** Also returns -1 if the thread has ended. */
    static long of(Thread thread) {
        ThreadMXBean bean = bean();
        long id = JavaThreadId.of(thread);
        return bean == null || id < 0 ? -1 : bean.getThreadAllocatedBytes(id);
    }

    private static ThreadMXBean bean() {
        return Preparation.isBeanUsable() ? Holder.BEAN : null;
    }

    /** Initialized only when ThreadMXBean can be used. */
    private static final class Holder {
        private static final ThreadMXBean BEAN = find();

        private static ThreadMXBean find() {
            return ManagementFactory.getThreadMXBean() instanceof ThreadMXBean bean
                            && bean.isThreadAllocatedMemorySupported()
                    ? bean
                    : null;
        }
    }
}
