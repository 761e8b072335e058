// SPDX-License-Identifier: Apache-2.0
// Copyright the TaskClock authors
package org.taskclock.exporter;

import java.time.Duration;
import org.taskclock.ProcessClock;

/** The exporter's own counters. Written by one thread at a time, and read by any thread. */
public final class ExporterStatus {
    /** If the last sample is older than this number of intervals, the figures are no longer current. */
    private static final int MISSED_SAMPLES = 5;

    /** A busy machine may delay samples by seconds. */
    private static final Duration MIN_LIMIT = Duration.ofSeconds(10);

    final String version;
    private final ProcessClock clock = ProcessClock.current();

    volatile int jvms;
    volatile int threads;
    volatile int series;
    private long jvmsFound;

    /** The number of JVMs that cannot be read, and of those whose thread names are truncated. */
    volatile int unreadable;

    volatile int withoutNames;

    private long jvmErrors;

    private long samples;
    private long sampleNanos;

    /** When the last sample was complete, as of System.nanoTime. */
    private long sampledAt = System.nanoTime();

    private long readings;
    private long readingNanos;

    private long pushed;
    private long failed;
    private long dropped;

    volatile int queued;

    /** Creates counters for an exporter of this version of TaskClock. */
    public ExporterStatus(String version) {
        this.version = version;
    }

    /** The number of operations and their total time. */
    record Total(long count, long nanos) {}

    synchronized void addJvm() {
        jvmsFound++;
    }

    synchronized long jvmsFound() {
        return jvmsFound;
    }

    /** Counts a JVM whose data could not be used. */
    synchronized void addJvmError() {
        jvmErrors++;
    }

    synchronized long jvmErrors() {
        return jvmErrors;
    }

    synchronized void addSample(long nanos) {
        samples++;
        sampleNanos += nanos;
        sampledAt = System.nanoTime();
    }

    /** Returns the time since the last sample, or since the start if there is none yet. */
    synchronized Duration sampleAge() {
        return Duration.ofNanos(System.nanoTime() - sampledAt);
    }

    /** Returns whether the figures are current: there is a sample, and it is not older than a few intervals. */
    public boolean isCurrent(Duration interval) {
        return isCurrentAt(System.nanoTime(), interval);
    }

    synchronized boolean isCurrentAt(long now, Duration interval) {
        long limit = Math.max(MIN_LIMIT.toNanos(), MISSED_SAMPLES * interval.toNanos());
        return samples > 0 && now - sampledAt < limit;
    }

    synchronized void addReading(long nanos) {
        readings++;
        readingNanos += nanos;
    }

    synchronized void addPushed() {
        pushed++;
    }

    synchronized void addFailed() {
        failed++;
    }

    synchronized void addDropped() {
        dropped++;
    }

    synchronized Total samples() {
        return new Total(samples, sampleNanos);
    }

    synchronized Total readings() {
        return new Total(readings, readingNanos);
    }

    synchronized long pushed() {
        return pushed;
    }

    synchronized long failed() {
        return failed;
    }

    synchronized long dropped() {
        return dropped;
    }

    /** Returns the CPU time of this process. */
    synchronized long cpuNanos() {
        return clock.cpuNanos();
    }
}
