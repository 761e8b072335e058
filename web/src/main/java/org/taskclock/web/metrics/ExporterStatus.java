// SPDX-License-Identifier: Apache-2.0
// Copyright the TaskClock authors
package org.taskclock.web.metrics;

import org.taskclock.ProcessClock;

/** The exporter's own counters. Written by one thread at a time, and read by any thread. */
public final class ExporterStatus {
    final String version;
    private final ProcessClock clock = ProcessClock.current();

    volatile int series;
    volatile int queued;

    private long pushed;
    private long failed;
    private long dropped;

    /** Creates counters for an exporter of this version of TaskClock. */
    public ExporterStatus(String version) {
        this.version = version;
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
