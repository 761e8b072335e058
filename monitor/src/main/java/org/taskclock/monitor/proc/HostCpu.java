// SPDX-License-Identifier: Apache-2.0
// Copyright the TaskClock authors
package org.taskclock.monitor.proc;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.file.Files;
import java.nio.file.Path;
import org.taskclock.CpuTime;
import org.taskclock.metrics.ProcText;

/** The CPU time and processors of the whole machine. */
public final class HostCpu implements AutoCloseable {
    /** The start of the first line of /proc/stat. */
    private static final String LABEL = "cpu  ";

    /** USER_HZ, the unit of /proc/stat. */
    private static final long UNIT_NANOS = 10_000_000;

    private final ProcFile stat;
    private final int processors = countProcessors();

    public HostCpu(ProcFile.Budget budget) {
        this(new ProcFile("/proc/stat", budget));
    }

    HostCpu(ProcFile stat) {
        this.stat = stat;
    }

    public int processors() {
        return processors;
    }

    /**
     * Returns the busy time of all processors since the machine started: in user mode, the fields user and nice of the
     * first line, and in the kernel, the fields system, irq, and softirq; unknown if they cannot be read.
     */
    public CpuTime now() {
        ByteBuffer read = stat.read();
        // In a container, lxcfs provides this file, which is empty if lxcfs fails.
        if (read == null || read.remaining() <= LABEL.length()) return CpuTime.UNKNOWN;
        read.position(LABEL.length());
        long user = 0;
        long system = 0;
        for (int field = 0; field < 7; field++) {
            long value = ProcText.number(read);
            boolean idleOrWaiting = field == 3 || field == 4;
            if (field < 2) user += value;
            else if (!idleOrWaiting) system += value;
        }
        return new CpuTime((user + system) * UNIT_NANOS, user * UNIT_NANOS, system * UNIT_NANOS);
    }

    private static int countProcessors() {
        try (var lines = Files.lines(Path.of("/proc/stat"))) {
            int count = (int) lines.filter(l -> l.matches("cpu[0-9]+ .*")).count();
            if (count > 0) return count;
        } catch (IOException | RuntimeException e) {
            // Fall back to the number of processors that this JVM may use.
        }
        return Runtime.getRuntime().availableProcessors();
    }

    @Override
    public void close() {
        stat.close();
    }
}
