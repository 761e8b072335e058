// SPDX-License-Identifier: Apache-2.0
// Copyright the TaskClock authors
package org.taskclock.benchmarks;

import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import org.taskclock.ClockId;

/** The lower bound for a snapshot that lists all threads: only its system calls, made in C. */
final class SnapshotFloor {
    static {
        BundledLibrary.load("libfloor.so");
    }

    private SnapshotFloor() {}

    /** Returns the clock ids of threads, for {@link #snapshot}. */
    static ByteBuffer clockIds(int[] tids, int count) {
        ByteBuffer ids = ByteBuffer.allocateDirect(count * Integer.BYTES).order(ByteOrder.nativeOrder());
        for (int i = 0; i < count; i++) {
            ids.putInt(ClockId.thread(tids[i], ClockId.Kind.SCHED).encode());
        }
        return ids;
    }

    /** Lists the threads and reads the clocks. Returns how many clocks could be read, or -1 if listing failed. */
    static native int snapshot(ByteBuffer ids, int count);
}
