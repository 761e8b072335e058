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

/** The threads of this JVM that an experiment watches: the carriers of virtual threads, and platform threads by name. */
final class Watched {
    private static final String CARRIER = "jdk.internal.misc.CarrierThread";

    /**
     * What a thread used between two looks.
     *
     * @param voluntary switches since it was started: it waited
     * @param involuntary likewise: its time was up, or it yielded
     */
    record Used(
            String name, int tid, long cpuNanos, long userNanos, long systemNanos, long voluntary, long involuntary) {}

    private record Known(ThreadClock clock, CpuTime last) {}

    private final String prefix;
    private final Map<Thread, Known> known = new HashMap<>();

    Watched(String prefix) {
        this.prefix = prefix;
    }

    /** What each that used any has used since the look before, or since it was started. */
    List<Used> look() {
        List<Used> all = new ArrayList<>();
        for (Thread thread : threads()) {
            if (!isCarrier(thread) && !thread.getName().startsWith(prefix)) continue;
            Known before = known.get(thread);
            ThreadClock clock = before == null ? ThreadClock.of(thread) : before.clock;
            CpuTime now = clock.now();
            if (!now.isKnown()) continue;
            known.put(thread, new Known(clock, now));
            CpuTime spent = before == null ? now : now.minus(before.last);
            if (spent.cpuNanos() == 0) continue;
            long[] switches = switches(clock.tid());
            all.add(new Used(
                    thread.getName(),
                    clock.tid(),
                    spent.cpuNanos(),
                    spent.userNanos(),
                    spent.systemNanos(),
                    switches[0],
                    switches[1]));
        }
        all.sort(Comparator.comparingInt(Used::tid));
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
