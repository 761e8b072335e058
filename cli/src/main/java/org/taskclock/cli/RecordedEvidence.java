// SPDX-License-Identifier: Apache-2.0
// Copyright the TaskClock authors
package org.taskclock.cli;

import java.io.IOException;
import java.time.Clock;
import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;
import org.taskclock.monitor.finding.DatedFinding;
import org.taskclock.monitor.finding.Evidence;
import org.taskclock.monitor.finding.FindingTracker;
import org.taskclock.monitor.profile.EvidenceTaker;
import org.taskclock.monitor.recording.RecordingWriter;
import org.taskclock.monitor.sampling.Interval;
import org.taskclock.monitor.sampling.Sampler;

/** Adds evidence of findings to a recording. Confined to one thread. */
final class RecordedEvidence implements AutoCloseable {
    private final FindingTracker findings = new FindingTracker();
    private final Queue<Evidence> taken = new ConcurrentLinkedQueue<>();
    private final EvidenceTaker taker;
    private final EvidenceTaker.Jvm jvm;
    private final RecordingWriter writer;

    RecordedEvidence(Sampler sampler, RecordingWriter writer) {
        this.writer = writer;
        jvm = new EvidenceTaker.Jvm("", sampler.pid(), sampler.name());
        taker = new EvidenceTaker(
                Clock.systemUTC(),
                (from, evidence) -> taken.add(evidence),
                message -> System.err.println("taskclock: " + message));
        taker.start();
    }

    /** Looks for findings that begin in an interval, and writes what was taken since the one before. */
    void add(Interval interval) throws IOException {
        for (DatedFinding begun :
                findings.add(interval.findings(), interval.end().minusNanos(interval.intervalNanos())))
            taker.begin(jvm, begun);
        write();
    }

    private void write() throws IOException {
        for (Evidence evidence = taken.poll(); evidence != null; evidence = taken.poll()) writer.write(evidence);
    }

    /** Writes also what is just being taken. */
    void end() throws IOException {
        close();
        write();
    }

    @Override
    public void close() {
        taker.close();
    }
}
