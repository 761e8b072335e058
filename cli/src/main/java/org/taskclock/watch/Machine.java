// SPDX-License-Identifier: Apache-2.0
// Copyright the TaskClock authors
package org.taskclock.watch;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.file.Files;
import java.nio.file.Path;

/** What surrounds a JVM that is watched, and who watches it. */
final class Machine implements AutoCloseable {
    /** Left to the rest of this process. */
    private static final int FILES_KEPT_FREE = 200;

    /** In which the kernel tells what processors did. */
    private static final long UNIT_NANOS = 10_000_000;

    private final ProcFile stat;
    private final int processors = countProcessors();

    Machine(ProcFile.Budget budget) {
        stat = new ProcFile("/proc/stat", budget);
    }

    int processors() {
        return processors;
    }

    /** What all its processors worked: user, nice, system, irq and softirq of the first line. */
    long cpuNanos() {
        ByteBuffer read = stat.read();
        if (read == null) return 0;
        read.position("cpu  ".length());
        long sum = 0;
        for (int field = 0; field < 7; field++) {
            long value = ProcText.number(read);
            boolean idleOrWaiting = field == 3 || field == 4;
            if (!idleOrWaiting) sum += value;
        }
        return sum * UNIT_NANOS;
    }

    private static int countProcessors() {
        try (var lines = Files.lines(Path.of("/proc/stat"))) {
            int count = (int) lines.filter(l -> l.matches("cpu[0-9]+ .*")).count();
            if (count > 0) return count;
        } catch (IOException | RuntimeException e) {
            // As many as this JVM may use, then.
        }
        return Runtime.getRuntime().availableProcessors();
    }

    /** So many files may be kept open for threads. */
    static int filesForThreads() {
        return openFilesAllowed() - FILES_KEPT_FREE;
    }

    private static int openFilesAllowed() {
        try (var lines = Files.lines(Path.of("/proc/self/limits"))) {
            String line = lines.filter(l -> l.startsWith("Max open files"))
                    .findFirst()
                    .orElse("");
            String soft = line.substring("Max open files".length()).strip().split(" ", 2)[0];
            return soft.equals("unlimited") ? Integer.MAX_VALUE / 2 : Integer.parseInt(soft);
        } catch (IOException | RuntimeException e) {
            return 1_024;
        }
    }

    @Override
    public void close() {
        stat.close();
    }
}
