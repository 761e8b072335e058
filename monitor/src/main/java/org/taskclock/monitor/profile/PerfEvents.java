// SPDX-License-Identifier: Apache-2.0
// Copyright the TaskClock authors
package org.taskclock.monitor.profile;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.DirectoryStream;
import java.nio.file.Files;
import java.nio.file.Path;

/**
 * The kernel's perf_events, with which async-profiler also samples the kernel, unless a container or
 * /proc/sys/kernel/perf_event_paranoid forbids it. Each thread of the JVM needs an open file, two locked pages, and a
 * queued signal.
 */
final class PerfEvents {
    /** A JVM with more threads is sampled with timers, which need no file. */
    private static final int MAX_THREADS = 1_000;

    private static final String FILE = "anon_inode:[perf_event]";

    private PerfEvents() {}

    /**
     * Returns whether half of the JVM's limits is enough. If the limit of open files was reached, the program would
     * fail to open its own. If that of queued signals was reached, the kernel would send SIGIO (see fcntl(2)), which
     * terminates a JVM.
     */
    static boolean fitsLimitsOf(long pid) {
        try {
            Path process = Path.of("/proc/" + pid);
            String status = Files.readString(process.resolve("status"), StandardCharsets.ISO_8859_1);
            long threads = number(status, "Threads:");
            long queued = number(status, "SigQ:");
            String limits = Files.readString(process.resolve("limits"));
            return threads <= MAX_THREADS
                    && countFiles(process, "") + threads <= number(limits, "Max open files") / 2
                    && queued + threads <= number(limits, "Max pending signals") / 2;
        } catch (IOException | RuntimeException e) {
            return false; // It cannot be inspected.
        }
    }

    /** Returns the first number of a line; a large one for "unlimited". */
    private static long number(String text, String name) {
        int start = text.indexOf("\n" + name) + 1 + name.length();
        String first = text.substring(start).strip().split("\\D", 2)[0];
        return first.isEmpty() ? Long.MAX_VALUE : Long.parseLong(first);
    }

    /** Returns whether a JVM has files of perf_events. */
    static boolean areUsedBy(long pid) throws IOException {
        return countFiles(Path.of("/proc/" + pid), FILE) > 0;
    }

    private static int countFiles(Path process, String target) throws IOException {
        int count = 0;
        try (DirectoryStream<Path> files = Files.newDirectoryStream(process.resolve("fd"))) {
            for (Path file : files) if (target.isEmpty() || isLinkTo(file, target)) count++;
        }
        return count;
    }

    private static boolean isLinkTo(Path file, String target) {
        try {
            return Files.readSymbolicLink(file).toString().equals(target);
        } catch (IOException e) {
            return false; // It has been closed.
        }
    }
}
