// SPDX-License-Identifier: Apache-2.0
// Copyright the TaskClock authors
package org.taskclock;

import java.util.concurrent.atomic.AtomicLongArray;
import java.util.concurrent.atomic.AtomicReferenceArray;

/**
 * A view of an account of the registry. The account itself consists of JDK classes, because all copies of the library
 * in a process share it.
 */
final class NamedAccount extends CpuAccount {
    // Elements of an account.

    static final int NAME = 0;
    /** An AtomicLongArray; see {@link AccountCounters}. */
    static final int COUNTERS = 1;
    /** What readers know about the account, as a long[]; see {@link AccountEntry}. */
    static final int STATE = 2;
    /** The numbers of sections by CPU time, as an AtomicLongArray; null until the account has a name of its own. */
    static final int DISTRIBUTION = 3;

    private static final int LENGTH = 4;

    private final AccountType type;
    private final AtomicReferenceArray<Object> shared;
    private final AtomicLongArray counters;

    NamedAccount(AccountType type, AtomicReferenceArray<Object> shared) {
        this.type = type;
        this.shared = shared;
        this.counters = counters(shared);
    }

    static AtomicReferenceArray<Object> create(String name) {
        AtomicReferenceArray<Object> account = new AtomicReferenceArray<>(LENGTH);
        account.setPlain(NAME, name);
        account.setPlain(COUNTERS, new AtomicLongArray(AccountCounters.LENGTH));
        account.setPlain(STATE, new long[AccountEntry.STATE_LENGTH]);
        return account;
    }

    static AtomicLongArray counters(AtomicReferenceArray<Object> account) {
        return (AtomicLongArray) account.getPlain(COUNTERS);
    }

    static String name(AtomicReferenceArray<Object> account) {
        return (String) account.getPlain(NAME);
    }

    AccountType type() {
        return type;
    }

    String name() {
        return name(shared);
    }

    AtomicReferenceArray<Object> shared() {
        return shared;
    }

    /** Counts a closed section by its CPU time, if this account has a row of its own. */
    void recordDistribution(long nanos) {
        AtomicLongArray sections = (AtomicLongArray) shared.getAcquire(DISTRIBUTION);
        if (sections != null) sections.getAndIncrement(Distribution.bucket(nanos));
    }

    void count(int counter) {
        counters.getAndIncrement(counter);
    }

    /** Adds usage that no thread has pending. The CPU time comes last, because a reader limits the user time to it. */
    void add(CpuTime time, long sections) {
        counters.getAndAdd(AccountCounters.SECTIONS, sections);
        counters.getAndAdd(AccountCounters.USER, time.userNanos());
        counters.getAndAdd(AccountCounters.CPU, time.cpuNanos());
    }

    @Override
    public CpuSection enter() {
        if (counters.getOpaque(AccountCounters.DROPPED) != 0)
            return type.of(name()).enter();
        Thread thread = Thread.currentThread();
        long now = TaskClock.pointNanos();
        if (now < 0) {
            count(AccountCounters.UNCOUNTED);
            return UncountedSection.INSTANCE;
        }
        return NamedSection.open(this, type.slot(thread), now);
    }

    @Override
    public long cpuNanos() {
        return type.table().usage(this).cpuNanos();
    }

    @Override
    public CpuUsage now() {
        return type.table().usage(this);
    }

    @Override
    public CpuUsage done() {
        return now();
    }

    @Override
    void setLimit(CpuLimit limit) {
        type.setLimit(name(), limit);
    }

    @Override
    CpuLimit limit() {
        return type.limit(name());
    }

    @Override
    void check(CpuLimit current) {
        if (current.reach(cpuNanos())) current.runCallback();
    }
}
