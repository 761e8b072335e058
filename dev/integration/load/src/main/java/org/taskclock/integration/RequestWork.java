// SPDX-License-Identifier: Apache-2.0
// Copyright the TaskClock authors
package org.taskclock.integration;

import java.util.BitSet;

/** The work of the web servers' request handlers. */
public final class RequestWork {
    private RequestWork() {}

    /** Counts the primes below a limit with a sieve. */
    public static int primes(int limit) {
        BitSet composite = new BitSet(limit);
        int count = 0;
        for (int i = 2; i < limit; i++) {
            if (composite.get(i)) continue;
            count++;
            for (long j = (long) i * i; j < limit; j += i) composite.set((int) j);
        }
        return count;
    }

    /** Blocks for a millisecond, so that a virtual thread leaves its carrier. */
    public static void block() {
        try {
            Thread.sleep(1);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }

    /** Returns a few kilobytes of JSON. */
    public static String json(int rows) {
        StringBuilder json = new StringBuilder("[");
        for (int i = 0; i < rows; i++) {
            if (i > 0) json.append(',');
            json.append("{\"id\":")
                    .append(i)
                    .append(",\"name\":\"row ")
                    .append(i * 31)
                    .append("\"}");
        }
        return json.append(']').toString();
    }
}
