// SPDX-License-Identifier: Apache-2.0
// Copyright the TaskClock authors
package org.taskclock.benchmarks;

import java.util.EnumMap;
import java.util.Map;
import org.taskclock.CpuTime;

/** The true times of one workload, and those of each reader. */
public final class AccuracyResult {
    public final Workload workload;
    public long cpuNanos;
    public long userNanos;
    public long systemNanos;

    public final Map<SplitReader, CpuTime> readings = new EnumMap<>(SplitReader.class);
    /** The lowest cpu - user during the workload. Empty for a process: its other threads would affect the value. */
    public final Map<SplitReader, Long> leastSystemNanos = new EnumMap<>(SplitReader.class);

    AccuracyResult(Workload workload) {
        this.workload = workload;
    }

    void sample(SplitReader reader) {
        leastSystemNanos.merge(reader, reader.ofThread().systemNanos(), Math::min);
    }

    public boolean isRead(SplitReader reader) {
        return readings.get(reader).isKnown();
    }

    /**
     * Returns the time outside of bursts: readings and samples, yields, and in a process also the start of threads and
     * the time of other threads. It counts as system time, because most of it is; its user part is unknown.
     */
    public long unattributedNanos() {
        return cpuNanos - userNanos - systemNanos;
    }

    public double percent(long nanos) {
        return 100.0 * nanos / cpuNanos;
    }

    public double userError(SplitReader reader) {
        return percent(readings.get(reader).userNanos() - userNanos);
    }

    public double systemError(SplitReader reader) {
        return percent(readings.get(reader).systemNanos() - systemNanos - unattributedNanos());
    }
}
