// SPDX-License-Identifier: Apache-2.0
// Copyright the TaskClock authors
package org.taskclock.monitor.fleet;

import java.io.File;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.taskclock.monitor.proc.JvmProcesses;

/**
 * Finds JVMs as they start and exit. A process is examined when it appears, and again after increasing pauses, because
 * it may execute a JVM later. Confined to one thread.
 */
public final class JvmDiscovery {
    /**
     * Identifies a process, even if its id is reused.
     *
     * @param startTicks when it started, in ticks since the machine started
     */
    public record JvmId(long pid, long startTicks) {}

    /** After this number of examinations, the pause stays the same. */
    private static final int MAX_DOUBLINGS = 5;

    /** The index of starttime in the text of /proc/PID/stat after the name. */
    private static final int START_FIELD = 20;

    private final File proc = new File("/proc");
    private final long self = ProcessHandle.current().pid();
    private final long ownStartTicks = startTicks(self);
    private final Map<Long, JvmId> jvms = new HashMap<>();

    /** Other processes. */
    private final Map<Long, Examination> others = new HashMap<>();

    private long refreshes;

    /** The number of examinations of a process that was no JVM, and the refresh that examines it again. */
    private record Examination(int count, long next) {}

    /** Returns the JVMs that are running, except this one. */
    public List<JvmId> refresh() {
        refreshes++;
        String[] names = proc.list();
        if (names == null) return List.copyOf(jvms.values());
        Set<Long> found = new HashSet<>();
        for (String name : names) {
            if (!Character.isDigit(name.charAt(0))) continue;
            long pid = Long.parseLong(name);
            found.add(pid);
            if (pid != self && !jvms.containsKey(pid)) examine(pid);
        }
        jvms.keySet().retainAll(found);
        others.keySet().retainAll(found);
        return new ArrayList<>(jvms.values());
    }

    private void examine(long pid) {
        Examination last = others.get(pid);
        if (last != null && last.next > refreshes) return;
        long start = JvmProcesses.isJvm(pid) ? startTicks(pid) : -1;
        if (start >= 0) {
            jvms.put(pid, new JvmId(pid, start));
            others.remove(pid);
        } else {
            int count = last == null ? 0 : last.count;
            others.put(pid, new Examination(Math.min(MAX_DOUBLINGS, count + 1), refreshes + (1L << count)));
        }
    }

    /** Forgets a JVM that has ended, whose id may already be reused. */
    public void forget(long pid) {
        jvms.remove(pid);
    }

    /** Returns whether a JVM started after this process. */
    public boolean isNewer(JvmId jvm) {
        return jvm.startTicks >= ownStartTicks;
    }

    /** Returns the identity of a process; {@code startTicks} is negative if there is none. */
    public static JvmId idOf(long pid) {
        return new JvmId(pid, startTicks(pid));
    }

    private static long startTicks(long pid) {
        try {
            String stat =
                    new String(Files.readAllBytes(Path.of("/proc/" + pid + "/stat")), StandardCharsets.ISO_8859_1);
            // The name, in parentheses, may contain any text.
            String[] fields = stat.substring(stat.lastIndexOf(')')).split(" ", START_FIELD + 2);
            return Long.parseLong(fields[START_FIELD]);
        } catch (IOException | RuntimeException e) {
            return -1; // it has ended
        }
    }
}
