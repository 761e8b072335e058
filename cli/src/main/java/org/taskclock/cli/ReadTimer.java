// SPDX-License-Identifier: Apache-2.0
// Copyright the TaskClock authors
package org.taskclock.cli;

import com.google.gson.annotations.SerializedName;
import java.util.ArrayList;
import java.util.List;
import org.HdrHistogram.Histogram;
import org.taskclock.Backend;
import org.taskclock.ClockStatus;
import org.taskclock.TaskClock;

/** Times readers batch by batch in rotation, so that other load on the machine affects all of them equally. */
final class ReadTimer {
    /** Long compared with the two nanoTime calls around it, short compared with the kernel's tick. */
    private static final long BATCH_NANOS = 100_000;

    private static final int PICOS_PER_NANO = 1_000;

    /** The reading of the JVM's own ThreadMXBean that a reader replaces. */
    enum Stock {
        @SerializedName("none")
        NONE,
        @SerializedName("cpu")
        CPU,
        @SerializedName("user")
        USER
    }

    /** Reads repeatedly, in a loop that is compiled for this reader alone. */
    interface Batch {
        /** Returns the minimum of the readings, so that no read is optimized away and a failure (-1) is noticed. */
        long read(int count);
    }

    record Reader(String name, Stock stock, Batch batch) {}

    /**
     * The nanoseconds per read, from the means of many batches; null if reading failed. {@code reason} is then the
     * cause, and otherwise null.
     */
    record Latency(
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

    private ReadTimer(Reader reader) {
        this.reader = reader;
    }

    /** Times the readers. The first reader of each {@link Stock} must be the stock reader itself. */
    static List<Latency> measure(List<Reader> readers, long warmUpNanos, long timingNanos) {
        List<ReadTimer> timers = readers.stream().map(ReadTimer::new).toList();
        long warm = System.nanoTime() + warmUpNanos;
        while (System.nanoTime() - warm < 0) timers.forEach(ReadTimer::warmUp);
        long end = System.nanoTime() + timingNanos;
        while (System.nanoTime() - end < 0) timers.forEach(ReadTimer::sample);

        List<Latency> latencies = new ArrayList<>();
        for (ReadTimer timer : timers) {
            Stock stock = timer.reader.stock();
            ReadTimer first = timers.stream()
                    .filter(t -> t.reader.stock() == stock)
                    .findFirst()
                    .orElseThrow();
            latencies.add(timer.result(first));
        }
        return latencies;
    }

    private void warmUp() {
        long elapsed = runBatch();
        if (elapsed < 0) return;
        fastest = Math.min(fastest, Math.max(1, elapsed) / (double) count);
        count = (int) Math.max(1, Math.min(BATCH_NANOS / fastest, 2.0 * count));
    }

    private void sample() {
        long elapsed = runBatch();
        if (elapsed >= 0) picos.recordValue(elapsed * PICOS_PER_NANO / count);
    }

    /** Returns the duration of one batch in nanoseconds, or -1 once the reader has failed. */
    private long runBatch() {
        if (failure != null) return -1;
        long start = System.nanoTime();
        try {
            if (reader.batch().read(count) < 0) failure = failureReason();
        } catch (RuntimeException e) {
            failure = e.toString();
        }
        return failure == null ? System.nanoTime() - start : -1;
    }

    private static String failureReason() {
        for (ClockStatus.Verdict verdict : TaskClock.status().backends()) {
            if (verdict.backend() == Backend.SYSCALL && !verdict.usable()) return verdict.reason();
        }
        return "returns -1";
    }

    private Latency result(ReadTimer stock) {
        Stock compared = reader.stock();
        if (failure != null) return new Latency(reader.name(), null, null, null, null, compared, 0, failure);
        boolean comparable = compared != Stock.NONE && stock.failure == null;
        return new Latency(
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
        return picos.getValueAtPercentile(percentile) / (double) PICOS_PER_NANO;
    }
}
