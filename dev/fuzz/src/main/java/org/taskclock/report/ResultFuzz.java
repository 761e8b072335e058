// SPDX-License-Identifier: Apache-2.0
// Copyright the TaskClock authors
package org.taskclock.report;

import java.io.IOException;
import java.time.ZoneOffset;
import java.util.Collections;
import java.util.List;
import org.taskclock.fuzz.InputFile;

/** A result of bench or experiment, and the report about it. */
public final class ResultFuzz {
    private ResultFuzz() {}

    public static void fuzzerTestOneInput(byte[] data) throws IOException {
        Result result;
        try {
            result = Result.read(InputFile.of(data));
        } catch (IOException e) {
            if (e.getMessage() == null) throw new AssertionError("no reason", e);
            return;
        }
        page(List.of(result));
    }

    static void page(List<Result> results) throws IOException {
        try {
            ReportPage.of(results, Collections.nCopies(results.size(), "file"), ZoneOffset.UTC);
        } catch (IllegalArgumentException e) {
            // taskclock report prints the reason.
            if (e.getMessage() == null) throw new AssertionError("no reason", e);
        }
    }
}
