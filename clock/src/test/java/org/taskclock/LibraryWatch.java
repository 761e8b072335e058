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
 * Main class of child JVMs: looks at the temporary directory while the library is being loaded, which is when the library
 * asks for the system property in which Java left it a name.
 */
final class LibraryWatch {
    private LibraryWatch() {}

    public static void main(String[] arguments) {
        Properties watching = new Properties() {
            private static final long serialVersionUID = 1;

            @Override
            public String getProperty(String key) {
                if (key.equals("taskclock.loading")) look();
                return super.getProperty(key);
            }
        };
        watching.putAll(System.getProperties());
        System.setProperties(watching);
        if (TaskClock.status().rung() == Rung.MXBEAN) throw new AssertionError(TaskClock.status());
    }

    private static void look() {
        Path temporary = Path.of(System.getProperty("java.io.tmpdir"));
        try (DirectoryStream<Path> directories = Files.newDirectoryStream(temporary)) {
            for (Path directory : directories) {
                String permissions = PosixFilePermissions.toString(Files.getPosixFilePermissions(directory));
                try (DirectoryStream<Path> files = Files.newDirectoryStream(directory)) {
                    int count = 0;
                    for (Path ignored : files) count++;
                    System.out.println(permissions + " holding " + count);
                }
            }
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }
}
