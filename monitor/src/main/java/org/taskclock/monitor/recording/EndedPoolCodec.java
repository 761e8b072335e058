// SPDX-License-Identifier: Apache-2.0
// Copyright the TaskClock authors
package org.taskclock.monitor.recording;

import com.google.gson.JsonArray;
import com.google.gson.JsonElement;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.taskclock.metrics.PoolKey;
import org.taskclock.monitor.usage.EndedPool;

/**
 * The ended threads in a recording. An interval has only the pools that have changed since the previous one. An
 * instance keeps the state since the last header.
 */
final class EndedPoolCodec {
    private final Map<PoolKey, EndedPool> last = new LinkedHashMap<>();

    JsonArray encode(List<EndedPool> pools) {
        JsonArray changed = new JsonArray();
        for (EndedPool pool : pools) {
            if (pool.equals(last.put(pool.key(), pool))) continue;
            JsonArray row = new JsonArray();
            row.add(pool.pool());
            row.add(pool.kind().name());
            row.add(pool.threads());
            row.add(pool.totalNanos());
            row.add(pool.watchedNanos());
            changed.add(row);
        }
        return changed;
    }

    /** Returns all pools. {@code changed} may be null, because older versions did not record ended threads. */
    List<EndedPool> decode(JsonArray changed) {
        if (changed != null) {
            for (JsonElement each : changed) {
                JsonArray row = each.getAsJsonArray();
                EndedPool pool = new EndedPool(
                        row.get(0).getAsString(),
                        RecordingFormat.kind(row.get(1).getAsString()),
                        row.get(2).getAsInt(),
                        row.get(3).getAsLong(),
                        row.get(4).getAsLong());
                last.put(pool.key(), pool);
            }
        }
        return List.copyOf(last.values());
    }
}
