// SPDX-License-Identifier: Apache-2.0
// Copyright the TaskClock authors
package org.taskclock.integration.opensearch;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.HashMap;
import java.util.Map;
import java.util.function.Predicate;
import org.taskclock.ThreadClock;

/**
 * The CPU time of threads from {@code /proc}, so that it depends neither on the JVM nor on TaskClock's clocks. The
 * kernel updates the figure of a running thread at least once per tick.
 */
final class KernelTimes {
    private static final Path TASKS = Path.of("/proc/self/task");

    private final Map<Integer, String> names = new HashMap<>();
    private final Map<Integer, Long> nanos = new HashMap<>();

    private KernelTimes() {}

    /** Reads the CPU time of all Java threads. */
    static KernelTimes read() throws IOException {
        KernelTimes times = new KernelTimes();
        Thread[] threads = new Thread[Thread.activeCount() + 100];
        int count = Thread.enumerate(threads);
        for (int i = 0; i < count; i++) {
            int tid = ThreadClock.of(threads[i]).tid();
            if (tid < 0) continue;
            times.names.put(tid, threads[i].getName());
            times.nanos.put(tid, nanos(tid));
        }
        return times;
    }

    private static long nanos(int tid) throws IOException {
        String line = Files.readString(TASKS.resolve(tid + "/schedstat"));
        return Long.parseLong(line.substring(0, line.indexOf(' ')));
    }

    /** Returns what the threads with certain names have used since an earlier reading. */
    long since(KernelTimes earlier, Predicate<String> isCounted) {
        long sum = 0;
        for (Map.Entry<Integer, Long> entry : nanos.entrySet()) {
            if (!isCounted.test(names.get(entry.getKey()))) continue;
            sum += entry.getValue() - earlier.nanos.getOrDefault(entry.getKey(), 0L);
        }
        return sum;
    }

    /** Whether it is a thread of a pool whose runnables OpenSearch counts for tasks. */
    static boolean isSearch(String name) {
        return name.contains("][search][") || name.contains("][index_searcher][");
    }

    /** Whether it is a thread of the node. */
    static boolean isNode(String name) {
        return name.startsWith("opensearch[");
    }
}
