// SPDX-License-Identifier: Apache-2.0
// Copyright the TaskClock authors
package org.taskclock.internal;

import java.util.Set;
import jdk.jfr.SettingControl;
import jdk.jfr.Timespan;

/** The minimum CPU time for a Flight Recorder event: a number, a space, and the unit ns, us, ms, or s. */
public abstract class CpuThresholdSetting extends SettingControl {
    private final String defaultText;
    private String text;
    private volatile long nanos;

    private CpuThresholdSetting(String defaultText) {
        this.defaultText = defaultText;
        text = defaultText;
        nanos = parse(defaultText);
    }

    /** That of a virtual thread. */
    @Timespan
    public static final class OfThread extends CpuThresholdSetting {
        /** Called by the recorder. */
        public OfThread() {
            super("1 ms");
        }
    }

    /** That of a section of an account. */
    @Timespan
    public static final class OfSection extends CpuThresholdSetting {
        /** Called by the recorder. */
        public OfSection() {
            super("20 ms");
        }
    }

    @Override
    public String combine(Set<String> values) {
        String lowest = null;
        for (String value : values) if (lowest == null || parse(value) < parse(lowest)) lowest = value;
        return lowest == null ? defaultText : lowest;
    }

    @Override
    public void setValue(String text) {
        this.text = text;
        nanos = parse(text);
    }

    @Override
    public String getValue() {
        return text;
    }

    /**
     * Tells whether an event is recorded.
     *
     * @param cpuNanos the CPU time of the event, in nanoseconds
     * @return whether it is at least the threshold
     */
    public final boolean isReached(long cpuNanos) {
        return cpuNanos >= nanos;
    }

    /** Parses a time. Returns 0 if it is malformed, so that no event is suppressed. */
    private static long parse(String text) {
        String[] parts = text.trim().split(" ", 2);
        if (parts.length < 2 || !parts[0].matches("[0-9]{1,9}")) return 0;
        long number = Long.parseLong(parts[0]);
        return switch (parts[1].trim()) {
            case "ns" -> number;
            case "us" -> number * 1_000;
            case "ms" -> number * 1_000_000;
            case "s" -> number * 1_000_000_000;
            default -> 0;
        };
    }
}
