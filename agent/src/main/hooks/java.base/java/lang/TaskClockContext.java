// SPDX-License-Identifier: Apache-2.0
// Copyright the TaskClock authors

package java.lang;

/**
 * The record in which profilers find what a virtual thread works on; see org.taskclock.ThreadContext. While the thread
 * has a record, this object stands between its account and its continuation. So a thread without one takes no memory.
 */
final class TaskClockContext implements Runnable {
    private final Runnable continuation;
    /** The address of the record. */
    final long record;

    private TaskClockContext(Runnable continuation, long record) {
        this.continuation = continuation;
        this.record = record;
    }

    /** Returns what replaces a continuation, which may have a record already. If the record is 0, it has none. */
    static Runnable replace(Runnable current, long record) {
        Runnable continuation =
                current instanceof TaskClockContext ? ((TaskClockContext) current).continuation : current;
        return record == 0 ? continuation : new TaskClockContext(continuation, record);
    }

    static long record(Runnable continuation) {
        return continuation instanceof TaskClockContext ? ((TaskClockContext) continuation).record : 0;
    }

    @Override
    public void run() {
        continuation.run();
    }
}
