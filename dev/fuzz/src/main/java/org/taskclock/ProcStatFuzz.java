// SPDX-License-Identifier: Apache-2.0
// Copyright the TaskClock authors
package org.taskclock;

/** {@code /proc/PID/stat} and {@code /proc/PID/task/TID/stat}, in which a program chooses the name. */
public final class ProcStatFuzz {
    private ProcStatFuzz() {}

    public static void fuzzerTestOneInput(byte[] data) {
        try {
            ProcStat stat = ProcStat.parse(data, data.length);
            if (stat.id() < 0 || stat.userNanos() < 0 || stat.systemNanos() < 0)
                throw new AssertionError("negative: " + stat);
        } catch (IllegalArgumentException e) {
            // The documented answer to other text.
        }
    }
}
