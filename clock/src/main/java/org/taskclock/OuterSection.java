// SPDX-License-Identifier: Apache-2.0
// Copyright the TaskClock authors
package org.taskclock;

import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.lang.ref.WeakReference;

/**
 * What one thread uses for one account: its outer section, and the tally of that and of those inside. Only its thread
 * writes, save that others leave word in {@link #ended}, and what the account keeps for its own readers.
 */
final class OuterSection extends Tally implements CpuSection {
    /** What {@link #levels} counts: itself, and each section inside. */
    private static final int OUTER = 1;

    private static final int INNER = 2;

    private static final VarHandle ENDED;

    static {
        try {
            ENDED = MethodHandles.lookup().findVarHandle(OuterSection.class, "ended", Ended.class);
        } catch (ReflectiveOperationException e) {
            throw new ExceptionInInitializerError(e);
        }
    }

    /**
     * Word that another thread closed a section.
     *
     * @param state the tally's at that time; where it is another by now, this is over
     * @param section which
     * @param cpu what the clock of its thread said; -1 if nothing
     * @param bytes what its thread had allocated; -1 if that is not known
     * @param earlier more of it
     */
    private record Ended(long state, CpuSection section, long cpu, long bytes, Ended earlier) {}

    final CpuAccount account;
    final Thread thread;
    /** For its thread to find it by, as long as the account lives. */
    final WeakReference<OuterSection> weakly = new WeakReference<>(this);

    /** Null where they are not counted. */
    private final Tally bytes;

    private volatile Ended ended;
    /** Of the sections that are open. Written before the state of the tally, which publishes it. */
    private int levels;

    private InnerSection free;

    private CpuLimit limit;
    /** How much of what was used the limit knows of. */
    private long reported;

    /** For others. */
    private volatile ThreadClock clock;

    OuterSection(CpuAccount account, Thread thread, boolean countsBytes) {
        this.account = account;
        this.thread = thread;
        this.bytes = countsBytes ? new Tally() : null;
    }

    CpuSection enter() {
        if (ended != null) settle();
        if (levels != 0) return enterInner();
        long allocated = bytes == null ? 0 : Allocation.ofCurrentThread();
        long cpu = TaskClock.cpuNanos();
        if (cpu < 0) return account.uncounted();
        levels = OUTER;
        open(cpu);
        if (bytes != null) openBytes(allocated);
        return this;
    }

    private CpuSection enterInner() {
        InnerSection inner = free;
        if (inner == null) inner = new InnerSection(this);
        else free = inner.nextFree;
        inner.open = true;
        levels += INNER;
        return inner;
    }

    @Override
    public void close() {
        if (levels == OUTER && ended == null && thread == Thread.currentThread()) end();
        else close(this);
    }

    /** Closes this one or one inside. */
    void close(CpuSection section) {
        if (thread != Thread.currentThread()) {
            closeElsewhere(section);
            return;
        }
        if (ended != null) settle();
        if (!isOpen(section)) {
            account.closedTwice();
            return;
        }
        if (section instanceof InnerSection inner) {
            inner.open = false;
            inner.nextFree = free;
            free = inner;
        }
        int level = level(section);
        if (levels == level) end();
        else levels -= level;
    }

    private static int level(CpuSection section) {
        return section instanceof InnerSection ? INNER : OUTER;
    }

    private boolean isOpen(CpuSection section) {
        return section instanceof InnerSection inner ? inner.open : (levels & OUTER) != 0;
    }

    /** Closes the last one that is open. */
    private void end() {
        end(TaskClock.cpuNanos(), bytes == null ? 0 : Allocation.ofCurrentThread());
        CpuLimit now = account.limit();
        if (now != null) report(now);
    }

    private void end(long cpu, long allocated) {
        levels = 0;
        if (cpu < 0) {
            forget();
            account.uncounted();
        } else {
            close(cpu);
        }
        if (bytes != null) closeBytes(allocated);
    }

    private void openBytes(long allocated) {
        if (allocated < 0) account.bytesUnknown();
        else bytes.open(allocated);
    }

    private void closeBytes(long allocated) {
        if (!isOpen(bytes.state())) return;
        if (allocated < 0) {
            account.bytesUnknown();
            bytes.forget();
        } else {
            bytes.close(allocated);
        }
    }

    private void report(CpuLimit now) {
        boolean isFirst = limit != now;
        long more = used() - (isFirst ? 0 : reported);
        if (!isFirst && more < now.allowance()) return;
        limit = now;
        reported = used();
        if (now.add(more)) account.look(now);
    }

    /** Leaves word for its thread, which alone may write. */
    private void closeElsewhere(CpuSection section) {
        long state = state();
        long cpu = clock().cpuNanos();
        if (!isOpen(state) || !isOpen(section)) {
            account.closedTwice();
            return;
        }
        // Of a thread that has ended nobody can say what it used: it is reported for that as well.
        if (cpu < 0 && !thread.isAlive()) {
            account.closedElsewhere();
            return;
        }
        Ended word;
        do {
            Ended earlier = ended;
            for (Ended e = earlier; e != null; e = e.earlier) {
                if (e.state == state && e.section == section) {
                    account.closedTwice();
                    return;
                }
            }
            word = new Ended(state, section, cpu, bytes == null ? 0 : Allocation.of(thread), earlier);
        } while (!ENDED.compareAndSet(this, word.earlier, word));
        account.closedElsewhere();
    }

    /** Does what others left word of. */
    private void settle() {
        Ended word;
        do {
            word = ended;
            Ended last = null;
            long state = state();
            for (Ended e = word; e != null; e = e.earlier) {
                if (e.state != state || !isOpen(e.section)) continue;
                if (e.section instanceof InnerSection inner) inner.open = false;
                levels -= level(e.section);
                if (last == null || e.cpu > last.cpu) last = e;
            }
            if (last != null && levels == 0) end(last.cpu, last.bytes);
            // Only now, so that no reader takes for running what has ended.
        } while (!ENDED.compareAndSet(this, word, null));
    }

    /** The word that ended it for now, if others have closed every section that is open; else null. */
    private Ended ended(long state) {
        Ended last = null;
        int count = 0;
        for (Ended e = ended; e != null; e = e.earlier) {
            if (e.state != state) continue;
            count++;
            if (last == null || e.cpu > last.cpu) last = e;
        }
        return count < levels / INNER + levels % INNER ? null : last;
    }

    /** What the thread has used by now. By one reader at a time, as the next. */
    long cpuNanos() {
        long state = state();
        if (!isOpen(state)) return tell(state, -1);
        Ended word = ended(state);
        return tell(state, word != null ? word.cpu : counter());
    }

    /** What the thread has allocated by now; -1 if that is not known. */
    long allocatedBytes() {
        long state = bytes.state();
        if (!isOpen(state)) return bytes.tell(state, -1);
        Ended word = ended(state());
        long counter = word != null ? word.bytes : Allocation.of(thread);
        return counter < 0 && thread.isAlive() ? -1 : bytes.tell(state, counter);
    }

    boolean isOpen() {
        long state = state();
        return isOpen(state) && ended(state) == null;
    }

    private long counter() {
        return thread == Thread.currentThread() ? TaskClock.cpuNanos() : clock().cpuNanos();
    }

    private ThreadClock clock() {
        ThreadClock found = clock;
        if (found == null) clock = found = ThreadClock.of(thread);
        return found;
    }
}
