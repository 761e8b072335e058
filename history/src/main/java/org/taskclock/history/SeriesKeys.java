// SPDX-License-Identifier: Apache-2.0
// Copyright the TaskClock authors
package org.taskclock.history;

import java.util.ArrayList;
import java.util.Collection;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.taskclock.AccountType;
import org.taskclock.metrics.AccountKey;
import org.taskclock.metrics.ThreadKind;
import org.taskclock.monitor.usage.ThreadUsage;

/**
 * The numbers that stand for JVMs, pools, and threads in the rows. Several numbers may stand for the same thread, but
 * not the reverse. Not thread-safe.
 */
final class SeriesKeys {
    /** Further pools of a JVM are combined, so that their names cannot fill the disk. */
    static final int MAX_POOLS = 500;

    static final String OTHER = "other";

    /** Further accounts of a JVM are combined by type. There is room for so many more sums of types. */
    static final int MAX_ACCOUNTS = 500;

    private static final int MAX_TYPES = 32;

    /** Further threads of a JVM have no history until older ones are forgotten. */
    static final int MAX_THREADS = 20_000;

    private static final int MAX_NAME = 500;

    /** About an hour. */
    private static final int MAX_UNSEEN = 6;

    private record PoolKey(String pool, ThreadKind kind) {}

    private record ThreadKey(int tid, String name) {}

    /** A JVM and the numbers of its pools and threads. */
    static final class Jvm {
        final int id;
        final JvmKey key;
        final int firstSeen;
        int lastSeen;

        /** The number of consecutive deletions of old rows between which the JVM was not seen. */
        int unseen;

        final OwnTime ownTime = new OwnTime();
        private final Map<PoolKey, Integer> pools = new HashMap<>();
        private final Map<PoolKey, Integer> accounts = new HashMap<>();
        private final Map<ThreadKey, Integer> threads = new HashMap<>();

        Jvm(int id, JvmKey key, int firstSeen) {
            this.id = id;
            this.key = key;
            this.firstSeen = firstSeen;
            lastSeen = firstSeen;
        }
    }

    record NewPool(int series, int jvm, String pool, ThreadKind kind) {}

    record NewThread(int series, int jvm, int tid, String name, String pool, ThreadKind kind) {}

    private final Map<String, Jvm> jvms = new HashMap<>();
    private int lastJvm;
    private int lastPool;
    private int lastThread;

    /** Not written yet. */
    final List<Jvm> newJvms = new ArrayList<>();

    final List<NewPool> newPools = new ArrayList<>();
    final List<NewThread> newThreads = new ArrayList<>();

    /** Continues after the largest numbers in the file, and with the JVMs that are in it. */
    void restore(Map<String, Jvm> known, int jvm, int pool, int thread) {
        jvms.putAll(known);
        lastJvm = jvm;
        lastPool = pool;
        lastThread = thread;
    }

    /** Marks all keys as new, because the file was replaced with an empty one. */
    void forgetWritten() {
        newJvms.clear();
        newPools.clear();
        newThreads.clear();
        for (Jvm jvm : jvms.values()) {
            newJvms.add(jvm);
            jvm.pools.forEach((key, series) -> addPool(jvm, key, series));
            jvm.accounts.forEach((key, series) -> addPool(jvm, key, series));
            // The pools of threads are not stored, so threads get new numbers.
            jvm.threads.clear();
        }
    }

    void removeWritten() {
        newJvms.clear();
        newPools.clear();
        newThreads.clear();
    }

    Map<String, Jvm> jvms() {
        return jvms;
    }

    Jvm jvm(JvmKey key, int from, int to) {
        Jvm jvm = jvms.get(key.id());
        if (jvm == null) {
            jvm = new Jvm(++lastJvm, key, from);
            jvms.put(key.id(), jvm);
            newJvms.add(jvm);
        }
        jvm.lastSeen = Math.max(jvm.lastSeen, to);
        jvm.unseen = 0;
        return jvm;
    }

    /** Returns the number of a pool or an account; 0 if there are too many types of accounts. */
    int pool(Jvm jvm, ThreadUsage usage) {
        boolean isAccount = usage.kind() == ThreadKind.ACCOUNT;
        Map<PoolKey, Integer> known = isAccount ? jvm.accounts : jvm.pools;
        PoolKey key = new PoolKey(cut(usage.pool()), usage.kind());
        if (!known.containsKey(key) && known.size() >= (isAccount ? MAX_ACCOUNTS : MAX_POOLS)) key = rest(key);
        Integer series = known.get(key);
        if (series != null) return series;
        if (known.size() >= MAX_ACCOUNTS + MAX_TYPES) return 0;
        series = ++lastPool;
        known.put(key, series);
        addPool(jvm, key, series);
        return series;
    }

    /** Returns the key for the sum of pools, or of accounts of one type. */
    private static PoolKey rest(PoolKey key) {
        if (key.kind != ThreadKind.ACCOUNT) return new PoolKey(OTHER, ThreadKind.JAVA);
        return new PoolKey(new AccountKey(AccountKey.parse(key.pool).type(), AccountType.OTHER).pool(), key.kind);
    }

    private void addPool(Jvm jvm, PoolKey key, int series) {
        newPools.add(new NewPool(series, jvm.id, key.pool, key.kind));
    }

    /** Returns the number of a thread; 0 if there are too many. */
    int thread(Jvm jvm, ThreadUsage usage) {
        ThreadKey key = new ThreadKey(usage.tid(), cut(usage.name()));
        Integer known = jvm.threads.get(key);
        if (known != null) return known;
        if (jvm.threads.size() >= MAX_THREADS) return 0;
        int series = ++lastThread;
        jvm.threads.put(key, series);
        newThreads.add(new NewThread(series, jvm.id, key.tid, key.name, cut(usage.pool()), usage.kind()));
        return series;
    }

    /** Makes room for new threads, and forgets JVMs that were not seen during the last {@value #MAX_UNSEEN} calls. */
    void forget() {
        if (!newJvms.isEmpty() || !newThreads.isEmpty() || !newPools.isEmpty()) return;
        for (Jvm jvm : jvms.values()) jvm.threads.clear();
        jvms.values().removeIf(jvm -> ++jvm.unseen > MAX_UNSEEN);
    }

    /** Returns the numbers of the JVMs. */
    Collection<Integer> numbers() {
        return jvms.values().stream().map(jvm -> jvm.id).toList();
    }

    static String cut(String name) {
        return name == null || name.length() <= MAX_NAME ? name : name.substring(0, MAX_NAME);
    }
}
