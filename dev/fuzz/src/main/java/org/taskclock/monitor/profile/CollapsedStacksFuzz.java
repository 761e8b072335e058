// SPDX-License-Identifier: Apache-2.0
// Copyright the TaskClock authors
package org.taskclock.monitor.profile;

import java.nio.charset.StandardCharsets;

/** Stacks that async-profiler writes, in which a program chooses the names of threads, classes, and methods. */
public final class CollapsedStacksFuzz {
    private CollapsedStacksFuzz() {}

    public static void fuzzerTestOneInput(byte[] data) {
        for (StackSource.Sample sample :
                AsyncProfilerSource.parse(new String(data, StandardCharsets.UTF_8), 1_000_000)) {
            if (sample.tid() < 0) throw new AssertionError("negative id: " + sample);
            if (sample.samples() < 0 || sample.cpuNanos() < 0) throw new AssertionError("negative: " + sample);
        }
    }
}
