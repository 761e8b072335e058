// SPDX-License-Identifier: Apache-2.0
// Copyright the TaskClock authors
package org.taskclock;

/** A section of a named account. */
final class NamedSection implements CpuSection {
    private final NamedAccount account;
    private final Thread thread;
    private final Object[] slot;
    private final long id;

    NamedSection(NamedAccount account, Thread thread, Object[] slot, long id) {
        this.account = account;
        this.thread = thread;
        this.slot = slot;
        this.id = id;
    }

    @Override
    public void close() {
        if (thread != Thread.currentThread()) {
            account.count(AccountCounters.CLOSED_ELSEWHERE);
            return;
        }
        int position = ThreadSlot.position(slot, id);
        if (position < 0) account.count(AccountCounters.CLOSED_TWICE);
        else close(position);
    }

    private void close(int position) {
        AccountType type = account.type();
        int details = type.details();
        long[] numbers = ThreadSlot.numbers(slot);
        long now = TaskClock.pointNanos();
        if (now < 0) {
            account.count(AccountCounters.UNCOUNTED);
            now = numbers[ThreadSlot.SINCE];
        }
        long nanos = ThreadSlot.close(slot, position, now, details);
        ThreadContext.update(type, slot);
        if (ThreadType.isVirtual(thread) && numbers[ThreadSlot.DEPTH] == 0)
            type.table().release(slot);
        account.closed(nanos, ThreadSlot.userNanos(numbers, nanos), details);
    }
}
