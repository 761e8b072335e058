// SPDX-License-Identifier: Apache-2.0
// Copyright the TaskClock authors
package org.taskclock;

import java.util.concurrent.atomic.AtomicLongArray;
import java.util.concurrent.atomic.AtomicReferenceArray;

/** A section of a named account. */
final class NamedSection implements CpuSection {
    private final NamedAccount account;
    private final AtomicReferenceArray<Object> slot;
    private final int position;
    private final long epoch;
    private boolean isOpen = true;

    private NamedSection(NamedAccount account, AtomicReferenceArray<Object> slot, int position) {
        this.account = account;
        this.slot = slot;
        this.position = position;
        this.epoch = ThreadSlot.numbers(slot).getPlain(ThreadSlot.EPOCH);
    }

    static NamedSection open(NamedAccount account, AtomicReferenceArray<Object> slot, long now) {
        int position =
                ThreadSlot.open(slot, account.shared(), now, account.type().details());
        ThreadContext.update(account.type(), slot);
        return new NamedSection(account, slot, position);
    }

    @Override
    public void close() {
        Thread thread = Thread.currentThread();
        AtomicLongArray numbers = ThreadSlot.numbers(slot);
        if (slot.getPlain(ThreadSlot.THREAD) != thread) {
            account.count(AccountCounters.CLOSED_ELSEWHERE);
        } else if (!isOpen || numbers.getPlain(ThreadSlot.EPOCH) != epoch) {
            account.count(AccountCounters.CLOSED_TWICE);
        } else {
            isOpen = false;
            close(thread, numbers);
        }
    }

    private void close(Thread thread, AtomicLongArray numbers) {
        AccountType type = account.type();
        long now = TaskClock.pointNanos();
        if (now < 0) {
            account.count(AccountCounters.UNCOUNTED);
            now = numbers.getPlain(ThreadSlot.SINCE);
        }
        long nanos = ThreadSlot.close(slot, position, now, type.details());
        ThreadContext.update(type, slot);
        if (numbers.getPlain(ThreadSlot.DEPTH) == 0 && ThreadType.isVirtual(thread)) type.releaseVirtual(thread, slot);
        type.closed(account, nanos);
    }
}
