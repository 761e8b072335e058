// SPDX-License-Identifier: Apache-2.0
// Copyright the TaskClock authors
package org.taskclock.benchmarks;

import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import org.taskclock.ClockId;

/** What a snapshot of all threads costs the kernel: its system calls, made one after another in C. */
final class Floor {
    static {
        Bundled.load("libfloor.so");
    }

    private Floor() {}

    /** The clock ids of these threads, as {@link #snapshot} takes them. */
    static ByteBuffer clockIds(int[] tids, int count) {
        ByteBuffer ids = ByteBuffer.allocateDirect(count * Integer.BYTES).order(ByteOrder.nativeOrder());
        for (int i = 0; i < count; i++) {
            ids.putInt(ClockId.thread(tids[i], ClockId.Kind.SCHED).encode());
        }
        return ids;
    }

    /** Lists this process's threads and reads these clocks. Returns how many could be read, -1 if there is no list. */
    static native int snapshot(ByteBuffer ids, int count);
}
