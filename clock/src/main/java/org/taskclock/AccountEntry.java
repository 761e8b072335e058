// SPDX-License-Identifier: Apache-2.0
// Copyright the TaskClock authors
package org.taskclock;

import java.util.concurrent.atomic.AtomicLongArray;
import java.util.concurrent.atomic.AtomicReferenceArray;

/**
 * A named account in one reading: its usage now, and its state, which readers of all copies of the library share. No
 * total ever decreases, although a reader may read a thread's clock slightly ahead of the thread itself.
 */
final class AccountEntry {
    // Elements of the state.

    /** The first counter of the usage as of the last reading. */
    private static final int TOTAL = 0;
    /** The first counter of the part that was counted for all accounts without a row. */
    private static final int HIDDEN = TOTAL + AccountCounters.COUNT;

    private static final int IS_NAMED = HIDDEN + AccountCounters.COUNT;
    /** Recent CPU time, as double. */
    private static final int SCORE = IS_NAMED + 1;

    /** When the account was last found in use, by System.nanoTime. */
    static final int ACTIVE_AT = SCORE + 1;
    /** The CPU time that was reported for the account alone. */
    private static final int REPORTED_CPU = ACTIVE_AT + 1;

    static final int STATE_LENGTH = REPORTED_CPU + 1;

    final AtomicReferenceArray<Object> account;
    private final AtomicLongArray counters;
    private final long[] state;
    private final long[] now = new long[AccountCounters.COUNT];
    private boolean isInUse;

    /** Reads the counters. */
    AccountEntry(AtomicReferenceArray<Object> account) {
        this.account = account;
        this.counters = NamedAccount.counters(account);
        this.state = (long[]) account.getPlain(NamedAccount.STATE);
        for (int i = 0; i < now.length; i++) now[i] = counters.get(i);
    }

    String name() {
        return NamedAccount.name(account);
    }

    /** Adds what a thread has not yet added to the account. */
    void add(int counter, long more) {
        isInUse = true;
        now[counter] += more;
    }

    /** Adds CPU time that may decrease, which {@link #settle} would prevent, to a row. */
    void addTo(long[] row) {
        long cpu = Math.max(0, now[AccountCounters.CPU]);
        row[AccountCounters.CPU] += cpu;
        row[AccountCounters.USER] += Math.max(0, Math.min(now[AccountCounters.USER], cpu));
    }

    /** Makes the usage final for this reading. */
    void settle(double decay, long nanoTime) {
        now[AccountCounters.CPU] = Math.max(now[AccountCounters.CPU], state[REPORTED_CPU]);
        for (int i = 0; i < now.length; i++) now[i] = Math.max(now[i], state[TOTAL + i]);
        long user = now[AccountCounters.USER] - state[TOTAL + AccountCounters.USER];
        now[AccountCounters.USER] = state[TOTAL + AccountCounters.USER] + Math.min(user, increase());
        state[SCORE] = Double.doubleToRawLongBits(score() * decay + increase());
        if (hasIncreased() || isInUse || state[ACTIVE_AT] == 0) state[ACTIVE_AT] = nanoTime;
    }

    /** Returns the CPU time since the last reading. */
    long increase() {
        return now[AccountCounters.CPU] - state[TOTAL + AccountCounters.CPU];
    }

    boolean hasIncreased() {
        for (int i = 0; i < now.length; i++) {
            if (now[i] > state[TOTAL + i]) return true;
        }
        return false;
    }

    double score() {
        return Double.longBitsToDouble(state[SCORE]);
    }

    /** Returns whether the account has a row of its own. */
    boolean isNamed() {
        return state[IS_NAMED] != 0;
    }

    void setNamed(boolean isNamed) {
        state[IS_NAMED] = isNamed ? 1 : 0;
    }

    /** Returns a counter of the account's row as of the last reading. */
    long row(int counter) {
        return state[TOTAL + counter] - state[HIDDEN + counter];
    }

    /** Adds the increase of a counter to the total. Returns the increase. */
    long count(int counter) {
        long more = now[counter] - state[TOTAL + counter];
        state[TOTAL + counter] = now[counter];
        if (!isNamed()) state[HIDDEN + counter] += more;
        return more;
    }

    boolean isIdle(long since) {
        return state[ACTIVE_AT] - since < 0;
    }

    boolean isDropped() {
        return counters.get(AccountCounters.DROPPED) != 0;
    }

    /** Makes the account unusable: a view of it that enters a section looks it up again. */
    void drop() {
        counters.set(AccountCounters.DROPPED, 1);
    }

    void startDistribution() {
        if (account.getPlain(NamedAccount.DISTRIBUTION) == null)
            account.setRelease(NamedAccount.DISTRIBUTION, new AtomicLongArray(Distribution.LENGTH));
    }

    AccountUsage rowUsage(AccountType type) {
        long[] row = new long[AccountCounters.COUNT];
        for (int i = 0; i < row.length; i++) row[i] = row(i);
        AtomicLongArray distribution = (AtomicLongArray) account.getPlain(NamedAccount.DISTRIBUTION);
        return usage(type, name(), row, distribution == null ? null : new Distribution(distribution));
    }

    static AccountUsage usage(AccountType type, String name, long[] counters, Distribution distribution) {
        int details = type.details();
        return new AccountUsage(
                type.name(),
                name,
                counters[AccountCounters.CPU],
                counters[AccountCounters.USER],
                (details & AccountType.WAIT) == 0 || counters[AccountCounters.UNKNOWN_WAIT] > 0
                        ? -1
                        : counters[AccountCounters.WAIT],
                (details & AccountType.BYTES) == 0 ? -1 : bytes(counters),
                counters[AccountCounters.SECTIONS],
                counters[AccountCounters.UNCOUNTED],
                counters[AccountCounters.UNCLOSED],
                counters[AccountCounters.CLOSED_ELSEWHERE] + counters[AccountCounters.CLOSED_TWICE],
                distribution);
    }

    private static long bytes(long[] counters) {
        return counters[AccountCounters.UNKNOWN_BYTES] > 0 ? -1 : counters[AccountCounters.BYTES];
    }

    /** Returns the CPU time of the account alone. */
    long cpuNanos() {
        long cpu = Math.max(now[AccountCounters.CPU], state[TOTAL + AccountCounters.CPU]);
        state[REPORTED_CPU] = Math.max(state[REPORTED_CPU], cpu);
        return state[REPORTED_CPU];
    }

    /** Returns the usage of the account alone. */
    CpuUsage usage(boolean hasBytes) {
        return new CpuUsage(
                cpuNanos(),
                hasBytes ? bytes(now) : -1,
                now[AccountCounters.UNCOUNTED],
                now[AccountCounters.UNCLOSED],
                now[AccountCounters.CLOSED_ELSEWHERE],
                now[AccountCounters.CLOSED_TWICE]);
    }
}
