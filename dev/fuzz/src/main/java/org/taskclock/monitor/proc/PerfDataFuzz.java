// SPDX-License-Identifier: Apache-2.0
// Copyright the TaskClock authors
package org.taskclock.monitor.proc;

import java.io.IOException;
import org.taskclock.fuzz.InputFile;

/** The performance data of a JVM, a file that the program can replace. */
public final class PerfDataFuzz {
    private PerfDataFuzz() {}

    public static void fuzzerTestOneInput(byte[] data) throws IOException {
        try (PerfData read = PerfData.open(InputFile.of(data))) {
            if (read == null) return;
            read.value("sun.gc.test");
            read.value("sun.os.hrt.frequency");
            read.text("sun.gc.name");
            read.refresh();
        }
    }
}
