// SPDX-License-Identifier: Apache-2.0
// Copyright the TaskClock authors
package org.taskclock.opentelemetry;

import io.opentelemetry.api.OpenTelemetry;
import io.opentelemetry.api.metrics.BatchCallback;
import io.opentelemetry.api.metrics.Meter;
import io.opentelemetry.api.metrics.ObservableMeasurement;
import java.io.IOException;
import java.io.InputStream;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import java.util.function.Supplier;
import org.taskclock.metrics.JvmThreads;
import org.taskclock.metrics.JvmUsage;
import org.taskclock.metrics.Metric;
import org.taskclock.metrics.PoolCounters;

/**
 * The CPU use of this JVM by thread pool, as OpenTelemetry's instruments:
 *
 * <pre>{@code
 * TaskClockMetrics metrics = TaskClockMetrics.create(openTelemetry);
 * }</pre>
 *
 * <p>The metrics are those of docs/metrics.md, with the instrumentation scope {@value #SCOPE}. Their instruments are
 * asynchronous: each collection takes one reading of all threads, on the collecting thread. No thread is started. For
 * the histograms, see {@link SectionHistograms}.
 *
 * <p>Thread-safe.
 */
public final class TaskClockMetrics implements AutoCloseable {
    static final String SCOPE = "org.taskclock";

    /** From a file, because a class loader of extensions ignores the manifest. */
    static final String VERSION = version();

    private final BatchCallback callback;

    TaskClockMetrics(OpenTelemetry openTelemetry, Supplier<JvmUsage> reader) {
        Meter meter = openTelemetry
                .meterBuilder(SCOPE)
                .setInstrumentationVersion(VERSION)
                .setSchemaUrl(Metric.SCHEMA_URL)
                .build();
        Instrument[] instruments = Arrays.stream(Metric.values())
                .filter(metric -> metric.type() != Metric.Type.HISTOGRAM)
                .map(metric -> Instrument.of(meter, metric))
                .toArray(Instrument[]::new);
        ObservableMeasurement[] others = new ObservableMeasurement[instruments.length - 1];
        for (int i = 0; i < others.length; i++) others[i] = instruments[i + 1].measurement();
        callback = meter.batchCallback(
                () -> {
                    JvmUsage usage = reader.get();
                    for (Instrument instrument : instruments) instrument.record(usage);
                },
                instruments[0].measurement(),
                others);
    }

    private static String version() {
        try (InputStream in = TaskClockMetrics.class.getResourceAsStream("version")) {
            return new String(in.readAllBytes(), StandardCharsets.UTF_8).strip();
        } catch (IOException | RuntimeException e) {
            return "unknown"; // not reached: the jar has it
        }
    }

    /** Creates the instruments, with at most {@value PoolCounters#DEFAULT_MAX_POOLS} pools. */
    public static TaskClockMetrics create(OpenTelemetry openTelemetry) {
        return create(openTelemetry, PoolCounters.DEFAULT_MAX_POOLS);
    }

    /**
     * Creates the instruments.
     *
     * @param maxPools the maximum number of pools, which include one named {@code other} for each kind of thread. The
     *     CPU time of each pool has two series, and by default the SDK keeps 2,000 series of a metric
     * @throws IllegalArgumentException if {@code maxPools} is below {@link PoolCounters#MIN_POOLS}
     */
    public static TaskClockMetrics create(OpenTelemetry openTelemetry, int maxPools) {
        return new TaskClockMetrics(openTelemetry, new JvmThreads(maxPools)::usage);
    }

    /** Stops reporting. */
    @Override
    public void close() {
        callback.close();
    }
}
