// SPDX-License-Identifier: Apache-2.0
// Copyright the TaskClock authors
package org.taskclock.watch;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;

/** The control group of a process, version 1 or 2: what its processes used, what they may use, and how often they had to wait. */
final class Cgroup {
    private static final Path ROOT = Path.of("/sys/fs/cgroup");

    // Null where there is none.
    private final Path usage;
    /** This group and those above it, up to where the hierarchy is mounted: each may have a limit. */
    private final List<Path> limits = new ArrayList<>();

    private final boolean v2;

    private Cgroup(Path usage, Path cpu, Path top, boolean v2) {
        this.usage = usage;
        this.v2 = v2;
        for (Path at = cpu; at != null && at.startsWith(top); at = at.getParent()) limits.add(at);
    }

    static Cgroup of(long pid) {
        try {
            return of(Files.readAllLines(Path.of("/proc/" + pid + "/cgroup")), ROOT);
        } catch (IOException | RuntimeException e) {
            return new Cgroup(null, null, ROOT, true); // none that can be read
        }
    }

    /** By the lines of /proc/PID/cgroup, and where the hierarchies are mounted. */
    static Cgroup of(List<String> lines, Path root) {
        String unified = null;
        String cpu = null;
        String cpuacct = null;
        for (String line : lines) {
            String[] parts = line.split(":", 3);
            if (parts.length < 3) continue;
            List<String> controllers = List.of(parts[1].split(",", -1));
            if (parts[0].equals("0")) unified = parts[2];
            if (controllers.contains("cpu")) cpu = parts[2];
            if (controllers.contains("cpuacct")) cpuacct = parts[2];
        }
        if (cpu != null && cpuacct != null) {
            Path group = group(root.resolve("cpu"), cpu);
            Path account = group(root.resolve("cpuacct"), cpuacct);
            // The root of a version 1 hierarchy has the files, too, but is no container; it is one where it is limited.
            if (!cpu.equals(cpuacct) || (cpu.equals("/") && quota(group, false) == 0)) account = null;
            return new Cgroup(account, group, root.resolve("cpu"), false);
        }
        if (unified == null) return new Cgroup(null, null, root, true);
        Path group = group(root, unified);
        return new Cgroup(Files.exists(group.resolve("cpu.max")) ? group : null, group, root, true);
    }

    /** In a container the path is often the host's, and what is mounted is the container's own group. */
    private static Path group(Path mount, String path) {
        Path group = mount.resolve(path.substring(1)).normalize();
        return Files.isDirectory(group) && group.startsWith(mount) ? group : mount;
    }

    /** -1 where it cannot be known. */
    long cpuNanos() {
        if (usage == null) return -1;
        return v2 ? 1_000 * value(usage.resolve("cpu.stat"), "usage_usec") : value(usage.resolve("cpuacct.usage"), "");
    }

    /** For how long its processes could not run because of the limit; -1 where it cannot be known. */
    long throttledNanos() {
        if (limits.isEmpty()) return -1;
        Path stat = limits.get(0).resolve("cpu.stat");
        long micros = v2 ? value(stat, "throttled_usec") : -1;
        return v2 ? (micros < 0 ? -1 : 1_000 * micros) : value(stat, "throttled_time");
    }

    /** How many processors it may use at most; 0 without a limit. */
    double cores() {
        double least = 0;
        for (Path at : limits) {
            double own = quota(at, v2);
            if (own > 0 && (least == 0 || own < least)) least = own;
        }
        return least;
    }

    private static double quota(Path group, boolean v2) {
        try {
            if (v2) {
                String[] parts =
                        Files.readString(group.resolve("cpu.max")).trim().split(" ", 2);
                return parts[0].equals("max") ? 0 : Double.parseDouble(parts[0]) / Double.parseDouble(parts[1]);
            }
            double quota = value(group.resolve("cpu.cfs_quota_us"), "");
            return quota <= 0 ? 0 : quota / value(group.resolve("cpu.cfs_period_us"), "");
        } catch (IOException | RuntimeException e) {
            return 0;
        }
    }

    /** The number behind a key, or the only one. */
    private static long value(Path file, String key) {
        try {
            for (String line : Files.readAllLines(file)) {
                if (key.isEmpty()) return Long.parseLong(line.trim());
                if (line.startsWith(key + " "))
                    return Long.parseLong(line.substring(key.length() + 1).trim());
            }
        } catch (IOException | RuntimeException e) {
            return -1;
        }
        return -1;
    }
}
