// SPDX-License-Identifier: Apache-2.0
// Copyright the TaskClock authors
package org.taskclock.benchmarks;

import java.util.EnumMap;
import java.util.Map;
import org.taskclock.CpuTime;

/** What was true of one workload, and what each reader said of it. */
public final class Outcome {
    public final Workload workload;
    public long cpuNanos;
    public long userNanos;
    public long systemNanos;

    public final Map<Reader, CpuTime> readings = new EnumMap<>(Reader.class);
    /** The least cpu - user that was seen on the way. Nothing for a process, whose other threads would blur it. */
    public final Map<Reader, Long> leastSystemNanos = new EnumMap<>(Reader.class);

    Outcome(Workload workload) {
        this.workload = workload;
    }

    void sample(Reader reader) {
        leastSystemNanos.merge(reader, reader.ofThread().systemNanos(), Math::min);
    }

    public boolean isRead(Reader reader) {
        return readings.get(reader).isKnown();
    }

    /**
     * What is in no burst: readings and samples, yields, and in a process the start of threads and what others did. It is
     * mostly system time, so it counts as such; how much of it is user time is not known.
     */
    public long unsureNanos() {
        return cpuNanos - userNanos - systemNanos;
    }

    public double percent(long nanos) {
        return 100.0 * nanos / cpuNanos;
    }

    public double userError(Reader reader) {
        return percent(readings.get(reader).userNanos() - userNanos);
    }

    public double systemError(Reader reader) {
        return percent(readings.get(reader).systemNanos() - systemNanos - unsureNanos());
    }
}
