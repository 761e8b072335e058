// SPDX-License-Identifier: Apache-2.0
// Copyright the TaskClock authors
package org.taskclock.lab;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Instant;
import java.util.List;
import java.util.Locale;
import org.taskclock.zoo.Misbehavior;

/** What TaskClock printed about a program, shortened. */
final class ZooRaw {
    private static final int MAX_LINE = 160;

    private ZooRaw() {}

    static String of(
            Misbehavior program,
            long beginMillis,
            Path files,
            List<ZooAnswer.Statement> overview,
            List<ZooAnswer.Statement> page)
            throws IOException {
        return program.name() + ": " + program.cause() + ". It began at " + Instant.ofEpochMilli(beginMillis)
                + ".\n\n== why\n" + Files.readString(files.resolve("why")) + "\n== top, the last interval\n"
                + lastInterval(Files.readString(files.resolve("top"))) + "\n== serve\n" + text(overview, beginMillis)
                + "\n== page\n" + text(page, beginMillis);
    }

    /** Cuts long lines, such as stacks in one line. */
    static String shorten(String raw) {
        StringBuilder text = new StringBuilder();
        for (String line : raw.split("\n", -1))
            text.append(line, 0, Math.min(MAX_LINE, line.length())).append('\n');
        return text.toString().stripTrailing() + "\n";
    }

    private static String lastInterval(String top) {
        int end = top.indexOf("Average:");
        String intervals = (end < 0 ? top : top.substring(0, end)).strip();
        return intervals.substring(intervals.lastIndexOf("\n\n") + 1).strip() + "\n";
    }

    private static String text(List<ZooAnswer.Statement> statements, long beginMillis) {
        StringBuilder text = new StringBuilder();
        for (ZooAnswer.Statement each : statements)
            text.append(String.format(
                    Locale.ROOT,
                    "%+.1f s, dated %+.1f s: %s: %s%n",
                    (each.seenMillis() - beginMillis) / 1e3,
                    (each.sinceMillis() - beginMillis) / 1e3,
                    each.kind(),
                    each.text()));
        return text.toString();
    }
}
