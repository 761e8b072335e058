// SPDX-License-Identifier: Apache-2.0
// Copyright the TaskClock authors
package org.taskclock.watch;

import java.time.Instant;
import java.util.List;

/**
 * One interval of one JVM.
 *
 * @param end when it ended
 * @param name of the program: its main class or jar
 * @param source where the figures are from: "proc", or "agent" where the agent is in the JVM
 * @param rows of threads that lived in the interval, most CPU time first
 * @param notes what could not be had, and why, a line each
 */
public record Frame(
        Instant end,
        long intervalNanos,
        int pid,
        String name,
        String source,
        List<Row> rows,
        Totals totals,
        List<Diagnosis> diagnoses,
        List<String> notes) {
    /** 100 for one processor in use for the whole interval. */
    public double percent(long nanos) {
        return nanos < 0 ? -1 : 100.0 * nanos / intervalNanos;
    }
}
