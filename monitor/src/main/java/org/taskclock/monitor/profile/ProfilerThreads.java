// SPDX-License-Identifier: Apache-2.0
// Copyright the TaskClock authors
package org.taskclock.monitor.profile;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.DirectoryIteratorException;
import java.nio.file.DirectoryStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;

/** The threads of a JVM that work for profiles: Flight Recorder's, and the one that answers attach requests. */
public final class ProfilerThreads {
    /** The starts of the names that the kernel keeps. */
    private static final List<String> NAMES = List.of("JFR ", "Attach Listener");

    private ProfilerThreads() {}

    /** Returns the CPU time that these threads have used in nanoseconds; 0 if the JVM has exited. */
    public static long cpuNanos(long pid) {
        long nanos = 0;
        try (DirectoryStream<Path> threads = Files.newDirectoryStream(Path.of("/proc/" + pid + "/task"))) {
            for (Path thread : threads) nanos += cpuNanos(thread);
        } catch (IOException | DirectoryIteratorException e) {
            return 0;
        }
        return nanos;
    }

    private static long cpuNanos(Path thread) {
        try {
            String name = Files.readString(thread.resolve("comm"), StandardCharsets.ISO_8859_1);
            if (NAMES.stream().noneMatch(name::startsWith)) return 0;
            String times = Files.readString(thread.resolve("schedstat"), StandardCharsets.ISO_8859_1);
            return Long.parseLong(times.split(" ", 2)[0]);
        } catch (IOException | NumberFormatException e) {
            return 0; // it has ended
        }
    }
}
