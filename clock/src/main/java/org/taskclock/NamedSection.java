// SPDX-License-Identifier: Apache-2.0
// Copyright the TaskClock authors
package org.taskclock;

/** A section of a named account. */
final class NamedSection implements CpuSection {
    private final NamedAccount account;
    private final Thread thread;
    private final Object[] slot;
    private final int position;
    private final long epoch;
    private boolean isOpen = true;

    NamedSection(NamedAccount account, Thread thread, Object[] slot, int position) {
        this.account = account;
        this.thread = thread;
        this.slot = slot;
        this.position = position;
        this.epoch = ThreadSlot.numbers(slot)[ThreadSlot.EPOCH];
    }

    @Override
    public void close() {
        long[] numbers = ThreadSlot.numbers(slot);
        if (thread != Thread.currentThread()) {
            account.count(AccountCounters.CLOSED_ELSEWHERE);
        } else if (!isOpen || numbers[ThreadSlot.EPOCH] != epoch) {
            account.count(AccountCounters.CLOSED_TWICE);
        } else {
            isOpen = false;
            close(numbers);
        }
    }

    private void close(long[] numbers) {
        AccountType type = account.type();
        int details = type.details();
        long now = TaskClock.pointNanos();
        if (now < 0) {
            account.count(AccountCounters.UNCOUNTED);
            now = numbers[ThreadSlot.SINCE];
        }
        long nanos = ThreadSlot.close(slot, position, now, details);
        if (ThreadType.isVirtual(thread) && numbers[ThreadSlot.DEPTH] == 0) type.release(slot);
        type.closed(account, nanos, details);
    }
}
