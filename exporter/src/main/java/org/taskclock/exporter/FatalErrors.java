// SPDX-License-Identifier: Apache-2.0
// Copyright the TaskClock authors
package org.taskclock.exporter;

/**
 * Ends a long-running command when an error, such as an OutOfMemoryError, ends one of its threads. Otherwise it would
 * go on without that thread, and nobody would restart it.
 */
public final class FatalErrors {
    private static final int EXIT_CODE = 1;

    private FatalErrors() {}

    /** Ends this process, with one line on standard error, when any thread of it ends with an error. */
    public static void endProcess(String command) {
        String prefix = "taskclock: " + command + ": ";
        Thread.setDefaultUncaughtExceptionHandler((thread, problem) -> {
            if (problem instanceof Error) {
                try {
                    System.err.println(prefix + problem + ": ended" + remedy(problem));
                } finally {
                    // Not exit, which runs code that may fail for the same reason, or wait.
                    Runtime.getRuntime().halt(EXIT_CODE);
                }
            } else {
                System.err.println(prefix + "internal error: thread " + thread.getName() + ": " + problem);
            }
        });
    }

    private static String remedy(Throwable problem) {
        if (!(problem instanceof OutOfMemoryError)) return "";
        return ": give it more memory with TASKCLOCK_JAVA_OPTS, such as -Xmx256m";
    }
}
