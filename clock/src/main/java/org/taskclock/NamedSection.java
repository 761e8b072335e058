// SPDX-License-Identifier: Apache-2.0
// Copyright the TaskClock authors
package org.taskclock;

/** A section of a named account. */
final class NamedSection implements CpuSection {
    private final NamedAccount account;
    private final Thread thread;
    private final Object[] slot;
    private final int epoch;
    /** In the stack; -1 once it is closed. */
    private int position;

    NamedSection(NamedAccount account, Thread thread, Object[] slot, int position) {
        this.account = account;
        this.thread = thread;
        this.slot = slot;
        this.epoch = (int) ThreadSlot.numbers(slot)[ThreadSlot.EPOCH];
        this.position = position;
    }

    @Override
    public void close() {
        long[] numbers = ThreadSlot.numbers(slot);
        if (thread != Thread.currentThread()) {
            account.count(AccountCounters.CLOSED_ELSEWHERE);
        } else if (position < 0 || (int) numbers[ThreadSlot.EPOCH] != epoch) {
            account.count(AccountCounters.CLOSED_TWICE);
        } else {
            int open = position;
            position = -1;
            close(numbers, open);
        }
    }

    private void close(long[] numbers, int open) {
        AccountType type = account.type();
        int details = type.details();
        long now = TaskClock.pointNanos();
        if (now < 0) {
            account.count(AccountCounters.UNCOUNTED);
            now = numbers[ThreadSlot.SINCE];
        }
        long nanos = ThreadSlot.close(slot, open, now, details);
        ThreadContext.update(type, slot);
        if (ThreadType.isVirtual(thread) && numbers[ThreadSlot.DEPTH] == 0)
            type.table().release(slot);
        type.closed(account, nanos, details);
    }
}
