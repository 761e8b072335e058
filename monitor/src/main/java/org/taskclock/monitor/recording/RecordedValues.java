// SPDX-License-Identifier: Apache-2.0
// Copyright the TaskClock authors
package org.taskclock.monitor.recording;

import java.time.DateTimeException;
import java.time.Instant;
import java.util.List;
import java.util.Objects;
import org.taskclock.monitor.finding.Finding;
import org.taskclock.monitor.usage.ProcessUsage;

/** Checks values in a recording that another program may have written. All methods throw a RuntimeException. */
final class RecordedValues {
    private static final long MAX_EARLIER_NANOS = 1L << 60;

    /** The nanoseconds between two times fit into a long. */
    private static final Instant LAST = Instant.parse("2200-01-01T00:00:00Z");

    private RecordedValues() {}

    /** Parses a time. Rejects implausible times, which would overflow in calculations. */
    static Instant time(String text) {
        Instant time = Instant.parse(text);
        if (time.isBefore(Instant.EPOCH) || time.isAfter(LAST)) throw new DateTimeException("no time: " + text);
        return time;
    }

    /** Returns the length of an interval. */
    static long length(long nanos) {
        if (nanos <= 0) throw new IllegalArgumentException("no interval: " + nanos);
        return nanos;
    }

    /**
     * Returns totals with a limit that is a number; Gson reads NaN, too. Earlier versions recorded the kernel's
     * throttled time, which can be longer than the interval.
     */
    static ProcessUsage totals(ProcessUsage totals, long intervalNanos) {
        double cores = totals.containerCores();
        if (!Double.isFinite(cores)) throw new IllegalArgumentException("no limit: " + cores);
        if (totals.throttledNanos() <= intervalNanos) return totals;
        return new ProcessUsage(
                totals.processNanos(),
                totals.processUserNanos(),
                totals.containerNanos(),
                cores,
                intervalNanos,
                totals.machineNanos(),
                totals.processors(),
                totals.ownNanos(),
                totals.machineUserNanos(),
                totals.heap(),
                totals.virtualThreads());
    }

    /** Returns findings that have all parts. */
    static List<Finding> findings(List<Finding> findings) {
        for (Finding finding : findings) {
            Objects.requireNonNull(finding.kind());
            Objects.requireNonNull(finding.text());
            Objects.requireNonNull(finding.evidence()).forEach(Objects::requireNonNull);
            if (finding.earlierNanos() < 0 || finding.earlierNanos() > MAX_EARLIER_NANOS)
                throw new IllegalArgumentException();
        }
        return findings;
    }
}
