// SPDX-License-Identifier: Apache-2.0
// Copyright the TaskClock authors
package org.taskclock.cli;

import com.google.gson.annotations.SerializedName;
import java.util.ArrayList;
import java.util.List;
import org.HdrHistogram.Histogram;
import org.taskclock.ClockStatus;
import org.taskclock.Rung;
import org.taskclock.TaskClock;

/** Times readers in turns, batch by batch, so that whatever else the machine does meets all of them alike. */
final class Timing {
    /** Long beside the two nanoTime calls around it, short beside the kernel's tick. */
    private static final long BATCH_NANOS = 100_000;

    private static final int PICOS = 1_000;

    /** Which reading of the JVM's own ThreadMXBean a reader takes the place of. */
    enum Stock {
        @SerializedName("none")
        NONE,
        @SerializedName("cpu")
        CPU,
        @SerializedName("user")
        USER
    }

    /** Reads as often as told, in a loop that is compiled for this reader alone. */
    interface Batch {
        /** Returns the least of the readings, so that no read can be optimised away and a failure, -1, is noticed. */
        long read(int count);
    }

    record Reader(String name, Stock stock, Batch batch) {}

    /** Nanoseconds a read, over the means of many batches; null where {@code reason} says why it cannot be read. */
    record Read(
            String name,
            Double medianNanos,
            Double p99Nanos,
            Double maxNanos,
            Double ratioToStock,
            Stock stock,
            long batches,
            String reason) {}

    private final Reader reader;
    private final Histogram picos = new Histogram(3);
    private int count = 1;
    private double fastest = Double.MAX_VALUE;
    private String failure;

    private Timing(Reader reader) {
        this.reader = reader;
    }

    /** Times the readers. Of those that stand beside the same stock reader, that one comes first. */
    static List<Read> time(List<Reader> readers, long warmUpNanos, long timingNanos) {
        List<Timing> timings = readers.stream().map(Timing::new).toList();
        long warm = System.nanoTime() + warmUpNanos;
        while (System.nanoTime() - warm < 0) timings.forEach(Timing::warmUp);
        long end = System.nanoTime() + timingNanos;
        while (System.nanoTime() - end < 0) timings.forEach(Timing::measure);

        List<Read> reads = new ArrayList<>();
        for (Timing timing : timings) {
            Stock stock = timing.reader.stock();
            Timing first = timings.stream()
                    .filter(t -> t.reader.stock() == stock)
                    .findFirst()
                    .orElseThrow();
            reads.add(timing.result(first));
        }
        return reads;
    }

    private void warmUp() {
        long elapsed = batch();
        if (elapsed < 0) return;
        fastest = Math.min(fastest, Math.max(1, elapsed) / (double) count);
        count = (int) Math.max(1, Math.min(BATCH_NANOS / fastest, 2.0 * count));
    }

    private void measure() {
        long elapsed = batch();
        if (elapsed >= 0) picos.recordValue(elapsed * PICOS / count);
    }

    /** How long a batch takes; -1 once the reader has failed. */
    private long batch() {
        if (failure != null) return -1;
        long start = System.nanoTime();
        try {
            if (reader.batch().read(count) < 0) failure = whyUnknown();
        } catch (RuntimeException e) {
            failure = e.toString();
        }
        return failure == null ? System.nanoTime() - start : -1;
    }

    private static String whyUnknown() {
        for (ClockStatus.Verdict verdict : TaskClock.status().rungs()) {
            if (verdict.rung() == Rung.SYSCALL && !verdict.usable()) return verdict.reason();
        }
        return "it answers -1";
    }

    private Read result(Timing stock) {
        Stock compared = reader.stock();
        if (failure != null) return new Read(reader.name(), null, null, null, null, compared, 0, failure);
        boolean comparable = compared != Stock.NONE && stock.failure == null;
        return new Read(
                reader.name(),
                nanosAt(50),
                nanosAt(99),
                nanosAt(100),
                comparable ? Math.round(1000 * stock.nanosAt(50) / nanosAt(50)) / 1000.0 : null,
                compared,
                picos.getTotalCount(),
                null);
    }

    private double nanosAt(double percentile) {
        return picos.getValueAtPercentile(percentile) / (double) PICOS;
    }
}
