// SPDX-License-Identifier: Apache-2.0
// Copyright the TaskClock authors
package org.taskclock;

import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.Supplier;

/**
 * The named accounts of this process: who uses its CPU time, by tenant, query, endpoint, or whatever else a program
 * distinguishes.
 *
 * <pre>{@code
 * private static final AccountType TENANT = CpuAccounts.type("tenant");
 *
 * try (var section = TENANT.of(tenantId).enter()) {
 *     chain.doFilter(request, response);
 * }
 * }</pre>
 *
 * <p>All copies of the library in a process share one registry, including the agent's. So accounts are seen by tools
 * that attach to the process, and survive the class loader that created them. Copies that cannot share their state, and
 * those on the {@code mxbean} backend without the native library, each have their own.
 *
 * <p>Thread-safe.
 */
public final class CpuAccounts {
    /** Types are a program's vocabulary, not its data. */
    private static final int MAX_TYPES = 32;

    private static final int MAX_TYPE_LENGTH = 40;

    /** The types that this copy has used. */
    private static final ConcurrentHashMap<String, AccountType> TYPES = new ConcurrentHashMap<>();

    private CpuAccounts() {}

    /**
     * Returns the accounts of a type. Each type is a dimension of its own: a thread can have sections of several types
     * open, and each of them counts all its CPU time.
     *
     * @param name a word such as {@code tenant} or {@code endpoint}: up to 40 lower-case letters, digits, and the
     *     characters {@code . _ -}, starting with a letter
     * @return the type, which is created if necessary
     * @throws IllegalArgumentException if the name is not such a word
     * @throws IllegalStateException if the process already has 32 types
     */
    public static AccountType type(String name) {
        AccountType type = TYPES.get(name);
        return type == null ? create(name) : type;
    }

    private static AccountType create(String name) {
        if (!isValid(name)) throw new IllegalArgumentException("type of accounts is not a lower-case word: " + name);
        ConcurrentHashMap<String, Object> shared = Registry.SHARED;
        if (shared.size() >= MAX_TYPES && !shared.containsKey(name))
            throw new IllegalStateException(
                    "there are already " + MAX_TYPES + " types of accounts, so " + name + " cannot be added");
        Object type = shared.computeIfAbsent(name, n -> SharedAccountType.create());
        return TYPES.computeIfAbsent(name, n -> new AccountType(n, (Object[]) type));
    }

    private static boolean isValid(String name) {
        if (name.isEmpty() || name.length() > MAX_TYPE_LENGTH) return false;
        for (int i = 0; i < name.length(); i++) {
            char c = name.charAt(i);
            boolean isLetter = c >= 'a' && c <= 'z';
            boolean isOther = (c >= '0' && c <= '9') || c == '.' || c == '_' || c == '-';
            if (!isLetter && (i == 0 || !isOther)) return false;
        }
        return true;
    }

    /**
     * Takes a reading of all accounts of this process.
     *
     * @return one reading for each type, by name; empty if no copy of the library has created a type
     */
    public static List<AccountReading> read() {
        List<AccountReading> readings = new ArrayList<>();
        Registry.SHARED.keySet().stream()
                .sorted()
                .forEach(name -> readings.add(type(name).read()));
        return readings;
    }

    /** Returns the object under this name that all copies share, and creates it if there is none. */
    static Object shared(String name, Supplier<Object> create) {
        return Registry.VERSIONS.computeIfAbsent(name, n -> create.get());
    }

    /** Created at the first use of an account, because it loads the native library. */
    private static final class Registry {
        /** What all copies share, by a name with the version of its layout. */
        static final ConcurrentHashMap<String, Object> VERSIONS = find();
        /** By name of the type, a {@link SharedAccountType}. The name of this map is the version of its layout. */
        static final ConcurrentHashMap<String, Object> SHARED =
                cast(VERSIONS.computeIfAbsent("1", version -> new ConcurrentHashMap<String, Object>()));

        private static ConcurrentHashMap<String, Object> find() {
            ConcurrentHashMap<String, Object> own = new ConcurrentHashMap<>();
            Object shared = Library.isAvailable() ? Library.sharedObject(own) : own;
            return shared == null ? own : cast(shared); // null if no memory is left
        }

        @SuppressWarnings("unchecked")
        private static ConcurrentHashMap<String, Object> cast(Object map) {
            return (ConcurrentHashMap<String, Object>) map;
        }
    }
}
