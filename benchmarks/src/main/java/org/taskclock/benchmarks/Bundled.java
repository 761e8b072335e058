// SPDX-License-Identifier: Apache-2.0
// Copyright the TaskClock authors
package org.taskclock.benchmarks;

import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;

/** Loads a native library that lies beside this class. */
final class Bundled {
    private Bundled() {}

    static void load(String file) {
        try (InputStream library = Bundled.class.getResourceAsStream(file)) {
            if (library == null)
                throw new IllegalStateException(file + " was not built: it is for Linux on x86_64 only");
            Path copy = Files.createTempFile("taskclock-", ".so");
            Files.copy(library, copy, StandardCopyOption.REPLACE_EXISTING);
            System.load(copy.toString());
            Files.delete(copy);
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }
}
