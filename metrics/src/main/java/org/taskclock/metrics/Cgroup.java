// SPDX-License-Identifier: Apache-2.0
// Copyright the TaskClock authors
package org.taskclock.metrics;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Iterator;
import java.util.List;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Stream;

/**
 * The control group of a process, version 1 or 2: its CPU time, its CPU limit, and how long that limit throttled it.
 */
public final class Cgroup {
    private static final Path ROOT = Path.of("/sys/fs/cgroup");

    private static final Path OWN = Path.of("/proc/self/cgroup");

    /** Paths of the groups of container engines. Other groups, such as those of systemd, contain any processes. */
    private static final Pattern CONTAINER = Pattern.compile(
            "[0-9a-f]{32}|(^|[/.-])(docker|kubepods|libpod|containerd|crio|lxc|nspawn|garden|ecs)([/.-]|$)");

    private static final String UNIFIED = "0::";
    private static final String PARENT = "/..";

    /** In /proc/self/mountinfo: a mount of version 2 whose root is above our own group. */
    private static final Pattern HOST_MOUNT = Pattern.compile("^\\S+ \\S+ \\S+ ((?:/\\.\\.)+) (\\S+) .*- cgroup2 ");

    private static final long SEARCH_PAUSE_NANOS = 60_000_000_000L;

    /** Our own group in a mount of the host's hierarchy; null if it was not found. */
    private record Own(Path top, long self, Path group, long searchedAt) {}

    /** The result of the last search; null before the first one. */
    private static Own own;

    /** The directory of the group with the CPU time; null if there is none. */
    private final Path usageDirectory;
    /** The directories of the groups that may have a limit: this one and its parents, up to the mount point. */
    private final List<Path> limitDirectories = new ArrayList<>();

    private final boolean v2;
    /** False if the group is known to be that of a container engine only if it has a limit. */
    private final boolean isContainer;

    private Cgroup(Path usage, Path cpu, Path top, boolean v2, boolean isContainer) {
        this.usageDirectory = usage;
        this.v2 = v2;
        this.isContainer = isContainer;
        for (Path at = cpu; at != null && at.startsWith(top); at = at.getParent()) limitDirectories.add(at);
    }

    /**
     * Returns the control group of a process, which may be in another container. Nothing of the group is known if its
     * files are not visible here: outside of the cgroup namespace of this process, they are visible only if the host's
     * hierarchy is mounted.
     */
    public static Cgroup of(long pid) {
        try {
            List<String> lines = Files.readAllLines(Path.of("/proc/" + pid + "/cgroup"));
            if (lines.equals(Files.readAllLines(OWN))) return of(lines, ROOT);
            if (lines.stream().noneMatch(line -> line.contains(":/.."))) return ofOther(lines, ROOT);
            List<String> mounts = Files.readAllLines(Path.of("/proc/self/mountinfo"));
            Cgroup group = outside(lines, mounts, ProcessHandle.current().pid());
            return group == null ? unknown() : group;
        } catch (IOException | RuntimeException e) {
            return unknown();
        }
    }

    static Cgroup ofThisProcess() {
        try {
            return of(Files.readAllLines(OWN), ROOT);
        } catch (IOException | RuntimeException e) {
            return unknown();
        }
    }

    private static Cgroup unknown() {
        return new Cgroup(null, null, ROOT, true, false);
    }

    /**
     * Finds a group outside of our cgroup namespace; null if it is not visible. The kernel gives its path, and that of
     * the mount, relative to our own group: "/../../pod2" in a mount of "/../../.." is in the same directory as the
     * parent of our group.
     */
    static Cgroup outside(List<String> lines, List<String> mounts, long self) throws IOException {
        for (String line : lines) {
            if (!line.startsWith(UNIFIED)) continue;
            String path = line.substring(UNIFIED.length());
            int up = 0;
            for (; path.startsWith(PARENT + "/") || path.equals(PARENT); up++) path = path.substring(PARENT.length());
            for (String mount : mounts) {
                Matcher root = HOST_MOUNT.matcher(mount);
                if (!root.find()) continue;
                Path top = Path.of(root.group(2));
                int depth = root.group(1).length() / PARENT.length();
                if (up > depth) continue;
                Path common = up == depth ? top : ancestor(top, depth, self, up);
                Path group = common == null ? null : common.resolve(path.substring(Math.min(1, path.length())));
                if (group == null || !Files.isDirectory(group)) continue;
                Path usage = Files.exists(group.resolve("cpu.max")) ? group : null;
                return new Cgroup(usage, group, top, true, isContainer("/" + top.relativize(group)));
            }
        }
        return null;
    }

    /**
     * Returns the group that is {@code up} levels above our own, which is at a depth of the mount; null if not found.
     */
    private static Path ancestor(Path top, int depth, long self, int up) throws IOException {
        Path group = ownGroup(top, depth, self);
        for (int i = 0; group != null && i < up; i++) group = group.getParent();
        return group;
    }

    /** The search reads many groups of the host, so others wait for it, and its result is kept. */
    private static synchronized Path ownGroup(Path top, int depth, long self) throws IOException {
        boolean isKnown = own != null && own.top.equals(top) && own.self == self;
        if (isKnown && own.group != null && Files.isDirectory(own.group)) return own.group;
        if (isKnown && own.group == null && System.nanoTime() - own.searchedAt < SEARCH_PAUSE_NANOS) return null;
        own = new Own(top, self, findOwnGroup(top, depth, self), System.nanoTime());
        return own.group;
    }

    private static Path findOwnGroup(Path top, int depth, long self) throws IOException {
        String pid = Long.toString(self);
        try (Stream<Path> groups =
                Files.find(top, depth, (path, attributes) -> path.getNameCount() == top.getNameCount() + depth)) {
            Iterator<Path> all = groups.iterator();
            while (all.hasNext()) {
                Path group = all.next();
                Path processes = group.resolve("cgroup.procs");
                if (!Files.isDirectory(group) || !Files.isReadable(processes)) continue;
                if (Files.readAllLines(processes).contains(pid)) return group;
            }
        }
        return null;
    }

    /** Finds our own group, which /proc/self/cgroup names. The hierarchies are mounted at {@code root}. */
    static Cgroup of(List<String> lines, Path root) {
        return find(lines, root, true);
    }

    /** Finds the group of another process. If its path does not exist here, the mount point is not its group. */
    static Cgroup ofOther(List<String> lines, Path root) {
        return find(lines, root, false);
    }

    private static Cgroup find(List<String> lines, Path root, boolean isOwn) {
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
            Path group = group(root.resolve("cpu"), cpu, isOwn);
            Path account = group(root.resolve("cpuacct"), cpuacct, isOwn);
            // The root of a version 1 hierarchy has these files too. It belongs to a container only if it has a limit.
            if (!cpu.equals(cpuacct) || (cpu.equals("/") && quota(group, false) == 0)) account = null;
            return new Cgroup(account, group, root.resolve("cpu"), false, isContainer(cpu));
        }
        if (unified == null) return new Cgroup(null, null, root, true, false);
        Path group = group(root, unified, isOwn);
        Path usage = group != null && Files.exists(group.resolve("cpu.max")) ? group : null;
        return new Cgroup(usage, group, root, true, isContainer(unified));
    }

    /** Within a container, the path is relative to the container's own group, or the host's path of that group. */
    private static boolean isContainer(String path) {
        return path.equals("/")
                || path.startsWith("/..")
                || CONTAINER.matcher(path).find();
    }

    /**
     * Returns the directory of a group; null if it is not visible. In a container, the path is often the host's, but
     * the mount point is the container's own group.
     */
    private static Path group(Path mount, String path, boolean isOwn) {
        Path group = mount.resolve(path.substring(1)).normalize();
        if (Files.isDirectory(group) && group.startsWith(mount)) return group;
        return isOwn ? mount : null;
    }

    /**
     * Returns the CPU time of all processes in the group; -1 if it is unknown, or if the group is neither that of a
     * container nor limited.
     */
    public long cpuNanos() {
        if (usageDirectory == null || (!isContainer && cpuLimit() == 0)) return -1;
        if (!v2) return value(usageDirectory.resolve("cpuacct.usage"), "");
        long micros = value(usageDirectory.resolve("cpu.stat"), "usage_usec");
        return micros < 0 ? -1 : 1_000 * micros;
    }

    /** Returns how long the limit kept the group from running, added up over the processors; -1 if unknown. */
    public long throttledNanos() {
        if (limitDirectories.isEmpty()) return -1;
        Path stat = limitDirectories.get(0).resolve("cpu.stat");
        long micros = v2 ? value(stat, "throttled_usec") : -1;
        return v2 ? (micros < 0 ? -1 : 1_000 * micros) : value(stat, "throttled_time");
    }

    /**
     * Returns in how many periods the group that has the lowest limit ran; -1 if unknown. Each period, usually 100 ms,
     * gives it its share again.
     */
    long periods() {
        return ofLimiting("nr_periods");
    }

    /** Returns in how many of the {@link #periods} it used up its share. */
    long throttledPeriods() {
        return ofLimiting("nr_throttled");
    }

    private long ofLimiting(String key) {
        if (limitDirectories.isEmpty()) return -1;
        double lowest = cpuLimit();
        Path limiting = limitDirectories.get(0);
        for (Path group : limitDirectories) {
            if (lowest <= 0 || quota(group, v2) != lowest) continue;
            limiting = group;
            break;
        }
        return value(limiting.resolve("cpu.stat"), key);
    }

    /** Returns the lowest CPU limit of the group and its parents, in processors; 0 if there is none. */
    public double cpuLimit() {
        double lowest = 0;
        for (Path group : limitDirectories) {
            double quota = quota(group, v2);
            if (quota > 0 && (lowest == 0 || quota < lowest)) lowest = quota;
        }
        return lowest;
    }

    /** Returns what the group has used; null if it is neither that of a container nor limited. */
    public JvmUsage.ContainerUsage usage() {
        JvmUsage.ContainerUsage known = known();
        return known.cpuNanos() < 0 ? null : known;
    }

    /** Returns what is known of the group's usage, also if its CPU time is not. */
    public JvmUsage.ContainerUsage known() {
        return new JvmUsage.ContainerUsage(cpuNanos(), throttledNanos(), cpuLimit(), periods(), throttledPeriods());
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

    /** Returns the number after a key, or the only number if the key is empty; -1 if there is none. */
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
