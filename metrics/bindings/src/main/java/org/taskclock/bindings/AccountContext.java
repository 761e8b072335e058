// SPDX-License-Identifier: Apache-2.0
// Copyright the TaskClock authors
package org.taskclock.bindings;

import java.util.Arrays;
import java.util.concurrent.Executor;
import org.taskclock.AccountType;
import org.taskclock.CpuAccount;
import org.taskclock.CpuSection;

/**
 * The accounts that a piece of work is counted for, from the outermost to the innermost, such as a tenant's and a
 * request's. Immutable. While a thread works in a context, it has a section of each of its accounts open.
 *
 * <p>The bindings carry contexts from thread to thread. Other code can do so itself:
 *
 * <pre>{@code
 * AccountContext context = AccountContext.current().with(account);
 * try (var scope = context.enter()) {             // on the calling thread
 *     pool.execute(context.wrap(this::flush));    // on another thread
 * }
 * }</pre>
 *
 * <p><b>Threads.</b> Thread-safe. Each thread has its own current context, which other threads do not inherit. Changing
 * it closes and enters the sections of those accounts that differ. It takes no lock and allocates only when a thread
 * first enters an account. On a virtual thread without the agent, the accounts report each section as not counted.
 *
 * <p>A thread's current context is independent of sections that it enters itself with {@link CpuAccount#enter()}. An
 * account counts each moment of a thread once, even if both apply.
 *
 * <p><b>Limits.</b> The callback of {@link CpuAccount#limit} may run whenever a thread leaves a context, that is, in
 * the scheduler of the library in use. It should cancel the work, not throw: an exception is rethrown only after the
 * thread has changed its context completely, and the scheduler handles it like a failure of its own.
 */
public final class AccountContext {
    /** The context without accounts. */
    public static final AccountContext EMPTY = new AccountContext(null, null);

    /**
     * The name of the account for work that has no name, such as a request without the header that names its tenant.
     */
    public static final String NO_NAME = "(none)";

    private static final int CONTEXT = 0;
    private static final int SECTIONS = 1;

    /**
     * The current context and its open sections of each thread. While a thread has no context, this refers only to
     * classes of the JDK, because a class of ours would keep our class loader alive.
     */
    private static final ThreadLocal<Object[]> THREAD = ThreadLocal.withInitial(() -> new Object[2]);

    private final AccountContext outer;
    private final CpuAccount account;
    private final int size;

    private AccountContext(AccountContext outer, CpuAccount account) {
        this.outer = outer;
        this.account = account;
        this.size = outer == null ? 0 : outer.size + 1;
    }

    /**
     * Returns the context of the calling thread.
     *
     * @return the context; {@link #EMPTY} if there is none
     */
    public static AccountContext current() {
        return current(THREAD.get());
    }

    private static AccountContext current(Object[] thread) {
        return thread[CONTEXT] == null ? EMPTY : (AccountContext) thread[CONTEXT];
    }

    /**
     * Returns this context with one more account, which becomes the innermost.
     *
     * @param added the account
     * @return the new context; this one if it contains the account already
     */
    public AccountContext with(CpuAccount added) {
        if (added == null) throw new NullPointerException("added");
        return contains(added) ? this : new AccountContext(this, added);
    }

    /** Returns this context with the accounts of another one. */
    AccountContext with(AccountContext added) {
        if (size == 0) return added;
        return added.size == 0 ? this : with(added.outer).with(added.account);
    }

    /**
     * Returns whether work in this context counts for an account.
     *
     * @param searched the account
     * @return true if it does
     */
    @SuppressWarnings("ReferenceEquality") // accounts have no other equality
    public boolean contains(CpuAccount searched) {
        for (AccountContext each = this; each.size != 0; each = each.outer) {
            if (each.account == searched) return true;
        }
        return false;
    }

    /**
     * Returns the innermost account.
     *
     * @return the account; null if the context is empty
     */
    public CpuAccount account() {
        return account;
    }

    /** Returns the innermost account that is not a named one; null if there is none. */
    CpuAccount taskAccount() {
        AccountContext each = this;
        while (each.size != 0 && each.account.name() != null) each = each.outer;
        return each.account;
    }

    /** Returns a named account, also for work without a name. */
    static CpuAccount account(AccountType type, String name) {
        return type.of(name == null || name.isBlank() ? NO_NAME : name);
    }

    /** Adds an account to the context of the calling thread until the scope is closed. */
    static AccountScope enter(CpuAccount added) {
        return current().with(added).enter();
    }

    /**
     * Makes this the context of the calling thread until the scope is closed, instead of its present one.
     *
     * @return the scope to close on this thread
     */
    public AccountScope enter() {
        return new AccountScope(replaceCurrent(this));
    }

    /**
     * Wraps a task so that it runs in this context.
     *
     * @param task the task
     * @return the wrapped task
     */
    public Runnable wrap(Runnable task) {
        if (task == null) throw new NullPointerException("task");
        return () -> {
            AccountContext previous = replaceCurrent(this);
            try {
                task.run();
            } finally {
                replaceCurrent(previous);
            }
        };
    }

    /**
     * Wraps an executor so that each task runs in the context of the thread that submits it. One such executor serves
     * all accounts.
     *
     * @param executor the executor that runs the tasks
     * @return an executor that passes contexts on
     */
    public static Executor propagating(Executor executor) {
        if (executor == null) throw new NullPointerException("executor");
        return task -> executor.execute(current().wrap(task));
    }

    /**
     * Makes a context that of the calling thread. A callback that runs when a section is closed may use contexts, too,
     * so each step leaves the thread in a consistent state.
     *
     * @return the previous context
     */
    @SuppressWarnings("ReferenceEquality")
    static AccountContext replaceCurrent(AccountContext next) {
        Object[] thread = THREAD.get();
        AccountContext previous = current(thread);
        if (previous == next) return previous;
        int shared = sharedSize(previous, next);
        Throwable failure = null;
        for (AccountContext each = previous; each.size > shared; each = each.outer) {
            CpuSection section = pop(thread, each);
            try {
                section.close();
            } catch (RuntimeException | Error e) {
                if (failure == null) failure = e;
                else failure.addSuppressed(e);
            }
        }
        push(thread, next, shared);
        if (failure instanceof Error error) throw error;
        if (failure != null) throw (RuntimeException) failure;
        return previous;
    }

    @SuppressWarnings("ReferenceEquality")
    private static int sharedSize(AccountContext a, AccountContext b) {
        while (a != b) {
            if (a.size >= b.size) a = a.outer;
            else b = b.outer;
        }
        return a.size;
    }

    private static CpuSection pop(Object[] thread, AccountContext innermost) {
        Object[] sections = (Object[]) thread[SECTIONS];
        CpuSection section = (CpuSection) sections[innermost.size - 1];
        sections[innermost.size - 1] = null;
        thread[CONTEXT] = innermost.outer.size == 0 ? null : innermost.outer;
        return section;
    }

    /** Enters the sections of a context, of which the outermost are open. */
    private static void push(Object[] thread, AccountContext context, int open) {
        if (context.size == open) return;
        push(thread, context.outer, open);
        Object[] sections = (Object[]) thread[SECTIONS];
        if (sections == null) sections = new Object[2];
        if (sections.length < context.size) sections = Arrays.copyOf(sections, 2 * context.size);
        thread[SECTIONS] = sections;
        sections[context.size - 1] = context.account.enter();
        thread[CONTEXT] = context;
    }
}
