// SPDX-License-Identifier: Apache-2.0
// Copyright the TaskClock authors

package java.lang;

import java.util.function.BiFunction;

/**
 * What the changed methods of a program call to count their CPU time for an account. It is in java.lang because each
 * class of a program sees that package, but not the agent's classes. A program may call these methods, too: that counts
 * its CPU time for an account, and does nothing else.
 */
public final class TaskClockSections {
    private static final BiFunction<?, ?, ?>[] NONE = {};

    /** By number of the point, what opens a section there. Null, or not in the array, if the point is off. */
    private static volatile BiFunction<?, ?, ?>[] openers = NONE;

    private TaskClockSections() {}

    /** Sets what opens sections; null for nothing. Sections that are open stay open until their methods return. */
    static void set(BiFunction<?, ?, ?>[] newOpeners) {
        openers = newOpeners == null ? NONE : newOpeners;
    }

    /**
     * Called at the start of a method.
     *
     * @param point the number of the point
     * @param self the object that the method was called on
     * @param argument what names the account
     * @return the section to pass to {@link #exit}, or null if there is none
     */
    @SuppressWarnings("unchecked")
    public static AutoCloseable enter(int point, Object self, Object argument) {
        try {
            BiFunction<?, ?, ?>[] current = openers;
            if (point >= current.length || current[point] == null) return null;
            return ((BiFunction<Object, Object, AutoCloseable>) current[point]).apply(self, argument);
        } catch (Throwable e) {
            TaskClockHooks.failed("enter", e);
            return null;
        }
    }

    /** Called when the method returns or throws. Does not need the agent, which may have been detached. */
    public static void exit(AutoCloseable section) {
        if (section == null) return;
        try {
            section.close();
        } catch (Throwable e) {
            TaskClockHooks.failed("exit", e);
        }
    }
}
