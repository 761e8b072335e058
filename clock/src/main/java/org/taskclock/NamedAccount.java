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
    /** The {@link Distribution} of sections, as an AtomicLongArray; null until the account has a name of its own. */
    static final int DISTRIBUTION = 3;

    /** The account as an attribute for profilers, as a byte[]; null until it is needed. */
    private static final int ATTRIBUTE = 4;

    private static final int LENGTH = 5;

    private final AccountType type;
    private final AtomicReferenceArray<Object> shared;
    private final int hash;
    /** What its closed sections belong to; null unless this is the account of all deferred ones. */
    private final DeferredAccount deferred;

    NamedAccount(AccountType type, AtomicReferenceArray<Object> shared) {
        this(type, shared, null);
    }

    NamedAccount(AccountType type, AtomicReferenceArray<Object> shared, DeferredAccount deferred) {
        this.type = type;
        this.shared = shared;
        this.deferred = deferred;
        this.hash = hash(shared);
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

    /** Returns a hash code for the table of a thread. */
    static int hash(AtomicReferenceArray<Object> account) {
        int hash = name(account).hashCode();
        return (hash ^ hash >>> 16) << 1;
    }

    /** Returns the account as an attribute with the key of its type, for profilers. */
    static byte[] attribute(AtomicReferenceArray<Object> account, int key) {
        byte[] attribute = (byte[]) account.getAcquire(ATTRIBUTE);
        if (attribute == null) {
            attribute = ContextRecord.encode(key, name(account));
            account.setRelease(ATTRIBUTE, attribute);
        }
        return attribute;
    }

    AccountType type() {
        return type;
    }

    @Override
    public String name() {
        return name(shared);
    }

    AtomicReferenceArray<Object> shared() {
        return shared;
    }

    /** Counts a closed section by its CPU time, if this account has a row of its own. */
    void recordDistribution(long nanos) {
        AtomicLongArray sections = (AtomicLongArray) shared.getAcquire(DISTRIBUTION);
        if (sections != null) Distribution.record(sections, nanos);
    }

    void count(int counter) {
        add(counter, 1);
    }

    void add(int counter, long more) {
        counters(shared).getAndAdd(counter, more);
    }

    /** Adds usage that no thread has pending. The CPU time comes last, because a reader limits the user time to it. */
    void add(CpuTime time, long sections) {
        AtomicLongArray counters = counters(shared);
        int details = type.details();
        if ((details & AccountType.WAIT) != 0) counters.getAndIncrement(AccountCounters.UNKNOWN_WAIT);
        if ((details & AccountType.BYTES) != 0) counters.getAndIncrement(AccountCounters.UNKNOWN_BYTES);
        counters.getAndAdd(AccountCounters.SECTIONS, sections);
        counters.getAndAdd(AccountCounters.USER, time.userNanos());
        counters.getAndAdd(AccountCounters.CPU, time.cpuNanos());
    }

    @Override
    public CpuSection enter() {
        long now = TaskClock.pointNanos();
        if (now < 0) {
            count(AccountCounters.UNCOUNTED);
            return UncountedSection.INSTANCE;
        }
        Thread thread = Thread.currentThread();
        Object[] slot = type.slot(thread);
        long[] cell = AccountCells.find(slot, shared, hash);
        if (cell == null) {
            if (isDropped()) return registered().enter();
            cell = addCell(slot);
        }
        long id = ThreadSlot.open(slot, cell, now, type.details());
        ThreadContext.update(type, slot);
        return new NamedSection(this, thread, slot, id);
    }

    private long[] addCell(Object[] slot) {
        if (AccountCells.hasManyCells(slot)) type.table().foldOwn(slot);
        return AccountCells.add(slot, shared);
    }

    /** Called after a section has been closed. */
    void closed(long nanos, long[] numbers) {
        if (deferred == null) type.closed(this, nanos, ThreadSlot.details(numbers));
        else deferred.closed(nanos, ThreadSlot.userNanos(numbers, nanos));
    }

    private boolean isDropped() {
        return counters(shared).get(AccountCounters.DROPPED) != 0;
    }

    /** Returns the account of this name, after the registry may have dropped this one. */
    private NamedAccount registered() {
        return isDropped() ? type.named(name()) : this;
    }

    @Override
    public long cpuNanos() {
        return type.table().usage(registered()).cpuNanos();
    }

    @Override
    public CpuUsage now() {
        return type.table().usage(registered());
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
        long reported = current.reported();
        check(current, reported, cpuNanos());
    }

    static void check(CpuLimit current, long reported, long total) {
        if (current.update(reported, total, 1)) current.runCallback();
    }
}
