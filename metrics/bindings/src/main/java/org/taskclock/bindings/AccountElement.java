// SPDX-License-Identifier: Apache-2.0
// Copyright the TaskClock authors
package org.taskclock.bindings;

import kotlin.coroutines.AbstractCoroutineContextElement;
import kotlin.coroutines.CoroutineContext;
import kotlinx.coroutines.CopyableThreadContextElement;
import org.taskclock.CpuAccount;

/**
 * Counts the CPU time of Kotlin coroutines, on whatever threads they run:
 *
 * <pre>{@code
 * withContext(AccountElement(account)) { ... }
 * }</pre>
 *
 * <p>Coroutines that are started inside count, too, unless they belong to another scope. While a coroutine is
 * suspended, no thread has a section open for it. Elements nest: inside, the work counts for the accounts of all of
 * them, unless one context is added to another with {@code +}, which replaces the element.
 *
 * <p>Like any thread context element, it has no effect where there is no dispatcher, as in {@code suspend fun main}.
 *
 * <p>Immutable and thread-safe.
 */
public final class AccountElement extends AbstractCoroutineContextElement
        implements CopyableThreadContextElement<AccountContext> {
    private static final class ElementKey implements CoroutineContext.Key<AccountElement> {}

    /** The key of the element in a coroutine's context. */
    public static final CoroutineContext.Key<AccountElement> KEY = new ElementKey();

    private final AccountContext accounts;

    /**
     * Creates an element for one account.
     *
     * @param account the account
     */
    public AccountElement(CpuAccount account) {
        this(AccountContext.EMPTY.with(account));
    }

    /**
     * Creates an element for several accounts, such as those of the calling thread, {@link AccountContext#current()}.
     *
     * @param accounts the accounts
     */
    public AccountElement(AccountContext accounts) {
        super(KEY);
        if (accounts == null) throw new NullPointerException("accounts");
        this.accounts = accounts;
    }

    /**
     * Returns the accounts that the coroutine's work counts for.
     *
     * @return the accounts
     */
    public AccountContext accounts() {
        return accounts;
    }

    @Override
    public AccountContext updateThreadContext(CoroutineContext context) {
        return AccountContext.replaceCurrent(accounts);
    }

    @Override
    public void restoreThreadContext(CoroutineContext context, AccountContext oldState) {
        AccountContext.replaceCurrent(oldState);
    }

    @Override
    public CopyableThreadContextElement<AccountContext> copyForChild() {
        return this;
    }

    /** Adds the accounts of the inner element to those of this one. */
    @Override
    public CoroutineContext mergeForChild(CoroutineContext.Element overwritingElement) {
        return new AccountElement(accounts.with(((AccountElement) overwritingElement).accounts));
    }
}
