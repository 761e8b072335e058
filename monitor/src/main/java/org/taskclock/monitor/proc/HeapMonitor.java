// SPDX-License-Identifier: Apache-2.0
// Copyright the TaskClock authors
package org.taskclock.monitor.proc;

import org.taskclock.monitor.usage.HeapUsage;
import org.taskclock.monitor.usage.JvmCounters;

/** The heap, garbage collections, and other counters of one JVM, from {@link PerfData}. */
public final class HeapMonitor implements AutoCloseable {
    private static final int MAX_GENERATIONS = 2;
    private static final int MAX_SPACES = 4;
    private static final int MAX_COLLECTORS = 3;
    /** Sizes are multiples of this. Before JDK 21, G1 adds a few bytes, so that no size is 0. */
    private static final long PAGE_BYTES = 4_096;

    /** How long a JVM may take to create its counters. It does so in the first tenths of a second. */
    private static final long MAX_START_NANOS = 10_000_000_000L;

    /** The JVM keeps at most 1,024 characters (-XX:PerfMaxStringConstLength). */
    private static final int MAX_OPTIONS = 1_000;

    private static final String FREQUENCY = "sun.os.hrt.frequency";

    private final long pid;
    private final long retryUntil = System.nanoTime() + MAX_START_NANOS;
    /** Null if the JVM has no performance data. */
    private PerfData data;

    private boolean isRead;
    private boolean wholeHeapPerGeneration;
    private double nanosPerTick;
    private long pauses;
    private long pauseTicks;

    public HeapMonitor(long pid) {
        this.pid = pid;
        open();
    }

    private void open() {
        PerfData opened = PerfData.of(pid);
        if (opened == null) return;
        // The JVM creates this counter last.
        if (opened.value(FREQUENCY) < 0 && isStarting()) {
            opened.close();
            return;
        }
        data = opened;
        String collector = data.text("sun.gc.collector.0.name");
        // The maximum of each generation is that of the whole heap, because any region can be part of any generation.
        wholeHeapPerGeneration =
                collector.startsWith("G1") || collector.startsWith("Z") || collector.startsWith("Shenandoah");
        long frequency = data.value(FREQUENCY);
        nanosPerTick = frequency <= 0 ? 1 : 1e9 / frequency;
        pauses = sumOfCollectors("invocations");
        pauseTicks = sumOfCollectors("time");
    }

    private boolean isStarting() {
        return System.nanoTime() - retryUntil < 0;
    }

    /** Reads the JVM's counters. */
    public void refresh() {
        if (data == null && isStarting()) open();
        isRead = data != null && data.refresh();
    }

    /**
     * Returns the heap, and the pauses that ended since the previous call; null if unknown. The part of a pause before
     * the interval is left out.
     */
    public HeapUsage next(long intervalNanos) {
        refresh();
        if (!isRead) return null;
        long used = 0;
        long committed = 0;
        long max = 0;
        boolean known = false;
        for (int g = 0; g < MAX_GENERATIONS; g++) {
            String generation = "sun.gc.generation." + g + ".";
            for (int s = 0; s < MAX_SPACES; s++) used += Math.max(0, data.value(generation + "space." + s + ".used"));
            committed += Math.max(0, data.value(generation + "capacity"));
            long limit = Math.max(0, data.value(generation + "maxCapacity"));
            known |= limit > 0;
            max = wholeHeapPerGeneration ? Math.max(max, limit) : max + limit;
        }
        if (!known) return null;
        long pausesBefore = pauses;
        long ticksBefore = pauseTicks;
        pauses = sumOfCollectors("invocations");
        pauseTicks = sumOfCollectors("time");
        return new HeapUsage(
                used,
                committed & -PAGE_BYTES,
                max & -PAGE_BYTES,
                Math.max(0, pauses - pausesBefore),
                Math.min(intervalNanos, Math.round(Math.max(0, pauseTicks - ticksBefore) * nanosPerTick)));
    }

    private long sumOfCollectors(String counter) {
        long sum = 0;
        for (int c = 0; c < MAX_COLLECTORS; c++)
            sum += Math.max(0, data.value("sun.gc.collector." + c + "." + counter));
        return sum;
    }

    /**
     * Returns how often threads have waited to enter a monitor since the JVM started, as of the last call of
     * {@link #refresh}; -1 if unknown.
     */
    public long contendedLockAttempts() {
        return data == null ? -1 : data.value("sun.rt._sync_ContendedLockAttempts");
    }

    /** Returns the options of the JVM, with those of environment variables; null if they are not known completely. */
    public String options() {
        String options = data == null ? null : data.text("java.rt.vmArgs");
        return options == null || options.length() >= MAX_OPTIONS ? null : options;
    }

    /** Returns what the JVM has counted, as of the last call of {@link #refresh}. */
    public JvmCounters counters() {
        if (!isRead) return JvmCounters.UNKNOWN;
        return new JvmCounters(
                data.value("sun.rt.safepoints"),
                nanos("sun.rt.safepointTime"),
                nanos("sun.rt.safepointSyncTime"),
                data.value("java.threads.started"),
                data.value("sun.threads.total_gc_cpu_time"));
    }

    private long nanos(String counter) {
        long ticks = data.value(counter);
        return ticks < 0 ? -1 : Math.round(ticks * nanosPerTick);
    }

    @Override
    public void close() {
        if (data != null) data.close();
    }
}
