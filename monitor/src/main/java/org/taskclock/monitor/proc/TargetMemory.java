// SPDX-License-Identifier: Apache-2.0
// Copyright the TaskClock authors
package org.taskclock.monitor.proc;

import java.io.BufferedReader;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.InputStream;
import java.io.InputStreamReader;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.function.Predicate;

/**
 * What /proc shows of the memory of a process: its command line, its environment, and its mappings. The kernel waits
 * for the process's memory, which can be on storage that does not answer, and the process chooses the size.
 */
public final class TargetMemory {
    /** MAX_ARG_STRLEN: what the kernel accepts for an argument, or a variable, when a program is started. */
    public static final int MAX_ENTRY_BYTES = 128 << 10;

    /** Of a command line, which is kept as a whole. A process can be given 2 MB, and can show more later. */
    private static final int MAX_COMMAND_BYTES = 256 << 10;

    /** Of what is only searched. */
    private static final int MAX_SEARCHED_BYTES = 4 << 20;

    /** A process can have 65,530 mappings, each with a path of up to 4,096 bytes. */
    private static final long MAX_MAPS_BYTES = 64 << 20;

    private static final int PART_BYTES = 8 << 10;

    private TargetMemory() {}

    /** Returns the command line. The rest of a long one is missing. */
    public static List<String> commandLine(long pid) throws IOException {
        List<String> arguments = new ArrayList<>();
        read(pid, "cmdline", MAX_COMMAND_BYTES, argument -> !arguments.add(argument));
        return arguments;
    }

    /** Returns a variable of the environment with which the process was started; empty if there is none. */
    public static String variable(long pid, String name) throws IOException {
        String start = name + "=";
        String found = read(pid, "environ", MAX_SEARCHED_BYTES, entry -> entry.startsWith(start));
        return found == null ? "" : found.substring(start.length());
    }

    /** Returns whether an argument or a variable of the environment contains a text. */
    public static boolean isStartedWith(long pid, String text) throws IOException {
        for (String file : List.of("cmdline", "environ"))
            if (read(pid, file, MAX_SEARCHED_BYTES, entry -> entry.contains(text)) != null) return true;
        return false;
    }

    private static String read(long pid, String file, int maxBytes, Predicate<String> search) throws IOException {
        return TargetWorkers.call(pid, () -> {
            try (InputStream in = Files.newInputStream(Path.of("/proc/" + pid + "/" + file))) {
                return read(in, maxBytes, search);
            }
        });
    }

    /** Returns the first entry that is searched for, each of which ends with a zero; null if there is none. */
    static String read(InputStream in, int maxBytes, Predicate<String> search) throws IOException {
        byte[] part = new byte[PART_BYTES];
        ByteArrayOutputStream entry = new ByteArrayOutputStream();
        for (int rest = maxBytes, length; rest > 0; rest -= length) {
            length = in.read(part, 0, Math.min(rest, part.length));
            if (length < 0) break;
            for (int i = 0; i < length; i++) {
                if (part[i] != 0) {
                    if (entry.size() < MAX_ENTRY_BYTES) entry.write(part[i]);
                    continue;
                }
                String text = entry.toString(StandardCharsets.UTF_8);
                if (search.test(text)) return text;
                entry.reset();
            }
        }
        // A process can set another command line, without a zero.
        String last = entry.toString(StandardCharsets.UTF_8);
        return !last.isEmpty() && search.test(last) ? last : null;
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
