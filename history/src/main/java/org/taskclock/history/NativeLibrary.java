// SPDX-License-Identifier: Apache-2.0
// Copyright the TaskClock authors
package org.taskclock.history;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;

/**
 * DuckDB's native library, which its driver extracts to a temporary file of 70 MB. The driver deletes it when the JVM
 * exits, but a killed JVM would leave it behind.
 */
final class NativeLibrary {
    private static final String NAME = "/libduckdb_java";
    private static boolean isDeleted;

    private NativeLibrary() {}

    /** Deletes the temporary file, which remains mapped. Called after the library was loaded. */
    static synchronized void deleteTemporaryFile() {
        if (isDeleted) return;
        isDeleted = true;
        String temporary = System.getProperty("java.io.tmpdir") + NAME;
        try {
            List<String> files = Files.readAllLines(Path.of("/proc/self/maps")).stream()
                    .filter(line -> line.contains(temporary))
                    .map(line -> line.substring(line.indexOf('/')))
                    .distinct()
                    .toList();
            for (String file : files) if (file.startsWith(temporary)) Files.deleteIfExists(Path.of(file));
        } catch (IOException e) {
            // The driver deletes it later.
        }
    }
}
