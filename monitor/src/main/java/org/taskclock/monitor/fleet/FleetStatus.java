// SPDX-License-Identifier: Apache-2.0
// Copyright the TaskClock authors
package org.taskclock.monitor.fleet;

import java.time.Duration;

/** What a {@link JvmFleet} counts about itself. Written by one thread at a time, and read by any. */
public final class FleetStatus {
    /** If the last sample is older than this number of intervals, the figures are no longer current. */
    private static final int MISSED_SAMPLES = 5;

    /** A busy machine may delay samples by seconds. */
    private static final Duration MIN_LIMIT = Duration.ofSeconds(10);

    /** The number of operations and the time they took. */
    public record Total(long count, long nanos) {}

    volatile int jvms;
    volatile int threads;
    volatile int unreadable;
    volatile int withoutNames;
    private long jvmsFound;
    private long jvmErrors;

    private long samples;
    private long sampleNanos;

    /** When the last sample was complete, as of System.nanoTime. */
    private long sampledAt = System.nanoTime();

    private long readings;
    private long readingNanos;

    FleetStatus() {}

    public int jvms() {
        return jvms;
    }

    public int threads() {
        return threads;
    }

    /** Returns the number of JVMs that cannot be read. */
    public int unreadable() {
        return unreadable;
    }

    /** Returns the number of JVMs whose threads have only the kernel's names. */
    public int withoutNames() {
        return withoutNames;
    }

    synchronized void addJvm() {
        jvmsFound++;
    }

    public synchronized long jvmsFound() {
        return jvmsFound;
    }

    synchronized void addJvmError() {
        jvmErrors++;
    }

    /** Returns the number of JVMs whose data could not be used. */
    public synchronized long jvmErrors() {
        return jvmErrors;
    }

    synchronized void addSample(long nanos) {
        samples++;
        sampleNanos += nanos;
        sampledAt = System.nanoTime();
    }

    /** Returns the time since the last sample, or since the start if there is none yet. */
    public synchronized Duration sampleAge() {
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

    public synchronized Total samples() {
        return new Total(samples, sampleNanos);
    }

    public synchronized Total readings() {
        return new Total(readings, readingNanos);
    }
}
