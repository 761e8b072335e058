// SPDX-License-Identifier: Apache-2.0
// Copyright the TaskClock authors
package org.taskclock.exporter;

import org.taskclock.ProcessClock;

/** What the exporter counts about itself. Written by one thread at a time, and read by any. */
public final class ExporterStatus {
    final String version;
    private final ProcessClock clock = ProcessClock.current();

    volatile int jvms;
    volatile int threads;
    volatile int series;
    private long jvmsFound;

    /** JVMs that cannot be read, and those whose threads have only the kernel's names. */
    volatile int unreadable;

    volatile int withoutNames;

    private long samples;
    private long sampleNanos;
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

    /** The number of operations and the time they took. */
    record Duration(long count, long nanos) {}

    synchronized void addJvm() {
        jvmsFound++;
    }

    synchronized long jvmsFound() {
        return jvmsFound;
    }

    synchronized void addSample(long nanos) {
        samples++;
        sampleNanos += nanos;
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

    synchronized Duration samples() {
        return new Duration(samples, sampleNanos);
    }

    synchronized Duration readings() {
        return new Duration(readings, readingNanos);
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
