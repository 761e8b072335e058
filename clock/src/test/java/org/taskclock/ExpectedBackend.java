// SPDX-License-Identifier: Apache-2.0
// Copyright the TaskClock authors
package org.taskclock;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;

/**
 * The backend that must be in use: the one that the build specifies, or the best one that this kernel is known to
 * support.
 */
final class ExpectedBackend {
    private static final int NODE_ID_ADDED = version(6, 3);
    private static final int MARKER_RESET_REMOVED = version(6, 19);
    private static final int AREA_UPDATE_RESTORED = version(7, 0);

    private ExpectedBackend() {}

    static String name() {
        String specified = System.getProperty("test.expectedBackend");
        if (!specified.equals("best")) return specified;
        return name("glibc.pthread.rseq=0".equals(System.getenv("GLIBC_TUNABLES")));
    }

    /**
     * Returns the best backend for this kernel.
     *
     * @param mayRegister whether the C library leaves the registration of rseq areas to the clock
     */
    static String name(boolean mayRegister) {
        if (!isNative()) return "mxbean";
        int kernel = kernelVersion();
        if (!mayRegister) {
            return kernel < MARKER_RESET_REMOVED ? "rseq" : "syscall";
        }
        boolean updatesArea =
                (kernel >= NODE_ID_ADDED && kernel < MARKER_RESET_REMOVED) || kernel >= AREA_UPDATE_RESTORED;
        return updatesArea ? "rseq-own" : "syscall";
    }

    /** Returns whether the native library must be in use. */
    static boolean isNative() {
        return !System.getProperty("test.expectedBackend").equals("mxbean");
    }

    /** Returns the name of the library for this architecture in the jar. */
    static String libraryName() {
        return libraryName(System.getProperty("os.arch").equals("aarch64"));
    }

    static String libraryName(boolean isAarch64) {
        return "libtaskclock-linux-" + (isAarch64 ? "aarch64" : "x86_64") + ".so";
    }

    private static int kernelVersion() {
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
