// SPDX-License-Identifier: Apache-2.0
// Copyright the TaskClock authors
package org.taskclock.opentelemetry;

import java.lang.ref.Reference;
import java.lang.ref.ReferenceQueue;
import java.lang.ref.WeakReference;
import java.util.concurrent.ConcurrentHashMap;

/** A map that compares keys by identity and drops the entries of those that have been collected. Thread-safe. */
final class WeakIdentityMap<K, V> {
    private static final class Key extends WeakReference<Object> {
        private final int hash;

        Key(Object referent, ReferenceQueue<Object> queue) {
            super(referent, queue);
            hash = System.identityHashCode(referent);
        }

        @Override
        public int hashCode() {
            return hash;
        }

        /** A collected key is equal only to itself. */
        @Override
        public boolean equals(Object other) {
            if (this == other) return true;
            Object referent = get();
            return referent != null && other instanceof Key key && key.get() == referent;
        }
    }

    private final ConcurrentHashMap<Key, V> entries = new ConcurrentHashMap<>();
    private final ReferenceQueue<Object> collected = new ReferenceQueue<>();

    V get(K key) {
        return entries.get(new Key(key, null));
    }

    void put(K key, V value) {
        for (Reference<?> each = collected.poll(); each != null; each = collected.poll()) entries.remove((Key) each);
        entries.put(new Key(key, collected), value);
    }

    V remove(K key) {
        return entries.remove(new Key(key, null));
    }

    int size() {
        return entries.size();
    }
}
