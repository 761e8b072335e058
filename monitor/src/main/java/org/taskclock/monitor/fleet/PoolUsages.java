// SPDX-License-Identifier: Apache-2.0
// Copyright the TaskClock authors
package org.taskclock.monitor.fleet;

import java.util.ArrayList;
import java.util.List;
import org.taskclock.metrics.PoolUsage;
import org.taskclock.monitor.usage.ThreadUsage;

/** Converts readings of the monitor to the usages that the metrics count. */
final class PoolUsages {
    private PoolUsages() {}

    static List<PoolUsage> of(PoolReading reading) {
        List<PoolUsage> converted = new ArrayList<>(reading.pools().size());
        for (ThreadUsage usage : reading.pools())
            converted.add(new PoolUsage(
                    usage.pool(),
                    usage.kind(),
                    usage.threads(),
                    usage.userNanos(),
                    usage.systemNanos(),
                    usage.waitNanos(),
                    usage.voluntary(),
                    usage.involuntary(),
                    -1));
        reading.yields()
                .forEach((pool, yields) ->
                        converted.add(new PoolUsage(pool.pool(), pool.kind(), 0, 0, 0, -1, -1, -1, yields)));
        return converted;
    }
}
