// SPDX-License-Identifier: Apache-2.0
// Copyright the TaskClock authors
package org.taskclock.bindings;

import java.util.function.Supplier;
import org.taskclock.CpuSection;

/**
 * The task that each thread works on, which is at most one, so that the tasks' own times add up to the CPU time of the
 * threads. Create one for each kind of tasks and keep it.
 *
 * <p>Thread-safe.
 */
public final class CurrentTask {
    private static final int TASK = 0;
    private static final int SECTION = 1;

    /** The task of each thread and its section. A thread without a task refers only to classes of the JDK. */
    private final ThreadLocal<Object[]> threads = ThreadLocal.withInitial(() -> new Object[2]);

    /** Creates an object that knows no thread. */
    public CurrentTask() {}

    /**
     * Makes a task that of the calling thread, instead of its present one.
     *
     * @param next the task, such as a {@link NestedTask}, which enters a section on the calling thread; null for none
     */
    public void set(Supplier<CpuSection> next) {
        Object[] thread = threads.get();
        if (thread[TASK] == next) return;
        if (thread[SECTION] != null) ((CpuSection) thread[SECTION]).close();
        thread[TASK] = next;
        thread[SECTION] = next == null ? null : next.get();
    }
}
