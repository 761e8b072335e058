// SPDX-License-Identifier: Apache-2.0
// Copyright the TaskClock authors
package org.taskclock.bindings;

import java.util.concurrent.atomic.LongAdder;
import java.util.function.Supplier;
import org.taskclock.CpuAccount;
import org.taskclock.CpuSection;
import org.taskclock.CpuUsage;

/**
 * A task whose parts may be tasks themselves, on any thread, such as a span or an observation. {@link CurrentTask}
 * counts on each thread.
 *
 * <p>Thread-safe.
 */
public final class NestedTask implements Supplier<CpuSection> {
    private final CpuAccount account = CpuAccount.create();
    private final NestedTask parent;
    private final LongAdder endedParts = new LongAdder();
    private volatile boolean hasUnknownParts;

    /**
     * Creates a task that no thread works on yet.
     *
     * @param parent the task that this one is a part of; null if there is none
     */
    public NestedTask(NestedTask parent) {
        this.parent = parent;
    }

    /** Enters a section on the calling thread. */
    @Override
    public CpuSection get() {
        return account.enter();
    }

    /**
     * Ends the task and adds its time to that of its parent, unless that has ended. Call this once. What threads still
     * do for the task later is not counted.
     *
     * @return the CPU time on all threads, including those that are working on the task
     */
    public TaskUsage end() {
        CpuUsage usage = account.now();
        long self = usage.uncounted() == 0 ? usage.cpuNanos() : -1;
        long total = self < 0 || hasUnknownParts ? -1 : self + endedParts.sum();
        if (parent != null) {
            if (total < 0) parent.hasUnknownParts = true;
            else parent.endedParts.add(total);
        }
        return new TaskUsage(self, total);
    }
}
