// SPDX-License-Identifier: Apache-2.0
// Copyright the TaskClock authors
package org.taskclock.web;

import java.io.IOException;
import java.nio.file.Path;

/** Writes a file with all that a colleague needs to see where the CPU time of a JVM goes. */
@FunctionalInterface
public interface BundleWriter {
    /**
     * Writes the file, which takes several seconds. Fewer if the thread is interrupted.
     *
     * @param redact whether the names that the program has chosen are replaced
     */
    void write(long pid, boolean redact, Path file) throws IOException;
}
