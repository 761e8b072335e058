// SPDX-License-Identifier: Apache-2.0
// Copyright the TaskClock authors
package org.taskclock.lab;

import java.nio.charset.StandardCharsets;
import org.taskclock.report.Result;

/** Prints results for programs. */
final class JsonOutput {
    private JsonOutput() {}

    /** Prints a result in UTF-8, which JSON requires, whatever the locale. */
    static void print(Result result) {
        byte[] text = (result.toJson() + "\n").getBytes(StandardCharsets.UTF_8);
        System.out.write(text, 0, text.length);
        System.out.flush();
    }
}
