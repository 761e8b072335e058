// SPDX-License-Identifier: Apache-2.0
// Copyright the TaskClock authors
package org.taskclock;

import java.util.ArrayList;
import java.util.Collection;
import java.util.Comparator;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLongArray;
import java.util.concurrent.atomic.AtomicReferenceArray;
import java.util.concurrent.locks.ReentrantLock;
import java.util.stream.Collectors;

/**
 * Reads the accounts of a type, and decides which of them have a row of their own. Readers of all copies of the library
 * share the lock and the state.
 */
final class AccountTable {
    // The numbers of a type.

    static final int MAX_NAMES = 0;
    static final int DETAILS = 1;
    /** The last reading's time by System.nanoTime. */
    private static final int READ_AT = 2;

    private static final int UNACCOUNTED_CPU = 3;
    private static final int UNACCOUNTED_USER = 4;
    /** The first counter of the usage of accounts while they had no row. */
    private static final int OTHER = 5;
    /** The first counter of the rows that are not shown now. */
    private static final int RETIRED = OTHER + AccountCounters.COUNT;

    static final int NUMBERS_LENGTH = RETIRED + AccountCounters.COUNT;

    private static final double HALF_LIFE_NANOS = TimeUnit.MINUTES.toNanos(1);
    private static final double BUSY_SHARE = 0.01;
    /** How many times as busy an account must be to take another one's row. */
    private static final double MIN_RATIO = 2;

    private static final long IDLE_NANOS = TimeUnit.SECONDS.toNanos(10);

    private final AccountType type;
    private final ReentrantLock lock;
    /** Accounts that were dropped from the registry, but got usage since the last reading. Guarded by the lock. */
    private final List<AtomicReferenceArray<Object>> dropped;

    private final SlotReader slots;
    private final ProcessClock process = ProcessClock.current();
    private AccountEntry pending; // guarded by the lock
    private volatile long roomMadeAt = System.nanoTime() - IDLE_NANOS;

    AccountTable(
            AccountType type,
            ReentrantLock lock,
            ConcurrentHashMap<Long, Object[]> threads,
            List<AtomicReferenceArray<Object>> dropped) {
        this.type = type;
        this.lock = lock;
        this.dropped = dropped;
        this.slots = new SlotReader(type.name(), threads, dropped);
    }

    AccountReading read() {
        lock.lock();
        try {
            // First, so that sections that run now do not count as outside of sections for ever.
            CpuTime processTime = process.now();
            List<OpenSection> open = new ArrayList<>();
            List<AccountEntry> entries = update(open);
            return reading(entries, OpenSection.longestFirst(open), processTime);
        } finally {
            lock.unlock();
        }
    }

    /** Returns the CPU time of the accounts with open sections, by name. */
    Map<String, Long> openAccounts() {
        lock.lock();
        try {
            List<OpenSection> open = new ArrayList<>();
            slots.read(account -> null, open);
            return cpuNanos(open.stream().map(OpenSection::name).collect(Collectors.toSet()));
        } finally {
            lock.unlock();
        }
    }

    /** Returns the CPU time of accounts by name, without those that do not exist. */
    Map<String, Long> cpuNanos(Collection<String> names) {
        lock.lock();
        try {
            slots.foldEnded();
            Map<AtomicReferenceArray<Object>, AccountEntry> entries = new HashMap<>();
            for (String name : names) {
                AtomicReferenceArray<Object> account = type.find(name);
                if (account != null) entries.put(account, new AccountEntry(account));
            }
            slots.read(entries::get, new ArrayList<>());
            return entries.values().stream().collect(Collectors.toMap(AccountEntry::name, AccountEntry::cpuNanos));
        } finally {
            lock.unlock();
        }
    }

    /** Returns the usage of one account. */
    CpuUsage usage(NamedAccount account) {
        lock.lock();
        try {
            slots.foldEnded();
            AccountEntry entry = new AccountEntry(account.shared());
            slots.read(each -> each == entry.account ? entry : null, new ArrayList<>());
            return entry.usage((type.details() & AccountType.BYTES) != 0);
        } finally {
            lock.unlock();
        }
    }

    /** Adds the usage of ended threads to their accounts. Like the next two methods, does nothing during a reading. */
    void foldEnded() {
        ifUnlocked(slots::foldEnded);
    }

    /** Adds usage of the calling thread to its accounts. */
    void foldOwn(Object[] slot) {
        ifUnlocked(() -> slots.foldOwn(slot));
    }

    /** Adds all usage of the calling thread, which has no open section, to its accounts, and forgets its slot. */
    void release(Object[] slot) {
        ifUnlocked(() -> slots.release(slot));
    }

    private void ifUnlocked(Runnable action) {
        if (!lock.tryLock()) return;
        try {
            action.run();
        } finally {
            lock.unlock();
        }
    }

    /** Drops idle accounts, at most once in a while, and not while another thread reads. */
    void makeRoom() {
        if (System.nanoTime() - roomMadeAt < IDLE_NANOS) return;
        ifUnlocked(() -> {
            roomMadeAt = System.nanoTime();
            update(new ArrayList<>());
        });
    }

    /** Brings the state of all accounts up to date. */
    private List<AccountEntry> update(List<OpenSection> open) {
        slots.foldEnded();
        Map<AtomicReferenceArray<Object>, AccountEntry> byAccount = new HashMap<>();
        // First, because time leaves it after it has been added to another account.
        pending = new AccountEntry(type.pending);
        byAccount.put(pending.account, pending);
        for (AtomicReferenceArray<Object> account : type.accounts().values())
            byAccount.put(account, new AccountEntry(account));
        for (AtomicReferenceArray<Object> account : dropped) byAccount.put(account, new AccountEntry(account));
        AccountEntry other = new AccountEntry(type.other().shared());
        byAccount.put(other.account, other);
        // Threads may also have used accounts that were dropped meanwhile.
        slots.read(account -> byAccount.computeIfAbsent(account, AccountEntry::new), open);
        byAccount.remove(pending.account);
        long now = System.nanoTime();
        double decay = Math.pow(0.5, Math.max(0, now - type.numbers().get(READ_AT)) / HALF_LIFE_NANOS);
        for (AccountEntry entry : byAccount.values()) entry.settle(decay, now);
        type.numbers().set(READ_AT, now);
        List<AccountEntry> entries = new ArrayList<>(byAccount.values());
        nameBusiest(entries, other);
        for (AccountEntry entry : entries) count(entry);
        dropped.clear();
        forgetIdle(entries, other, now);
        return entries;
    }

    /** Gives rows to the busiest accounts. */
    private void nameBusiest(List<AccountEntry> entries, AccountEntry other) {
        long increase = 0;
        List<AccountEntry> named = new ArrayList<>();
        List<AccountEntry> candidates = new ArrayList<>();
        for (AccountEntry entry : entries) {
            increase += entry.increase();
            if (entry.isNamed()) named.add(entry);
            else if (entry != other && entry.hasIncreased() && !entry.isDropped()) candidates.add(entry);
        }
        candidates.sort(Comparator.comparingLong(AccountEntry::increase).reversed());
        named.sort(Comparator.comparingDouble(AccountEntry::score));
        int maxNames = (int) type.numbers().get(MAX_NAMES);
        int count = named.size();
        int replaced = 0;
        for (; count > maxNames; count--) retire(named.get(replaced++));
        for (AccountEntry candidate : candidates) {
            boolean isBusy = candidate.increase() > BUSY_SHARE * increase;
            if (count < (isBusy ? maxNames : maxNames * 3 / 4)) {
                count++;
            } else if (isBusy
                    && replaced < named.size()
                    && candidate.score() > MIN_RATIO * named.get(replaced).score()) {
                retire(named.get(replaced++));
            } else {
                break;
            }
            addToRetired(candidate, -1);
            candidate.setNamed(true);
        }
    }

    private void retire(AccountEntry entry) {
        entry.setNamed(false);
        addToRetired(entry, 1);
    }

    private void addToRetired(AccountEntry entry, int sign) {
        for (int i = 0; i < AccountCounters.COUNT; i++) type.numbers().addAndGet(RETIRED + i, sign * entry.row(i));
    }

    /** Adds what an account has used since the last reading to its row, or to that of all others. */
    private void count(AccountEntry entry) {
        for (int i = 0; i < AccountCounters.COUNT; i++) {
            long more = entry.count(i);
            if (more != 0 && !entry.isNamed()) type.numbers().addAndGet(OTHER + i, more);
        }
        if (entry.isNamed() && (type.details() & AccountType.DISTRIBUTION) != 0) entry.startDistribution();
    }

    /** Forgets idle accounts without a row if there are many. */
    private void forgetIdle(List<AccountEntry> entries, AccountEntry other, long now) {
        if (type.accounts().mappingCount() < AccountType.CAPACITY / 2) return;
        for (AccountEntry entry : entries) {
            if (entry == other || entry.isNamed() || entry.isDropped() || !entry.isIdle(now - IDLE_NANOS)) continue;
            type.accounts().remove(entry.name());
            entry.drop();
        }
    }

    private AccountReading reading(List<AccountEntry> entries, List<OpenSection> open, CpuTime processTime) {
        List<AccountUsage> rows = new ArrayList<>();
        long cpu = 0;
        long user = 0;
        for (AccountEntry entry : entries) {
            if (!entry.isNamed()) continue;
            AccountUsage row = entry.rowUsage(type);
            cpu += row.cpuNanos();
            user += row.userNanos();
            rows.add(row);
        }
        rows.sort(Comparator.comparingLong(AccountUsage::cpuNanos).reversed());
        AccountUsage other = row(AccountType.OTHER, counters(OTHER));
        long[] hidden = counters(RETIRED);
        pending.addTo(hidden);
        AccountUsage retired = row(AccountReading.RETIRED, hidden);
        if (other.cpuNanos() + other.sections() + other.uncounted() > 0) rows.add(other);
        CpuTime unaccounted = unaccounted(
                processTime,
                cpu + other.cpuNanos() + retired.cpuNanos(),
                user + other.userNanos() + retired.userNanos());
        return new AccountReading(
                type.name(),
                List.copyOf(rows),
                retired,
                unaccounted,
                type.accounts().size(),
                open);
    }

    private long[] counters(int first) {
        long[] counters = new long[AccountCounters.COUNT];
        for (int i = 0; i < counters.length; i++) counters[i] = type.numbers().get(first + i);
        return counters;
    }

    private AccountUsage row(String name, long[] counters) {
        return AccountEntry.usage(type, name, counters, null);
    }

    /** Returns the CPU time of the process that is not in any row. */
    private CpuTime unaccounted(CpuTime now, long cpu, long user) {
        if (now.cpuNanos() < 0) return CpuTime.UNKNOWN;
        AtomicLongArray numbers = type.numbers();
        long lastCpu = numbers.get(UNACCOUNTED_CPU);
        long more = Math.max(0, now.cpuNanos() - cpu - lastCpu);
        long lastUser = numbers.get(UNACCOUNTED_USER);
        long moreUser = Math.max(0, Math.min(now.userNanos() - user - lastUser, more));
        numbers.set(UNACCOUNTED_CPU, lastCpu + more);
        numbers.set(UNACCOUNTED_USER, lastUser + moreUser);
        return new CpuTime(lastCpu + more, lastUser + moreUser, lastCpu + more - lastUser - moreUser);
    }
}
