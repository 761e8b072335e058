// SPDX-License-Identifier: Apache-2.0
// Copyright the TaskClock authors
package org.taskclock;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;

/**
 * The time that the hypervisor and interrupts have taken from all processors, in units of 10 ms. This is why a clock
 * may be ahead.
 */
record HostInterference(long steal, long interrupts) {
    // Columns of the first line of /proc/stat.
    private static final int IRQ = 6;
    private static final int SOFTIRQ = 7;
    private static final int STEAL = 8;

    static HostInterference now() {
        try (var lines = Files.lines(Path.of("/proc/stat"))) {
            String[] columns = lines.findFirst().orElseThrow().split(" +", -1);
            return new HostInterference(
                    Long.parseLong(columns[STEAL]), Long.parseLong(columns[IRQ]) + Long.parseLong(columns[SOFTIRQ]));
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    String formatSince() {
        HostInterference now = now();
        return "steal " + (now.steal - steal) * 10 + " ms, interrupts " + (now.interrupts - interrupts) * 10 + " ms";
    }
}
