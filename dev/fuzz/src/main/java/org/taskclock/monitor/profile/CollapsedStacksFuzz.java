// SPDX-License-Identifier: Apache-2.0
// Copyright the TaskClock authors
package org.taskclock.monitor.profile;

import java.nio.charset.StandardCharsets;

/**
 * Stacks that async-profiler writes, or that are dropped on the page, in which a program chooses the names of threads,
 * classes, and methods.
 */
public final class CollapsedStacksFuzz {
    private CollapsedStacksFuzz() {}

    public static void fuzzerTestOneInput(byte[] data) {
        String text = new String(data, StandardCharsets.UTF_8);
        String read = CollapsedStacks.of(text).text();
        if (!CollapsedStacks.of(read).text().equals(read)) throw new AssertionError("not the same: " + read);
        for (StackSource.Sample sample : AsyncProfilerSource.parse(text, 1_000_000)) {
            if (sample.tid() < 0) throw new AssertionError("negative id: " + sample);
            if (sample.samples() < 0 || sample.cpuNanos() < 0) throw new AssertionError("negative: " + sample);
        }
    }
}
