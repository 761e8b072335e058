// SPDX-License-Identifier: Apache-2.0
// Copyright the TaskClock authors
package org.taskclock;

/**
 * The counters of a named account, by index. All copies of the library in a process share the arrays that contain them,
 * so no index may change.
 */
final class AccountCounters {
    static final int CPU = 0;
    static final int USER = 1;
    static final int WAIT = 2;
    static final int BYTES = 3;
    static final int SECTIONS = 4;
    static final int UNCOUNTED = 5;
    static final int UNCLOSED = 6;
    static final int CLOSED_ELSEWHERE = 7;
    static final int CLOSED_TWICE = 8;
    /** How often the wait time of a part of a section could not be counted. */
    static final int UNKNOWN_WAIT = 9;
    /** The same for its bytes. */
    static final int UNKNOWN_BYTES = 10;

    static final int COUNT = 11;

    /** Follows the counters of an account: not 0 once the registry has dropped it. */
    static final int DROPPED = COUNT;

    static final int LENGTH = DROPPED + 1;

    private AccountCounters() {}
}
