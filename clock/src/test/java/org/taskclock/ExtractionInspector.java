// SPDX-License-Identifier: Apache-2.0
// Copyright the TaskClock authors
package org.taskclock;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.DirectoryStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.Properties;

/**
 * Main class of child JVMs: inspects the temporary directory while the library is being loaded. At that moment, the
 * native code reads the system property {@code taskclock.loading} to get a class name. This class intercepts that read.
 */
final class ExtractionInspector {
    private ExtractionInspector() {}

    public static void main(String[] arguments) {
        Properties intercepted = new Properties() {
            private static final long serialVersionUID = 1;

            @Override
            public String getProperty(String key) {
                if (key.equals("taskclock.loading")) printTemporaryDirectories();
                return super.getProperty(key);
            }
        };
        intercepted.putAll(System.getProperties());
        System.setProperties(intercepted);
        if (TaskClock.status().backend() == Backend.MXBEAN) throw new AssertionError(TaskClock.status());
    }

    private static void printTemporaryDirectories() {
        Path temporary = Path.of(System.getProperty("java.io.tmpdir"));
        try (DirectoryStream<Path> directories = Files.newDirectoryStream(temporary)) {
            for (Path directory : directories) {
                String permissions = PosixFilePermissions.toString(Files.getPosixFilePermissions(directory));
                try (DirectoryStream<Path> files = Files.newDirectoryStream(directory)) {
                    int count = 0;
                    for (Path ignored : files) count++;
                    System.out.println(permissions + " files=" + count);
                }
            }
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }
}
