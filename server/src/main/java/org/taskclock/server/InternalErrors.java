// SPDX-License-Identifier: Apache-2.0
// Copyright the TaskClock authors
package org.taskclock.server;

/** Describes failures that should not happen, after which a loop or the server goes on. */
final class InternalErrors {
    private InternalErrors() {}

    /** Returns one line. An error that the JVM throws itself may have no stack. */
    static String describe(Throwable failure) {
        StackTraceElement[] stack = failure.getStackTrace();
        return "internal error: " + failure + (stack.length == 0 ? "" : ": " + stack[0]);
    }
}
