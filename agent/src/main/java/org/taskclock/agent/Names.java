// SPDX-License-Identifier: Apache-2.0
// Copyright the TaskClock authors
package org.taskclock.agent;

/** Names of threads, so that those of one pool share one. */
final class Names {
    private Names() {}

    /** Each number becomes #. */
    static String normalised(String name) {
        int length = name.length();
        int i = 0;
        while (i < length && !isDigit(name.charAt(i))) i++;
        if (i == length) return name;
        StringBuilder normal = new StringBuilder(length).append(name, 0, i);
        for (; i < length; i++) {
            char c = name.charAt(i);
            if (!isDigit(c)) normal.append(c);
            else if (i == 0 || !isDigit(name.charAt(i - 1))) normal.append('#');
        }
        return normal.toString();
    }

    private static boolean isDigit(char c) {
        return c >= '0' && c <= '9';
    }
}
