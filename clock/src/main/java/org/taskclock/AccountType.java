// SPDX-License-Identifier: Apache-2.0
// Copyright the TaskClock authors
package org.taskclock;

import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.atomic.AtomicLongArray;
import java.util.concurrent.atomic.AtomicReferenceArray;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.Consumer;

/**
 * The accounts of one type, such as {@code tenant}. {@link CpuAccounts#type} creates it.
 *
 * <p><b>No double counting.</b> While several sections of one type are open on a thread, its CPU time counts only for
 * the innermost. So the accounts of a type add up to the CPU time of the process, with the rest in
 * {@link AccountReading#unaccounted()}.
 *
 * <p><b>Limited number.</b> At most {@value #DEFAULT_MAX_NAMES} accounts are shown under their name, see
 * {@link #maxNames}. The rest is shown together as {@value #OTHER}. Names are given to the busiest: three quarters go
 * to those that come first, and the last quarter to accounts that use at least 1 % of the type's CPU time between two
 * readings. If all names are taken, such an account replaces one that is much less busy. No row ever decreases, also if
 * an account gets its name back. Accounts without a name that have been idle for 10 s may be forgotten once there are
 * {@value #CAPACITY}; their time stays in {@value #OTHER}.
 *
 * <p>Thread-safe.
 */
public final class AccountType {
    /** The name of the row for the accounts that have no row of their own. */
    public static final String OTHER = "other";

    /** The number of accounts shown under their name, unless another one is set. */
    public static final int DEFAULT_MAX_NAMES = 100;

    /** The number of accounts that are distinguished. */
    static final int CAPACITY = 100_000;

    /** Longer names are cut. */
    static final int MAX_NAME_LENGTH = 200;

    // Details.

    static final int WAIT = 1;
    static final int BYTES = 2;
    static final int DISTRIBUTION = 4;

    // Elements of the shared object.

    private static final int ACCOUNTS = 0;
    private static final int THREADS = 1;
    private static final int OWN_SLOT = 2;
    private static final int LOCK = 3;
    private static final int NUMBERS = 4;
    private static final int DROPPED = 5;
    private static final int OTHER_ACCOUNT = 6;
    private static final int LENGTH = 7;

    private static final int MIN_SWEEP_THRESHOLD = 64;

    private final String name;

    /** By name. */
    private final ConcurrentHashMap<String, AtomicReferenceArray<Object>> accounts;
    /** Those of platform threads that have ever entered an account, and of virtual threads that are in one. */
    private final ConcurrentHashMap<Thread, AtomicReferenceArray<Object>> threads;
    /** That of the calling platform thread. */
    private final ThreadLocal<AtomicReferenceArray<Object>> ownSlot;

    private final AtomicLongArray numbers;
    private final NamedAccount other;
    private final AccountTable table;

    private final ConcurrentHashMap<String, CpuLimit> limits = new ConcurrentHashMap<>();
    private final CopyOnWriteArrayList<SectionListener> listeners = new CopyOnWriteArrayList<>();
    private volatile boolean isObserved;
    private volatile long limitNanos = -1;
    private volatile Consumer<String> limitCallback;
    private volatile int sweepThreshold = MIN_SWEEP_THRESHOLD;

    @SuppressWarnings("unchecked")
    AccountType(String name, Object[] shared) {
        this.name = name;
        this.accounts = (ConcurrentHashMap<String, AtomicReferenceArray<Object>>) shared[ACCOUNTS];
        this.threads = (ConcurrentHashMap<Thread, AtomicReferenceArray<Object>>) shared[THREADS];
        this.ownSlot = (ThreadLocal<AtomicReferenceArray<Object>>) shared[OWN_SLOT];
        this.numbers = (AtomicLongArray) shared[NUMBERS];
        this.other = new NamedAccount(this, (AtomicReferenceArray<Object>) shared[OTHER_ACCOUNT]);
        this.table = new AccountTable(
                this, (ReentrantLock) shared[LOCK], (List<AtomicReferenceArray<Object>>) shared[DROPPED]);
    }

    /** Returns what all copies share of a new type. */
    static Object[] createShared() {
        Object[] shared = new Object[LENGTH];
        shared[ACCOUNTS] = new ConcurrentHashMap<String, AtomicReferenceArray<Object>>();
        shared[THREADS] = new ConcurrentHashMap<Thread, AtomicReferenceArray<Object>>();
        shared[OWN_SLOT] = new ThreadLocal<AtomicReferenceArray<Object>>();
        shared[LOCK] = new ReentrantLock();
        AtomicLongArray numbers = new AtomicLongArray(AccountTable.NUMBERS_LENGTH);
        numbers.set(AccountTable.MAX_NAMES, DEFAULT_MAX_NAMES);
        shared[NUMBERS] = numbers;
        shared[DROPPED] = new ArrayList<AtomicReferenceArray<Object>>();
        shared[OTHER_ACCOUNT] = NamedAccount.create(OTHER);
        return shared;
    }

    /**
     * Returns the name of the type.
     *
     * @return the name, as passed to {@link CpuAccounts#type}
     */
    public String name() {
        return name;
    }

    /**
     * Returns an account. It can be kept, or looked up for each section.
     *
     * @param id its name, which may be any text; only the first {@value #MAX_NAME_LENGTH} characters count
     * @return the account, which is created if necessary; {@value #OTHER} if there are too many
     */
    public CpuAccount of(String id) {
        AtomicReferenceArray<Object> account = accounts.get(id);
        return account == null ? create(id) : new NamedAccount(this, account);
    }

    private CpuAccount create(String id) {
        String bounded = id.length() > MAX_NAME_LENGTH ? id.substring(0, MAX_NAME_LENGTH) : id;
        if (AccountReading.isReserved(bounded)) return other;
        if (accounts.mappingCount() >= CAPACITY) table.makeRoom();
        AtomicReferenceArray<Object> account = accounts.get(bounded);
        if (account == null) {
            if (accounts.mappingCount() >= CAPACITY) return other;
            account = accounts.computeIfAbsent(bounded, NamedAccount::create);
        }
        return new NamedAccount(this, account);
    }

    /**
     * Adds CPU time that was measured by other means than sections, such as that of threads which have ended.
     *
     * @param id the name of the account, as for {@link #of}
     * @param time what to add; ignored if it is unknown
     * @param sections what to add to the number of sections
     */
    public void add(String id, CpuTime time, long sections) {
        if (time.isKnown()) ((NamedAccount) of(id)).add(time, sections);
    }

    /**
     * Sets how many accounts are shown under their name. Applies to the whole process.
     *
     * @param count at least 4
     * @return this type
     * @throws IllegalArgumentException if the number is less than 4 or greater than 10,000
     */
    public AccountType maxNames(int count) {
        if (count < 4 || count > 10_000) throw new IllegalArgumentException("number of names: " + count);
        numbers.set(AccountTable.MAX_NAMES, count);
        return this;
    }

    /**
     * Also counts how long the threads were ready to run but had no processor, in sections that are opened from now on.
     * Entering and closing a section then take 2 us more each. Unknown for virtual threads.
     *
     * @return this type
     */
    public AccountType withWaitTime() {
        return with(WAIT);
    }

    /**
     * Also counts allocated bytes, in sections that are opened from now on. Entering and closing a section then cost
     * one more reading each. Unknown for virtual threads.
     *
     * @return this type
     */
    public AccountType withAllocatedBytes() {
        return with(BYTES);
    }

    /**
     * Also counts the sections of each account that has a name by their CPU time, in steps of 12 %. A section's CPU
     * time excludes that of other sections of this type inside it.
     *
     * @return this type
     */
    public AccountType withDistribution() {
        return with(DISTRIBUTION);
    }

    private AccountType with(int detail) {
        numbers.getAndAccumulate(AccountTable.DETAILS, detail, (a, b) -> a | b);
        return this;
    }

    /**
     * Sets a limit for each account, and replaces any earlier one. The callback runs once for an account, on the thread
     * that detects it: by closing a section, or by calling {@link #check()}.
     *
     * @param cpuNanos the CPU time that an account may use, in nanoseconds
     * @param callback receives the name of the account
     * @throws IllegalArgumentException if the limit is negative
     */
    public void limit(long cpuNanos, Consumer<String> callback) {
        if (cpuNanos < 0) throw new IllegalArgumentException("negative limit: " + cpuNanos + " ns");
        if (callback == null) throw new NullPointerException("callback");
        limits.clear();
        limitCallback = callback;
        limitNanos = cpuNanos;
        isObserved = true;
    }

    /**
     * Checks the limits of the accounts that have open sections. Call this from time to time if sections stay open for
     * long.
     */
    public void check() {
        for (OpenSection open : table.openSections()) {
            NamedAccount account = (NamedAccount) of(open.name());
            CpuLimit limit = account.limit();
            if (limit != null && !limit.isReached()) account.check(limit);
        }
    }

    /**
     * Adds a listener, which is called for each section that this copy of the library has opened, after it is closed.
     *
     * @param listener the listener, which runs on the section's thread
     * @return closes the subscription
     */
    public AutoCloseable listen(SectionListener listener) {
        if (listener == null) throw new NullPointerException("listener");
        listeners.add(listener);
        isObserved = true;
        return () -> listeners.remove(listener);
    }

    /**
     * Takes a reading of all accounts, which includes open sections.
     *
     * @return the reading
     */
    public AccountReading read() {
        return table.read();
    }

    /** Returns the slot of the calling thread. */
    AtomicReferenceArray<Object> slot(Thread thread) {
        if (ThreadType.isVirtual(thread)) {
            AtomicReferenceArray<Object> slot = threads.get(thread);
            return slot != null ? slot : addSlot(thread, true);
        }
        AtomicReferenceArray<Object> slot = ownSlot.get();
        if (slot == null) {
            slot = addSlot(thread, false);
            ownSlot.set(slot);
        }
        return slot;
    }

    private AtomicReferenceArray<Object> addSlot(Thread thread, boolean isVirtual) {
        if (!isVirtual && threads.size() >= sweepThreshold) {
            table.foldEnded();
            sweepThreshold = Math.max(MIN_SWEEP_THRESHOLD, 2 * threads.size());
        }
        AtomicReferenceArray<Object> slot = ThreadSlot.create(thread, isVirtual);
        threads.put(thread, slot);
        return slot;
    }

    /** Forgets the slot of the calling thread, which has no open section. */
    void releaseVirtual(Thread thread, AtomicReferenceArray<Object> slot) {
        ThreadSlot.flush(slot);
        threads.remove(thread);
    }

    /** Called after a section has been closed. */
    void closed(NamedAccount account, long nanos) {
        if ((details() & DISTRIBUTION) != 0) account.recordDistribution(nanos);
        if (!isObserved) return;
        for (SectionListener listener : listeners) listener.closed(account.name(), nanos);
        CpuLimit limit = account.limit();
        if (limit != null && !limit.isReached()) account.check(limit);
    }

    void setLimit(String account, CpuLimit limit) {
        limits.put(account, limit);
        isObserved = true;
    }

    CpuLimit limit(String account) {
        CpuLimit limit = limits.get(account);
        if (limit != null || limitNanos < 0) return limit;
        Consumer<String> callback = limitCallback;
        return limits.computeIfAbsent(account, a -> new CpuLimit(limitNanos, () -> callback.accept(a)));
    }

    /** Forgets the limit of an account that the registry has dropped. */
    void removeLimit(String account) {
        limits.remove(account);
    }

    int details() {
        return (int) numbers.getOpaque(AccountTable.DETAILS);
    }

    static long waitNanos() {
        Thread thread = Thread.currentThread();
        return Library.isLoaded() && !ThreadType.isVirtual(thread) ? Library.waitNanos() : -1;
    }

    AccountTable table() {
        return table;
    }

    AtomicLongArray numbers() {
        return numbers;
    }

    NamedAccount other() {
        return other;
    }

    ConcurrentHashMap<String, AtomicReferenceArray<Object>> accounts() {
        return accounts;
    }

    ConcurrentHashMap<Thread, AtomicReferenceArray<Object>> threads() {
        return threads;
    }
}
