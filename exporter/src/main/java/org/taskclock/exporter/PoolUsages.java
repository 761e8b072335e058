// SPDX-License-Identifier: Apache-2.0
// Copyright the TaskClock authors
package org.taskclock.exporter;

import java.util.ArrayList;
import java.util.List;
import org.taskclock.metrics.PoolUsage;
import org.taskclock.monitor.ThreadUsage;

/** Converts what the monitor reads to what the metrics count. */
final class PoolUsages {
    private PoolUsages() {}

    static List<PoolUsage> of(List<ThreadUsage> usages) {
        List<PoolUsage> converted = new ArrayList<>(usages.size());
        for (ThreadUsage usage : usages)
            converted.add(new PoolUsage(
                    Text.sanitize(usage.pool()),
                    usage.kind(),
                    usage.threads(),
                    usage.userNanos(),
                    usage.systemNanos(),
                    usage.waitNanos(),
                    usage.voluntary(),
                    usage.involuntary(),
                    -1));
        return converted;
    }
}
