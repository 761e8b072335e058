// SPDX-License-Identifier: Apache-2.0
// Copyright the TaskClock authors
package org.taskclock.monitor.attach;

import java.io.IOException;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/** Where a JVM keeps compiled code. No counter of the performance data says that it is full, so the JVM is asked. */
public final class CodeCache {
    private static final long TIMEOUT_MILLIS = 2_000;

    /** JDK 17 and 25 write this in different cases and orders, and once for each part of the cache or for all. */
    private static final Pattern DISABLED = Pattern.compile("(?i)\\bcompilation: disabled\\b");

    private static final Pattern FULL = Pattern.compile("\\bfull_count=(\\d{1,9})\\b");

    private CodeCache() {}

    /** Returns what is wrong in a sentence; empty if nothing is, or if the JVM does not answer. */
    public static String problem(long pid) {
        try {
            return describe(AttachClient.of(pid).execute(TIMEOUT_MILLIS, "jcmd", "Compiler.codecache"));
        } catch (IOException e) {
            return "";
        }
    }

    static String describe(String reply) {
        int full = 0;
        Matcher counts = FULL.matcher(reply);
        while (counts.find()) full += Integer.parseInt(counts.group(1));
        String remedy = " Raise -XX:ReservedCodeCacheSize.";
        if (DISABLED.matcher(reply).find())
            return "The compilers are off, because the code cache is full, so new code is only interpreted." + remedy;
        if (full > 0)
            return "The code cache has been full " + (full == 1 ? "once" : full + " times") + " since the JVM started."
                    + remedy;
        return "";
    }
}
