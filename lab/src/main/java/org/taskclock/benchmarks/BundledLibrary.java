// SPDX-License-Identifier: Apache-2.0
// Copyright the TaskClock authors
package org.taskclock.benchmarks;

import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;

/** Loads a native library from the package of this class. */
final class BundledLibrary {
    private BundledLibrary() {}

    static void load(String file) {
        try (InputStream library = BundledLibrary.class.getResourceAsStream(file)) {
            if (library == null)
                throw new IllegalStateException(file + " is missing: it is built only on Linux x86_64");
            Path copy = Files.createTempFile("taskclock-", ".so");
            Files.copy(library, copy, StandardCopyOption.REPLACE_EXISTING);
            System.load(copy.toString());
            Files.delete(copy);
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }
}
