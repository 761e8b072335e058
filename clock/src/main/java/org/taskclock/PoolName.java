// SPDX-License-Identifier: Apache-2.0
// Copyright the TaskClock authors
package org.taskclock;

/** The name of a thread pool, which its threads share. The agent, metrics, and all tools use the same names. */
public final class PoolName {
    /** Longer names are cut. Some programs put a request or a statement into the name of a thread. */
    static final int MAX_LENGTH = 200;

    private PoolName() {}

    /**
     * Returns the pool of a thread: its name with each number replaced with {@code #}. A name of more than 200
     * characters is cut and ends in {@code ~}. What has no encoding in UTF-8 is replaced with {@code ?}, so that names
     * that differ here also differ where they are sent. Any thread may call this.
     *
     * @param threadName the name of a thread, or of a pool, which stays the same
     * @return the name of the pool
     */
    public static String of(String threadName) {
        int length = threadName.length();
        int i = 0;
        while (i < length && i <= MAX_LENGTH && isPlain(threadName.charAt(i))) i++;
        if (i == length) return i <= MAX_LENGTH ? threadName : cut(new StringBuilder(threadName));
        StringBuilder pool = new StringBuilder(Math.min(length, MAX_LENGTH + 2)).append(threadName, 0, i);
        // Goes on to the first character that is too much, because the rest of a number is not.
        for (; i < length && pool.length() <= MAX_LENGTH; i++) {
            char c = threadName.charAt(i);
            if (!isDigit(c)) pool.append(c);
            else if (i == 0 || !isDigit(threadName.charAt(i - 1))) pool.append('#');
        }
        return cut(pool);
    }

    /** Returns a text with the same limit of length, and without what has no encoding in UTF-8. */
    static String bounded(String text) {
        return cut(new StringBuilder(text.substring(0, Math.min(text.length(), MAX_LENGTH + 1))));
    }

    private static String cut(StringBuilder pool) {
        boolean isTooLong = pool.length() > MAX_LENGTH;
        if (isTooLong) pool.setLength(MAX_LENGTH);
        for (int i = 0; i < pool.length(); i++) {
            char c = pool.charAt(i);
            if (!Character.isSurrogate(c)) continue;
            boolean isPair = Character.isHighSurrogate(c)
                    && i + 1 < pool.length()
                    && Character.isLowSurrogate(pool.charAt(i + 1));
            if (isPair) i++;
            else pool.setCharAt(i, '?');
        }
        return isTooLong ? pool.append('~').toString() : pool.toString();
    }

    private static boolean isPlain(char c) {
        return !isDigit(c) && !Character.isSurrogate(c);
    }

    private static boolean isDigit(char c) {
        return c >= '0' && c <= '9';
    }
}
