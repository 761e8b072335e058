// SPDX-License-Identifier: Apache-2.0
// Copyright the TaskClock authors
package org.taskclock.monitor.proc;

import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStream;
import java.io.InputStreamReader;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;

/**
 * What /proc shows of the memory of a process: its command line, its environment, and its mappings. The kernel waits
 * for the process's memory, which can be on storage that does not answer, and the process chooses the size.
 */
public final class TargetMemory {
    private static final int MAX_BYTES = 4 << 20;

    /** A process can have 65,530 mappings, each with a path of up to 4,096 bytes. */
    private static final long MAX_MAPS_BYTES = 64 << 20;

    private TargetMemory() {}

    /** Returns the command line, with a zero after each argument. A long one is truncated. */
    public static byte[] commandLine(long pid) throws IOException {
        return read(pid, "cmdline");
    }

    /** Returns the environment with which the process was started, with a zero after each variable. */
    public static byte[] environment(long pid) throws IOException {
        return read(pid, "environ");
    }

    private static byte[] read(long pid, String file) throws IOException {
        return TargetWorkers.call(pid, () -> {
            try (InputStream in = Files.newInputStream(Path.of("/proc/" + pid + "/" + file))) {
                return in.readNBytes(MAX_BYTES);
            }
        });
    }

    /** Returns the first path of a mapped file that contains {@code part}; null if there is none. */
    public static String mappedFile(long pid, String part) throws IOException {
        return TargetWorkers.call(pid, () -> {
            try (InputStream in = Files.newInputStream(Path.of("/proc/" + pid + "/maps"));
                    BufferedReader maps =
                            new BufferedReader(new InputStreamReader(in, StandardCharsets.ISO_8859_1), 1 << 16)) {
                long length = 0;
                for (String line = maps.readLine(); line != null; line = maps.readLine()) {
                    if (line.contains(part) && line.indexOf('/') >= 0) return line.substring(line.indexOf('/'));
                    length += line.length();
                    if (length > MAX_MAPS_BYTES) throw new IOException("its memory map is too large");
                }
                return null;
            }
        });
    }
}
