// SPDX-License-Identifier: Apache-2.0
// Copyright the TaskClock authors
package org.taskclock.web.http;

/** Describes unexpected failures, after which a loop or the server continues. */
public final class InternalErrors {
    private InternalErrors() {}

    /** Returns one line. An error thrown by the JVM itself may have no stack. */
    public static String describe(Throwable failure) {
        StackTraceElement[] stack = failure.getStackTrace();
        return "internal error: " + failure + (stack.length == 0 ? "" : ": " + stack[0]);
    }
}
