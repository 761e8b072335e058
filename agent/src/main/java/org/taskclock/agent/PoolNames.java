// SPDX-License-Identifier: Apache-2.0
// Copyright the TaskClock authors
package org.taskclock.agent;

/** Derives the names of thread pools from the names of their threads. */
final class PoolNames {
    /** Stands for all pools for which there is no room. */
    static final String OTHER = "(other)";

    private PoolNames() {}

    /** Returns the name with each number replaced with #. */
    static String poolName(String name) {
        int length = name.length();
        int i = 0;
        while (i < length && !isDigit(name.charAt(i))) i++;
        if (i == length) return name;
        StringBuilder pool = new StringBuilder(length).append(name, 0, i);
        for (; i < length; i++) {
            char c = name.charAt(i);
            if (!isDigit(c)) pool.append(c);
            else if (i == 0 || !isDigit(name.charAt(i - 1))) pool.append('#');
        }
        return pool.toString();
    }

    /** Returns the pool of a virtual thread. Most have no name. */
    static String ofVirtual(Thread thread) {
        String name = thread.getName();
        return name.isEmpty() ? "(unnamed)" : poolName(name);
    }

    private static boolean isDigit(char c) {
        return c >= '0' && c <= '9';
    }
}
