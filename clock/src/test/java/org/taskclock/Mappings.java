// SPDX-License-Identifier: Apache-2.0
// Copyright the TaskClock authors
package org.taskclock;

import java.nio.file.Files;
import java.nio.file.Path;

/** Main class of child JVMs: uses every read, then prints what the process has mapped of the native library. */
final class Mappings {
    private Mappings() {}

    public static void main(String[] arguments) throws Exception {
        EveryRead.main(arguments);
        for (String line : Files.readAllLines(Path.of("/proc/self/maps"))) {
            if (line.contains("libtaskclock") || line.contains("memfd:taskclock")) System.out.println(line);
        }
    }
}
