// SPDX-License-Identifier: Apache-2.0
// Copyright the TaskClock authors
package org.taskclock.metrics;

/**
 * Identifies a named account among those of one JVM.
 *
 * @param type its type, such as {@code tenant}, which contains no equals sign
 * @param name its name, which may be any text
 */
public record AccountKey(String type, String name) {
    /** Returns the key as one text, which is what a pool of kind {@link ThreadKind#ACCOUNT} is called. */
    public String pool() {
        return type + "=" + name;
    }

    /** Returns the key that a text stands for; the type is empty if it has none. */
    public static AccountKey parse(String pool) {
        int end = Math.max(0, pool.indexOf('='));
        return new AccountKey(pool.substring(0, end), pool.substring(pool.isEmpty() || end == 0 ? end : end + 1));
    }
}
