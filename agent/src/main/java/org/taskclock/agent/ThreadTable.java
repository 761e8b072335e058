// SPDX-License-Identifier: Apache-2.0
// Copyright the TaskClock authors
package org.taskclock.agent;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.taskclock.ThreadClock;
import org.taskclock.ThreadSnapshot;

/** The names and CPU times of all threads of the process. */
final class ThreadTable {
    record Row(String getName, long getId, int getTid, long getCpuNanos, long getUserNanos, long getSystemNanos)
            implements TaskClockMXBean.ThreadTime {}

    /** The name of a thread that ended while the table was read. */
    static final String ENDED = "?";

    /** Kept, because each reading builds on the previous one. */
    private static final ThreadSnapshot SNAPSHOT = new ThreadSnapshot();

    private ThreadTable() {}

    /**
     * Reads all threads. Returns null if the kernel cannot list them now, for example because all file descriptors are
     * in use.
     */
    static Row[] read(TaskClockHooks hooks) {
        Map<Integer, Thread> threads = new HashMap<>();
        for (Thread thread : ThreadUserTimes.platformThreads()) {
            int tid = ThreadClock.of(thread).tid();
            if (tid > 0) threads.put(tid, thread);
        }
        List<Row> rows = new ArrayList<>();
        synchronized (SNAPSHOT) {
            int capacity = threads.size() + 64;
            int count;
            int[] tids;
            long[][] times;
            do {
                capacity *= 2;
                tids = new int[capacity];
                times = new long[3][capacity];
                count = SNAPSHOT.read(tids, times[0], times[1], times[2]);
            } while (count > capacity);
            if (count < 0) return null;
            for (int i = 0; i < count; i++) {
                Thread thread = threads.get(tids[i]);
                String name = thread == null ? kernelName(tids[i]) : thread.getName();
                long id = thread == null ? -1 : hooks.threadId(thread);
                rows.add(new Row(name, id, tids[i], times[0][i], times[1][i], times[2][i]));
            }
        }
        return rows.toArray(new Row[0]);
    }

    private static String kernelName(int tid) {
        try {
            return Files.readString(Path.of("/proc/self/task/" + tid + "/comm")).trim();
        } catch (IOException | RuntimeException e) {
            return ENDED;
        }
    }
}
