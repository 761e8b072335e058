// SPDX-License-Identifier: Apache-2.0
// Copyright the TaskClock authors
package org.taskclock.bindings;

import java.util.function.Function;
import org.taskclock.CpuAccount;
import reactor.core.publisher.Hooks;
import reactor.util.context.Context;

/**
 * Counts the CPU time of Reactor's operators, on whatever threads they run:
 *
 * <pre>{@code
 * ReactorAccounts.enable();                                // once, when the program starts
 * flux.map(...).contextWrite(ReactorAccounts.with(account));
 * }</pre>
 *
 * <p>The account counts the operators above {@code contextWrite}, from subscription to the last signal, and not those
 * below it. Contexts nest: operators above several of them count for all their accounts.
 *
 * <p>This rests on Reactor's automatic context propagation with Micrometer's library {@code context-propagation}:
 * Reactor enters the context on a thread when it runs a task there that was scheduled in the context, when a signal or
 * a request passes {@code contextWrite}, and when a signal arrives from a source with threads of its own. Other signals
 * cause no readings of the clock. Place {@code contextWrite} last, after operators that reduce the number of signals.
 */
public final class ReactorAccounts {
    private ReactorAccounts() {}

    /**
     * Enables Reactor's automatic context propagation in this process. Call it before assembling publishers. In Spring
     * Boot, {@code spring.reactor.context-propagation=auto} does the same.
     */
    public static void enable() {
        Hooks.enableAutomaticContextPropagation();
    }

    /**
     * Adds an account to a subscriber's context.
     *
     * @param account the account
     * @return the function to pass to {@code contextWrite}
     */
    public static Function<Context, Context> with(CpuAccount account) {
        if (account == null) throw new NullPointerException("account");
        return context -> {
            AccountContext outer = context.getOrDefault(AccountAccessor.KEY, AccountContext.EMPTY);
            return context.put(AccountAccessor.KEY, outer.with(account));
        };
    }
}
