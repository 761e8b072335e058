// SPDX-License-Identifier: Apache-2.0
// Copyright the TaskClock authors
package org.taskclock.bindings;

/** A thread's work in an {@link AccountContext}, from {@link AccountContext#enter()} to {@link #close()}. */
public final class AccountScope implements AutoCloseable {
    private final AccountContext previous;
    private final Thread thread = Thread.currentThread();
    private boolean isClosed;

    AccountScope(AccountContext previous) {
        this.previous = previous;
    }

    /**
     * Restores the context that the thread had before. A second call has no effect.
     *
     * @throws IllegalStateException if called on another thread; the scope then stays open
     */
    @Override
    public void close() {
        if (thread != Thread.currentThread())
            throw new IllegalStateException("scope of thread " + thread.getName() + " closed on thread "
                    + Thread.currentThread().getName());
        if (isClosed) return;
        isClosed = true;
        AccountContext.replaceCurrent(previous);
    }
}
