// SPDX-License-Identifier: Apache-2.0
// Copyright the TaskClock authors
package org.taskclock.web.metrics;

import java.io.FileDescriptor;
import java.io.FileOutputStream;
import java.io.IOException;
import java.nio.charset.StandardCharsets;

/**
 * Ends a long-running command if an error, such as an OutOfMemoryError, ends one of its threads. Otherwise, the process
 * would continue without that thread instead of being restarted.
 */
public final class FatalErrors {
    private static final int EXIT_CODE = 1;

    private FatalErrors() {}

    /** Makes this process exit, with one line on standard error, when an error ends any of its threads. */
    public static void endProcess(String command) {
        String prefix = "taskclock: " + command + ": ";
        // Created now, because there may be no memory for it later.
        byte[] noMemory = (prefix + "java.lang.OutOfMemoryError: ended: give it more memory with TASKCLOCK_JAVA_OPTS,"
                        + " such as -Xmx256m\n")
                .getBytes(StandardCharsets.US_ASCII);
        FileOutputStream err = new FileOutputStream(FileDescriptor.err);
        Thread.setDefaultUncaughtExceptionHandler((thread, problem) -> {
            if (!(problem instanceof Error)) {
                System.err.println(prefix + "internal error: thread " + thread.getName() + ": " + problem);
                return;
            }
            try {
                if (problem instanceof OutOfMemoryError) err.write(noMemory);
                else System.err.println(prefix + problem + ": ended");
            } catch (IOException e) {
                return; // end the process in any case
            } finally {
                // Not exit, which runs shutdown hooks that may fail for the same reason or block.
                Runtime.getRuntime().halt(EXIT_CODE);
            }
        });
    }
}
