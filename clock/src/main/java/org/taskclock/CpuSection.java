// SPDX-License-Identifier: Apache-2.0
// Copyright the TaskClock authors
package org.taskclock;

/**
 * The work of one thread for one {@link CpuAccount}, from {@link CpuAccount#enter()} to {@link #close()} on the same
 * thread.
 *
 * <p>Section objects are reused. Do not use a section after closing it, because the next {@code enter()} on this thread
 * may return it. {@code try (var section = account.enter()) {...}} takes care of that.
 */
public sealed interface CpuSection extends AutoCloseable
        permits OuterSection, InnerSection, NamedSection, UncountedSection {
    /**
     * Ends the section and adds the CPU time that the thread used in it to the account. If the account then reaches its
     * limit, this method runs the limit's callback after counting the section. Exceptions from the callback propagate.
     *
     * <p>A call on another thread and a second call have no effect. {@link CpuAccount#now()} reports both.
     */
    @Override
    void close();
}
