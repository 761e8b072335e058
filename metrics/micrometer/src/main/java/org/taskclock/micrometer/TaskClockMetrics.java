// SPDX-License-Identifier: Apache-2.0
// Copyright the TaskClock authors
package org.taskclock.micrometer;

import io.micrometer.core.instrument.MeterRegistry;
import io.micrometer.core.instrument.Tag;
import io.micrometer.core.instrument.Tags;
import io.micrometer.core.instrument.binder.MeterBinder;
import java.util.List;
import java.util.function.Supplier;
import org.taskclock.metrics.JvmThreads;
import org.taskclock.metrics.JvmUsage;
import org.taskclock.metrics.PoolCounters;

/**
 * The CPU use of this JVM by thread pool, as Micrometer's meters:
 *
 * <pre>{@code
 * new TaskClockMetrics().bindTo(registry);
 * }</pre>
 *
 * <p>The ids, units, and tags are those of docs/metrics.md. In Prometheus, the CPU time is
 * {@code taskclock_thread_cpu_time_seconds_total}. They start with {@code taskclock}, as Micrometer asks of libraries,
 * so that they cannot clash with its own meters: Prometheus' registry refuses a name with other tags.
 *
 * <p>No thread is started. Polling any of the meters takes a reading of all threads. A reading is shared by all meters
 * that are polled within 0.1 s of it. A pool that a reading finds gets its meters immediately, but a registry that is
 * just polling may miss them until its next poll. Its counters then contain everything since the pool's first thread
 * started, so nothing is lost. In a registry with steps, this CPU time is in the step after the one in which the pool
 * was found.
 *
 * <p>The meters of a pool stay after its last thread has ended. Their number is limited by the number of pools.
 *
 * <p>Thread-safe. One instance can be bound to several registries, which then share readings. An instance need not be
 * kept: the meters keep what they need.
 */
public final class TaskClockMetrics implements MeterBinder {
    private final Supplier<JvmUsage> reader;
    private final Tags tags;

    /** Creates metrics of at most {@value PoolCounters#DEFAULT_MAX_POOLS} pools. */
    public TaskClockMetrics() {
        this(PoolCounters.DEFAULT_MAX_POOLS, List.of());
    }

    /**
     * Creates metrics.
     *
     * @param maxPools the maximum number of pools, which include one named {@code other} for each kind of thread
     * @param tags added to each meter
     * @throws IllegalArgumentException if {@code maxPools} is below {@link PoolCounters#MIN_POOLS}
     */
    public TaskClockMetrics(int maxPools, Iterable<Tag> tags) {
        this(new JvmThreads(maxPools)::usage, tags);
    }

    TaskClockMetrics(Supplier<JvmUsage> reader, Iterable<Tag> tags) {
        this.reader = reader;
        this.tags = Tags.of(tags);
    }

    /** Takes a reading, unless the last one is recent. */
    JvmUsage usage() {
        return reader.get();
    }

    @Override
    public void bindTo(MeterRegistry registry) {
        new RegistryMeters(registry, reader, tags).update();
    }
}
