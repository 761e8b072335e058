// SPDX-License-Identifier: Apache-2.0
// Copyright the TaskClock authors
package org.taskclock.monitor.sampling;

import java.util.List;
import org.taskclock.monitor.attach.ThreadDump;
import org.taskclock.monitor.finding.CommonPool;
import org.taskclock.monitor.finding.LockConvoys;
import org.taskclock.monitor.finding.LockGraph;
import org.taskclock.monitor.proc.ModifiedUtf8;

/** Thread dumps, in which a program chooses the names of threads, classes, and methods. */
public final class ThreadDumpFuzz {
    private ThreadDumpFuzz() {}

    public static void fuzzerTestOneInput(byte[] data) {
        ThreadDump dump = ThreadDump.parse(ModifiedUtf8.decode(data));
        AllocationRate rate = new AllocationRate();
        for (ThreadDump.Entry entry : dump.all()) {
            if (entry.tid() < 0) throw new AssertionError("negative id: " + entry);
            entry.topFrame();
            entry.isYielding();
            entry.isScheduling();
            entry.isCreatingException();
            entry.showsMounted();
            rate.add(entry.header(), entry.tid());
            entry.frames(true);
        }
        LockGraph locks = LockGraph.of(dump);
        LockConvoys convoys = new LockConvoys();
        CommonPool pool = new CommonPool();
        JavaStatusTracker tracker = new JavaStatusTracker();
        for (int i = 1; i <= 4; i++) {
            convoys.add(locks, i * 1_000_000_000L);
            pool.add(dump, locks, i * 1_000_000_000L, 1);
            tracker.add(dump, locks, i * 1_000_000_000L);
            tracker.apply(List.of(), 1_000_000_000L, true);
        }
        convoys.findings();
    }
}
