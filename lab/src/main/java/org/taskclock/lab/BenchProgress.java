// SPDX-License-Identifier: Apache-2.0
// Copyright the TaskClock authors
package org.taskclock.lab;

import java.util.List;
import java.util.Locale;
import org.openjdk.jmh.results.RunResult;

/** Prints progress and the estimated time left to standard error. */
final class BenchProgress implements JmhOutput.Listener {
    private final int total;
    private final long end;
    private int started;
    private boolean lineOpen;

    BenchProgress(List<BenchmarkGroup> groups) {
        total = groups.stream().mapToInt(group -> group.contenders().size()).sum();
        end = System.nanoTime() / 1_000_000
                + groups.stream().mapToLong(BenchmarkGroup::millis).sum();
    }

    int total() {
        return total;
    }

    String left() {
        long seconds = Math.max(0, (end - System.nanoTime() / 1_000_000 + 999) / 1_000);
        if (seconds < 120) return seconds + " s";
        long minutes = (seconds + 59) / 60;
        return minutes < 120 ? minutes + " min" : String.format(Locale.ROOT, "%.1f h", minutes / 60.0);
    }

    synchronized void print(String line) {
        endLine();
        System.err.println(line);
    }

    @Override
    public synchronized void started(Contender contender) {
        endLine();
        started++;
        System.err.printf(Locale.ROOT, "  [%d/%d, %s left] %s ... ", started, total, left(), contender.id);
        System.err.flush();
        lineOpen = true;
    }

    @Override
    public synchronized void ended(RunResult result) {
        System.err.printf(
                Locale.ROOT,
                "%.3f %s%n",
                result.getPrimaryResult().getScore(),
                result.getPrimaryResult().getScoreUnit());
        lineOpen = false;
    }

    private void endLine() {
        if (lineOpen) System.err.println("no result");
        lineOpen = false;
    }
}
