// SPDX-License-Identifier: Apache-2.0
// Copyright the TaskClock authors
package org.taskclock;

import java.util.ArrayList;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicLongArray;
import java.util.concurrent.atomic.AtomicReferenceArray;
import java.util.concurrent.locks.ReentrantLock;

/** What all copies of the library share of an {@link AccountType}: an array of these elements. */
final class SharedAccountType {
    static final int ACCOUNTS = 0;
    static final int THREADS = 1;
    static final int OWN_SLOT = 2;
    static final int LOCK = 3;
    static final int NUMBERS = 4;
    static final int DROPPED = 5;
    static final int OTHER_ACCOUNT = 6;
    static final int PENDING_ACCOUNT = 7;
    private static final int LENGTH = 8;

    private SharedAccountType() {}

    static Object[] create() {
        Object[] shared = new Object[LENGTH];
        shared[ACCOUNTS] = new ConcurrentHashMap<String, AtomicReferenceArray<Object>>();
        shared[THREADS] = new ConcurrentHashMap<Long, Object[]>();
        shared[OWN_SLOT] = new ThreadLocal<Object[]>();
        shared[LOCK] = new ReentrantLock();
        AtomicLongArray numbers = new AtomicLongArray(AccountTable.NUMBERS_LENGTH);
        numbers.set(AccountTable.MAX_NAMES, AccountType.DEFAULT_MAX_NAMES);
        shared[NUMBERS] = numbers;
        shared[DROPPED] = new ArrayList<AtomicReferenceArray<Object>>();
        shared[OTHER_ACCOUNT] = NamedAccount.create(AccountType.OTHER);
        shared[PENDING_ACCOUNT] = NamedAccount.create(AccountReading.PENDING);
        return shared;
    }
}
