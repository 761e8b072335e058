// SPDX-License-Identifier: Apache-2.0
// Copyright the TaskClock authors
package org.taskclock.lab;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Comparator;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.taskclock.CpuTime;
import org.taskclock.ThreadClock;

/** Samples the CPU time of this JVM's carrier threads, and of platform threads whose names start with a prefix. */
final class ThreadSampler {
    private static final String CARRIER = "jdk.internal.misc.CarrierThread";

    /**
     * The CPU time of a thread between two samples.
     *
     * @param voluntary context switches since its start because it blocked
     * @param involuntary context switches since its start because its time slice ended or it yielded
     */
    record Usage(
            String name, int tid, long cpuNanos, long userNanos, long systemNanos, long voluntary, long involuntary) {
        /** Returns the CPU times of several threads together. */
        static Usage sum(List<Usage> threads) {
            return new Usage(
                    "Total",
                    0,
                    threads.stream().mapToLong(Usage::cpuNanos).sum(),
                    threads.stream().mapToLong(Usage::userNanos).sum(),
                    threads.stream().mapToLong(Usage::systemNanos).sum(),
                    0,
                    0);
        }
    }

    private record Tracked(ThreadClock clock, CpuTime last) {}

    private final String prefix;
    private final Map<Thread, Tracked> tracked = new HashMap<>();

    ThreadSampler(String prefix) {
        this.prefix = prefix;
    }

    /**
     * Returns the usage of each thread since the last sample, or since its start. Omits threads that used no CPU time.
     */
    List<Usage> sample() {
        List<Usage> all = new ArrayList<>();
        for (Thread thread : threads()) {
            if (!isCarrier(thread) && !thread.getName().startsWith(prefix)) continue;
            Tracked before = tracked.get(thread);
            ThreadClock clock = before == null ? ThreadClock.of(thread) : before.clock;
            CpuTime now = clock.now();
            if (!now.isKnown()) continue;
            tracked.put(thread, new Tracked(clock, now));
            CpuTime spent = before == null ? now : now.minus(before.last);
            if (spent.cpuNanos() == 0) continue;
            long[] switches = switches(clock.tid());
            all.add(new Usage(
                    thread.getName(),
                    clock.tid(),
                    spent.cpuNanos(),
                    spent.userNanos(),
                    spent.systemNanos(),
                    switches[0],
                    switches[1]));
        }
        all.sort(Comparator.comparingInt(Usage::tid));
        return all;
    }

    static boolean isCarrier(Thread thread) {
        return thread.getClass().getName().equals(CARRIER);
    }

    private static List<Thread> threads() {
        ThreadGroup root = Thread.currentThread().getThreadGroup();
        while (root.getParent() != null) root = root.getParent();
        Thread[] threads = new Thread[2 * root.activeCount() + 64];
        return Arrays.asList(threads).subList(0, root.enumerate(threads));
    }

    private static long[] switches(int tid) {
        long[] switches = {-1, -1};
        try {
            for (String line : Files.readAllLines(Path.of("/proc/self/task/" + tid + "/status"))) {
                if (line.startsWith("voluntary_ctxt_switches:")) switches[0] = number(line);
                if (line.startsWith("nonvoluntary_ctxt_switches:")) switches[1] = number(line);
            }
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
        return switches;
    }

    private static long number(String line) {
        return Long.parseLong(line.substring(line.indexOf(':') + 1).trim());
    }
}
