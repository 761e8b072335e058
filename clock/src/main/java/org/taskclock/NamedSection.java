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
        // First, because the JIT compiler loads and checks everything again after this call.
        long now = TaskClock.pointNanos();
        Thread current = Thread.currentThread();
        if (thread != current) {
            account.count(AccountCounters.CLOSED_ELSEWHERE);
            return;
        }
        long[] numbers = ThreadSlot.numbers(slot);
        int position = ThreadSlot.position(numbers, id);
        if (position < 0) {
            account.count(AccountCounters.CLOSED_TWICE);
            return;
        }
        if (now < 0) account.count(AccountCounters.UNCOUNTED);
        long nanos = ThreadSlot.close(slot, numbers, position, now);
        AccountType type = account.type();
        ThreadContext.update(type, slot);
        if (ThreadType.isVirtual(current) && ThreadSlot.depth(slot) == 0)
            type.table().release(slot);
        account.closed(nanos, numbers);
    }
}
