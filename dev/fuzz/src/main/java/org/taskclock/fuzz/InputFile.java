// SPDX-License-Identifier: Apache-2.0
// Copyright the TaskClock authors
package org.taskclock.fuzz;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;

/** A temporary file with an input, for parsers that read files. Overwritten by the next input of this process. */
public final class InputFile {
    private static Path file;

    private InputFile() {}

    /** Writes an input. Only one thread may use this class. */
    public static Path of(byte[] input) throws IOException {
        if (file == null) {
            file = Files.createTempFile("taskclock-fuzz-", ".input");
            file.toFile().deleteOnExit();
        }
        return Files.write(file, input);
    }
}
