// SPDX-License-Identifier: Apache-2.0
// Copyright the TaskClock authors
package org.taskclock;

import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.lang.ref.WeakReference;

/**
 * The usage of one thread for one account: its outer section, and the counter for that section and those nested in it.
 * Only that thread writes to it, with two exceptions: other threads post to {@link #remoteCloses}, and readers of the
 * account set {@link #clock}.
 */
final class OuterSection extends SectionCounter implements CpuSection {
    /** {@link #openSections} counts the outer section as 1 and each nested section as 2. */
    private static final int OUTER = 1;

    private static final int INNER = 2;

    private static final VarHandle REMOTE_CLOSES;

    static {
        try {
            REMOTE_CLOSES = MethodHandles.lookup().findVarHandle(OuterSection.class, "remoteCloses", RemoteClose.class);
        } catch (ReflectiveOperationException e) {
            throw new ExceptionInInitializerError(e);
        }
    }

    /**
     * A request by another thread to close a section, in a linked list.
     *
     * @param state the counter's state at that time; if it has changed since, the request is obsolete
     * @param section the section to close
     * @param cpu the CPU time of the section's thread at that time; -1 if unknown
     * @param bytes the bytes that the section's thread had allocated; -1 if unknown
     * @param earlier the previous request; null if there is none
     */
    private record RemoteClose(long state, CpuSection section, long cpu, long bytes, RemoteClose earlier) {}

    final CpuAccount account;
    final Thread thread;
    /** Lets the thread find its section for as long as the account exists. */
    final WeakReference<OuterSection> weakReference = new WeakReference<>(this);

    /** Null if bytes are not counted. */
    private final SectionCounter bytes;

    private volatile RemoteClose remoteCloses;
    /** The open sections, in units of OUTER and INNER. Written before the counter's state, which publishes it. */
    private int openSections;

    private InnerSection freeList;

    private CpuLimit limit;
    /** The usage reported to the limit so far. */
    private long reported;

    /** The thread's clock, for readers on other threads. */
    private volatile ThreadClock clock;

    OuterSection(CpuAccount account, Thread thread, boolean countsBytes) {
        this.account = account;
        this.thread = thread;
        this.bytes = countsBytes ? new SectionCounter() : null;
    }

    CpuSection enter() {
        if (remoteCloses != null) applyRemoteCloses();
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
        if (openSections == OUTER && remoteCloses == null && thread == Thread.currentThread()) end();
        else close(this);
    }

    /** Closes this section or one nested in it. */
    void close(CpuSection section) {
        if (thread != Thread.currentThread()) {
            closeRemotely(section);
            return;
        }
        if (remoteCloses != null) applyRemoteCloses();
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
        end(TaskClock.pointNanos(), bytes == null ? 0 : AllocatedBytes.ofCurrentThread());
        CpuLimit current = account.limit();
        if (current != null) report(current);
    }

    private void end(long cpu, long allocated) {
        openSections = 0;
        if (cpu < 0) {
            discard();
            account.recordUncounted();
        } else {
            close(cpu);
        }
        if (bytes != null) closeBytes(allocated);
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

    /** Posts a request to the section's thread, because only that thread may write. */
    private void closeRemotely(CpuSection section) {
        long state = state();
        long cpu = clock().pointNanos();
        if (!isOpen(state) || !isOpen(section)) {
            account.recordClosedTwice();
            return;
        }
        // The usage of an ended thread is unknown. The section is also reported as unclosed.
        if (cpu < 0 && !thread.isAlive()) {
            account.recordClosedElsewhere();
            return;
        }
        RemoteClose request;
        do {
            RemoteClose earlier = remoteCloses;
            for (RemoteClose r = earlier; r != null; r = r.earlier) {
                if (r.state == state && r.section == section) {
                    account.recordClosedTwice();
                    return;
                }
            }
            request = new RemoteClose(state, section, cpu, bytes == null ? 0 : AllocatedBytes.of(thread), earlier);
        } while (!REMOTE_CLOSES.compareAndSet(this, request.earlier, request));
        account.recordClosedElsewhere();
    }

    /** Closes the sections that other threads have asked to close. */
    private void applyRemoteCloses() {
        RemoteClose newest;
        do {
            newest = remoteCloses;
            RemoteClose last = null;
            long state = state();
            for (RemoteClose r = newest; r != null; r = r.earlier) {
                if (r.state != state || !isOpen(r.section)) continue;
                if (r.section instanceof InnerSection inner) inner.open = false;
                openSections -= units(r.section);
                if (last == null || r.cpu > last.cpu) last = r;
            }
            if (last != null && openSections == 0) end(last.cpu, last.bytes);
            // The requests are removed only now, so that no reader mistakes an ended section for a running one.
        } while (!REMOTE_CLOSES.compareAndSet(this, newest, null));
    }

    /** Returns the request with the latest time if other threads have closed every open section; otherwise null. */
    private RemoteClose lastRemoteClose(long state) {
        RemoteClose last = null;
        int count = 0;
        for (RemoteClose r = remoteCloses; r != null; r = r.earlier) {
            if (r.state != state) continue;
            count++;
            if (last == null || r.cpu > last.cpu) last = r;
        }
        return count < openSections / INNER + openSections % INNER ? null : last;
    }

    /**
     * Returns the CPU time that the thread has used so far. Only one reader at a time may call this and
     * {@link #allocatedBytes}.
     */
    long cpuNanos() {
        long state = state();
        if (!isOpen(state)) return total(state, -1);
        RemoteClose last = lastRemoteClose(state);
        return total(state, last != null ? last.cpu : counter());
    }

    /** Returns the bytes that the thread has allocated so far; -1 if unknown. */
    long allocatedBytes() {
        long state = bytes.state();
        if (!isOpen(state)) return bytes.total(state, -1);
        RemoteClose last = lastRemoteClose(state());
        long counter = last != null ? last.bytes : AllocatedBytes.of(thread);
        return counter < 0 && thread.isAlive() ? -1 : bytes.total(state, counter);
    }

    boolean isOpen() {
        long state = state();
        return isOpen(state) && lastRemoteClose(state) == null;
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
