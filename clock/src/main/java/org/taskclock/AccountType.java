// SPDX-License-Identifier: Apache-2.0
// Copyright the TaskClock authors
package org.taskclock;

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
 * to those that come first, and the last quarter to accounts that use more than 1 % of the type's CPU time between two
 * readings. If all names are taken, such an account replaces one that is much less busy. No row ever decreases, also if
 * an account gets its name back. Accounts without a name that have been idle for 10 s may be forgotten once there are
 * {@value #CAPACITY}; their time stays in {@value #OTHER}, and a later section of that name starts a new account.
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

    // Details.

    static final int WAIT = 1;
    static final int BYTES = 2;
    static final int DISTRIBUTION = 4;

    private final String name;

    private final ConcurrentHashMap<String, AtomicReferenceArray<Object>> accounts; // by name
    private final AtomicLongArray numbers;
    private final NamedAccount other;
    /** Has the sections of all deferred accounts until their names are known. */
    final AtomicReferenceArray<Object> pending;

    private final AccountTable table;
    private final ThreadSlots slots;
    private final CopyOnWriteArrayList<SectionListener> listeners = new CopyOnWriteArrayList<>();
    private volatile AccountLimits limits;
    private volatile boolean isObserved;
    /** The index of this type's key for profilers, plus 1; 0 until it is needed. */
    private int contextKey;

    @SuppressWarnings("unchecked")
    AccountType(String name, Object[] shared) {
        var threads = (ConcurrentHashMap<Long, Object[]>) shared[SharedAccountType.THREADS];
        var dropped = (List<AtomicReferenceArray<Object>>) shared[SharedAccountType.DROPPED];
        this.name = name;
        this.accounts = (ConcurrentHashMap<String, AtomicReferenceArray<Object>>) shared[SharedAccountType.ACCOUNTS];
        this.numbers = (AtomicLongArray) shared[SharedAccountType.NUMBERS];
        this.other = new NamedAccount(this, (AtomicReferenceArray<Object>) shared[SharedAccountType.OTHER_ACCOUNT]);
        this.pending = (AtomicReferenceArray<Object>) shared[SharedAccountType.PENDING_ACCOUNT];
        this.table = new AccountTable(this, (ReentrantLock) shared[SharedAccountType.LOCK], threads, dropped);
        this.slots = new ThreadSlots(threads, (ThreadLocal<Object[]>) shared[SharedAccountType.OWN_SLOT], table);
        this.limits = new AccountLimits(accounts, -1, null);
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
     * @param id its name, which may be any text. A name of more than 200 characters is cut and ends in {@code ~}. What
     *     has no encoding in UTF-8 is replaced with {@code ?}.
     * @return the account, which is created if necessary; {@value #OTHER} if there are too many
     */
    public CpuAccount of(String id) {
        return named(id);
    }

    /**
     * Creates an account whose name becomes known later.
     *
     * @return the account, for one piece of work, such as a request
     */
    public DeferredAccount deferred() {
        return new DeferredAccount(this);
    }

    NamedAccount named(String id) {
        boolean mayExist = id.length() <= PoolName.MAX_LENGTH + 1;
        AtomicReferenceArray<Object> account = mayExist ? accounts.get(id) : null;
        return account == null ? create(PoolName.bounded(id)) : new NamedAccount(this, account);
    }

    /** Returns the account with this name; null if there is none. */
    AtomicReferenceArray<Object> find(String id) {
        return AccountReading.isReserved(id) ? other.shared() : accounts.get(id);
    }

    private NamedAccount create(String id) {
        if (AccountReading.isReserved(id)) return other;
        if (accounts.mappingCount() >= CAPACITY) table.makeRoom();
        AtomicReferenceArray<Object> account = accounts.get(id);
        if (account == null && accounts.mappingCount() >= CAPACITY) return other;
        return new NamedAccount(this, accounts.computeIfAbsent(id, NamedAccount::create));
    }

    /**
     * Adds CPU time that was measured by other means than sections, such as that of threads which have ended.
     *
     * @param id the name of the account, as for {@link #of}
     * @param time what to add; ignored if it is unknown
     * @param sections what to add to the number of sections
     */
    public void add(String id, CpuTime time, long sections) {
        if (time.isKnown()) named(id).add(time, sections);
    }

    /**
     * Sets how many accounts are shown under their name. Applies to the whole process.
     *
     * @param count at least 4
     * @return this type
     * @throws IllegalArgumentException if the number is less than 4 or greater than 1,000
     */
    public AccountType maxNames(int count) {
        if (count < 4 || count > 1_000) throw new IllegalArgumentException("number of names: " + count);
        numbers.set(AccountTable.MAX_NAMES, count);
        return this;
    }

    /**
     * Also counts how long the threads were ready to run but had no processor, in sections that are opened from now on.
     * Unknown for an account with a section on a virtual thread.
     *
     * @return this type
     */
    public AccountType withWaitTime() {
        return with(WAIT);
    }

    /**
     * Also counts allocated bytes, in sections that are opened from now on. Unknown for an account with a section on a
     * virtual thread.
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
        limits = new AccountLimits(accounts, cpuNanos, callback);
        isObserved = true;
    }

    /**
     * Checks the limits of the accounts that have open sections. Call this from time to time if sections stay open for
     * long.
     */
    public void check() {
        AccountLimits current = limits;
        if (!current.isEmpty()) table.openAccounts().forEach(current::check);
    }

    /**
     * Adds a listener, which is called for each section that this copy of the library has opened, after it is closed.
     * The times that it receives add up to those of the accounts, except for sections that were never closed.
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

    /** Called after a section has been closed. */
    void closed(NamedAccount account, long nanos, int details) {
        if ((details & DISTRIBUTION) != 0) account.recordDistribution(nanos);
        if (isObserved || AccountEvents.Writers.areUsed()) report(account, nanos);
    }

    private void report(NamedAccount account, long nanos) {
        AccountEvents.Writers.write(name, account.name(), nanos);
        for (SectionListener listener : listeners) listener.closed(account.name(), nanos);
        CpuLimit limit = limit(account.name());
        if (limit != null && limit.report(nanos)) account.check(limit);
    }

    void setLimit(String account, CpuLimit limit) {
        limits.set(account, limit);
        isObserved = true;
    }

    CpuLimit limit(String account) {
        return limits.of(account);
    }

    int limitCount() {
        return limits.count();
    }

    int details() {
        return (int) numbers.getOpaque(AccountTable.DETAILS);
    }

    int contextKey() {
        if (contextKey == 0) contextKey = ThreadContext.key(name) + 1;
        return contextKey - 1;
    }

    /** Returns the slot of the calling thread. */
    Object[] slot(Thread thread) {
        return slots.get(thread);
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
}
