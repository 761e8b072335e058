// SPDX-License-Identifier: Apache-2.0
// Copyright the TaskClock authors
package org.taskclock.bindings;

import io.micrometer.context.ThreadLocalAccessor;

/**
 * Gives Micrometer's context propagation access to the context of the calling thread. It is registered as a service, so
 * that everything that uses this library carries {@link AccountContext}s: Reactor with automatic context propagation,
 * wrapped executors, and Spring's task decorators.
 */
public final class AccountAccessor implements ThreadLocalAccessor<AccountContext> {
    /** The key of the {@link AccountContext} in a Reactor context or another map of contexts. */
    public static final String KEY = "org.taskclock.accounts";

    /** Creates the accessor. */
    public AccountAccessor() {}

    @Override
    public Object key() {
        return KEY;
    }

    @Override
    public AccountContext getValue() {
        AccountContext current = AccountContext.current();
        return current == AccountContext.EMPTY ? null : current;
    }

    @Override
    public void setValue(AccountContext value) {
        AccountContext.replaceCurrent(value);
    }

    @Override
    public void setValue() {
        AccountContext.replaceCurrent(AccountContext.EMPTY);
    }
}
