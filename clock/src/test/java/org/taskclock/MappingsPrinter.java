// SPDX-License-Identifier: Apache-2.0
// Copyright the TaskClock authors
package org.taskclock;

import java.nio.file.Files;
import java.nio.file.Path;

/**
 * Main class of child JVMs: calls every read, then prints the process's mappings of the native library and its page.
 */
final class MappingsPrinter {
    private MappingsPrinter() {}

    public static void main(String[] arguments) throws Exception {
        ReadExerciser.main(arguments);
        for (String line : Files.readAllLines(Path.of("/proc/self/maps"))) {
            if (line.contains("libtaskclock") || line.contains("memfd:taskclock")) System.out.println(line);
        }
    }
}
