// SPDX-License-Identifier: Apache-2.0
// Copyright the TaskClock authors
package org.taskclock.web.http;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermission;
import java.util.Set;
import java.util.function.Consumer;

/** Files with secrets, which other users should not be able to read. */
public final class SecretFile {
    private static final Set<PosixFilePermission> FOR_OTHERS = Set.of(
            PosixFilePermission.GROUP_READ,
            PosixFilePermission.GROUP_WRITE,
            PosixFilePermission.OTHERS_READ,
            PosixFilePermission.OTHERS_WRITE);

    private SecretFile() {}

    /**
     * Returns the text of a file without the white space around it.
     *
     * @param option the option that names the file, for messages
     * @param remedy what to do if the file does not exist
     */
    public static String read(String option, Path file, String remedy) throws WebException {
        String name = option + " " + file + ": ";
        try {
            return Files.readString(file).strip();
        } catch (IOException e) {
            String reason = WebConfig.describe(e);
            throw new WebException(name + (Files.exists(file) ? "cannot be read: " + reason : reason + ": " + remedy));
        }
    }

    /** Warns if other users can read a file. */
    public static void warn(String option, Path file, Consumer<String> log) {
        try {
            if (Files.getPosixFilePermissions(file).stream().anyMatch(FOR_OTHERS::contains))
                log.accept(option + " " + file + ": other users can read it: run chmod 600 " + file);
        } catch (IOException | UnsupportedOperationException e) {
            // The file system has no permissions.
        }
    }
}
