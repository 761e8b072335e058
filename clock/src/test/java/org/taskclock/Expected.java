// SPDX-License-Identifier: Apache-2.0
// Copyright the TaskClock authors
package org.taskclock;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;

/** The rung that must be in use: the one that the build names, or the best that this kernel is known to carry. */
final class Expected {
    private static final int FIRST_WITH_NODE_ID = version(6, 3);
    private static final int FIRST_THAT_KEEPS_MARKERS = version(6, 19);
    private static final int FIRST_THAT_UPDATES_AREAS_OF_32_BYTES_AGAIN = version(7, 0);

    private Expected() {}

    static String rung() {
        String named = System.getProperty("test.expectedRung");
        if (!named.equals("best")) return named;
        return rung("glibc.pthread.rseq=0".equals(System.getenv("GLIBC_TUNABLES")));
    }

    /** The best rung, where registration is left to us or not. */
    static String rung(boolean isLeftToUs) {
        if (!isNative()) return "mxbean";
        int kernel = kernel();
        if (!isLeftToUs) {
            return kernel < FIRST_THAT_KEEPS_MARKERS ? "rseq" : "syscall";
        }
        boolean updated = (kernel >= FIRST_WITH_NODE_ID && kernel < FIRST_THAT_KEEPS_MARKERS)
                || kernel >= FIRST_THAT_UPDATES_AREAS_OF_32_BYTES_AGAIN;
        return updated ? "rseq-own" : "syscall";
    }

    /** Whether the native library must be in use. */
    static boolean isNative() {
        return !System.getProperty("test.expectedRung").equals("mxbean");
    }

    private static int kernel() {
        try {
            String[] parts =
                    Files.readString(Path.of("/proc/sys/kernel/osrelease")).split("[^0-9]+", 3);
            return version(Integer.parseInt(parts[0]), Integer.parseInt(parts[1]));
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    private static int version(int major, int minor) {
        return major * 1000 + minor;
    }
}
