// SPDX-License-Identifier: Apache-2.0
// Copyright the TaskClock authors
package org.taskclock.agent;

import java.util.Set;
import jdk.jfr.SettingControl;
import jdk.jfr.Timespan;

/** The least CPU time of which an event tells: a number and ns, us, ms or s. */
@Timespan
public final class CpuThreshold extends SettingControl {
    private static final String LEAST = "1 ms";

    private String text = LEAST;
    private volatile long nanos = nanos(LEAST);

    @Override
    public String combine(Set<String> wanted) {
        String least = null;
        for (String text : wanted) if (least == null || nanos(text) < nanos(least)) least = text;
        return least == null ? LEAST : least;
    }

    @Override
    public void setValue(String text) {
        this.text = text;
        nanos = nanos(text);
    }

    @Override
    public String getValue() {
        return text;
    }

    boolean isReached(long cpuNanos) {
        return cpuNanos >= nanos;
    }

    /** 0, so that nothing is left out, where it cannot be read. */
    private static long nanos(String text) {
        String[] words = text.trim().split(" ", 2);
        if (words.length < 2 || !words[0].matches("[0-9]{1,9}")) return 0;
        long number = Long.parseLong(words[0]);
        return switch (words[1].trim()) {
            case "ns" -> number;
            case "us" -> number * 1_000;
            case "ms" -> number * 1_000_000;
            case "s" -> number * 1_000_000_000;
            default -> 0;
        };
    }
}
