// SPDX-License-Identifier: Apache-2.0
// Copyright the TaskClock authors
package org.taskclock.bindings;

import org.taskclock.CpuAccount;
import org.taskclock.CpuUsage;

/** The CPU time that logs show. It is not in {@link MdcCpuTime}, because SLF4J may be missing. */
final class CurrentCpuTime {
    private CurrentCpuTime() {}

    /**
     * Returns the CPU time of the calling thread's innermost account without a name; null if there is none or it is
     * unknown.
     */
    static String millis() {
        CpuAccount account = AccountContext.current().taskAccount();
        if (account == null) return null;
        CpuUsage usage = account.now();
        return usage.uncounted() == 0 ? millis(usage.cpuNanos()) : null;
    }

    /** Without a formatter, which would take longer than reading the account. */
    private static String millis(long nanos) {
        long micros = nanos / 1_000;
        String fraction = Long.toString(1_000 + micros % 1_000);
        return micros / 1_000 + "." + fraction.substring(1);
    }
}
