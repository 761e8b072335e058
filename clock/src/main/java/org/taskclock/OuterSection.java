// SPDX-License-Identifier: Apache-2.0
// Copyright the TaskClock authors
package org.taskclock;

import java.lang.ref.WeakReference;

/**
 * The usage of one thread for one account: its outer section, and the counter for that section and those nested in it.
 * Only that thread writes to it, except that readers of the account set {@link #clock}.
 */
final class OuterSection extends SectionCounter implements CpuSection {
    /** {@link #openSections} counts the outer section as 1 and each nested section as 2. */
    private static final int OUTER = 1;

    private static final int INNER = 2;

    final TaskAccount account;
    final Thread thread;
    /** Lets the thread find its section for as long as the account exists. */
    final WeakReference<OuterSection> weakReference = new WeakReference<>(this);

    /** Null if bytes are not counted. */
    private final SectionCounter bytes;

    /** The open sections, in units of OUTER and INNER. */
    private int openSections;

    private InnerSection freeList;

    private CpuLimit limit;
    /** The usage reported to the limit so far. */
    private long reported;

    /** The thread's clock, for readers on other threads. */
    private volatile ThreadClock clock;

    OuterSection(TaskAccount account, Thread thread, boolean countsBytes) {
        this.account = account;
        this.thread = thread;
        this.bytes = countsBytes ? new SectionCounter() : null;
    }

    CpuSection enter() {
        if (openSections != 0) return enterInner();
        long allocated = bytes == null ? 0 : AllocatedBytes.ofCurrentThread();
        long cpu = TaskClock.pointNanos();
        if (cpu < 0) return account.recordUncounted();
        openSections = OUTER;
        open(cpu);
        if (bytes != null) openBytes(allocated);
        return this;
    }

    private CpuSection enterInner() {
        InnerSection inner = freeList;
        if (inner == null) inner = new InnerSection(this);
        else freeList = inner.nextFree;
        inner.open = true;
        openSections += INNER;
        return inner;
    }

    @Override
    public void close() {
        if (openSections == OUTER && thread == Thread.currentThread()) end();
        else close(this);
    }

    /** Closes this section or one nested in it. */
    void close(CpuSection section) {
        if (thread != Thread.currentThread()) {
            account.recordClosedElsewhere();
            return;
        }
        if (!isOpen(section)) {
            account.recordClosedTwice();
            return;
        }
        if (section instanceof InnerSection inner) {
            inner.open = false;
            inner.nextFree = freeList;
            freeList = inner;
        }
        int units = units(section);
        if (openSections == units) end();
        else openSections -= units;
    }

    private static int units(CpuSection section) {
        return section instanceof InnerSection ? INNER : OUTER;
    }

    private boolean isOpen(CpuSection section) {
        return section instanceof InnerSection inner ? inner.open : (openSections & OUTER) != 0;
    }

    /** Closes the last open section. */
    private void end() {
        long cpu = TaskClock.pointNanos();
        openSections = 0;
        if (cpu < 0) {
            discard();
            account.recordUncounted();
        } else {
            close(cpu);
        }
        if (bytes != null) closeBytes(AllocatedBytes.ofCurrentThread());
        CpuLimit current = account.limit();
        if (current != null) report(current);
    }

    private void openBytes(long allocated) {
        if (allocated < 0) account.recordBytesUnknown();
        else bytes.open(allocated);
    }

    private void closeBytes(long allocated) {
        if (!isOpen(bytes.state())) return;
        if (allocated < 0) {
            account.recordBytesUnknown();
            bytes.discard();
        } else {
            bytes.close(allocated);
        }
    }

    private void report(CpuLimit current) {
        boolean isFirst = limit != current;
        long unreported = used() - (isFirst ? 0 : reported);
        if (!isFirst && unreported < current.allowance()) return;
        limit = current;
        reported = used();
        if (current.report(unreported)) account.check(current);
    }

    /**
     * Returns the CPU time that the thread has used so far. Only one reader at a time may call this and
     * {@link #allocatedBytes}.
     */
    long cpuNanos() {
        long state = state();
        return total(state, isOpen(state) ? counter() : -1);
    }

    /** Returns the bytes that the thread has allocated so far; -1 if unknown. */
    long allocatedBytes() {
        long state = bytes.state();
        if (!isOpen(state)) return bytes.total(state, -1);
        long counter = AllocatedBytes.of(thread);
        return counter < 0 && thread.isAlive() ? -1 : bytes.total(state, counter);
    }

    boolean isOpen() {
        return isOpen(state());
    }

    private long counter() {
        return thread == Thread.currentThread() ? TaskClock.pointNanos() : clock().pointNanos();
    }

    private ThreadClock clock() {
        ThreadClock found = clock;
        if (found == null) clock = found = ThreadClock.of(thread);
        return found;
    }
}
