// SPDX-License-Identifier: Apache-2.0
// Copyright the TaskClock authors
package org.taskclock.integration.kafka;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;

/** A cgroup of the kernel, v1 or v2, that limits the CPU time of a process. */
final class CpuQuota implements AutoCloseable {
    private static final int PERIOD_MICROS = 100_000;

    private static final String THROTTLED = "nr_throttled ";

    private final Path parent;
    private final Path group;
    private final long pid;

    private CpuQuota(Path parent, long pid) throws IOException {
        this.parent = parent;
        this.pid = pid;
        this.group = Files.createDirectory(parent.resolve("kafka-cpu-" + pid));
    }

    /**
     * Limits a process.
     *
     * @throws IOException if no cgroup hierarchy is writable
     */
    static CpuQuota limit(long pid, double cpus) throws IOException {
        String quota = String.valueOf(Math.round(cpus * PERIOD_MICROS));
        Path v1 = Path.of("/sys/fs/cgroup/cpu");
        boolean isV1 = Files.isWritable(v1.resolve("cgroup.procs")) && Files.exists(v1.resolve("cpu.shares"));
        CpuQuota limited = new CpuQuota(isV1 ? v1 : Path.of("/sys/fs/cgroup"), pid);
        try {
            if (isV1) {
                Files.writeString(limited.group.resolve("cpu.cfs_period_us"), String.valueOf(PERIOD_MICROS));
                Files.writeString(limited.group.resolve("cpu.cfs_quota_us"), quota);
            } else {
                limited.enableCpuController();
                Files.writeString(limited.group.resolve("cpu.max"), quota + " " + PERIOD_MICROS);
            }
            Files.writeString(limited.group.resolve("cgroup.procs"), String.valueOf(pid));
        } catch (IOException e) {
            Files.delete(limited.group);
            throw e;
        }
        return limited;
    }

    /** With v2, groups have the files of those controllers only that their parent has enabled. */
    private void enableCpuController() throws IOException {
        if (!Files.exists(group.resolve("cpu.max"))) {
            Files.writeString(parent.resolve("cgroup.subtree_control"), "+cpu");
        }
    }

    /** Returns the number of periods in which the process had to wait. */
    long throttledPeriods() throws IOException {
        for (String line : Files.readAllLines(group.resolve("cpu.stat"))) {
            if (line.startsWith(THROTTLED)) return Long.parseLong(line.substring(THROTTLED.length()));
        }
        throw new IOException("no nr_throttled in " + group);
    }

    @Override
    public void close() throws IOException {
        if (ProcessHandle.of(pid).isPresent()) Files.writeString(parent.resolve("cgroup.procs"), String.valueOf(pid));
        Files.delete(group);
    }
}
