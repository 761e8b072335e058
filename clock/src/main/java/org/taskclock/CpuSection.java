// SPDX-License-Identifier: Apache-2.0
// Copyright the TaskClock authors
package org.taskclock;

/**
 * A stretch of work by one thread for one {@link CpuAccount}: from {@link CpuAccount#enter()} to {@link #close()}, on the
 * same thread.
 *
 * <p>The objects are used again: after it was closed a section must not be touched, as the next {@code enter()} on this
 * thread may return it. {@code try (var section = account.enter()) {...}} sees to that.
 */
public sealed interface CpuSection extends AutoCloseable permits OuterSection, InnerSection, UncountedSection {
    /**
     * Ends the section: what the thread used since it entered is the account's. If that takes the account over its limit, the
     * limit's callback runs in here, and what it throws comes out of here, when all has been counted.
     *
     * <p>Called on another thread, the section ends with what its own thread has used by now; called twice, the second has no
     * effect. {@link CpuAccount#now()} reports both.
     */
    @Override
    void close();
}
