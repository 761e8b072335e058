// SPDX-License-Identifier: Apache-2.0
// Copyright the TaskClock authors
package org.taskclock.micrometer;

import io.micrometer.observation.Observation;
import io.micrometer.observation.ObservationHandler;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.function.Function;
import org.taskclock.AccountType;
import org.taskclock.CpuAccount;
import org.taskclock.bindings.AccountContext;
import org.taskclock.bindings.AccountScope;

/**
 * Counts the CPU time of observations for named accounts:
 *
 * <pre>{@code
 * observationRegistry.observationConfig().observationHandler(new ObservationAccounts(
 *         CpuAccounts.type("job"),
 *         context -> context instanceof ScheduledTaskObservationContext task ? task.getMethod().getName() : null));
 * }</pre>
 *
 * <p>Each scope of an observation that the function names is a section, on whatever thread it is opened. Observations
 * within it count, too. In Spring Boot, a bean of this class is sufficient. {@link ObservationCpuTime} records the CPU
 * time of each single observation instead.
 *
 * <p>Thread-safe.
 */
public final class ObservationAccounts implements ObservationHandler<Observation.Context> {
    /** A scope of an observation on a thread. */
    private record Open(Observation.Context observation, AccountScope scope) {}

    private final AccountType type;
    private final Function<Observation.Context, String> name;

    /** Those that are open on each thread, the innermost first. Removed when it becomes empty. */
    @SuppressWarnings("ThreadLocalUsage") // handlers are few, and live as long as their registries
    private final ThreadLocal<Deque<Open>> scopes = new ThreadLocal<>();

    /**
     * Creates a handler.
     *
     * @param type the type of the accounts
     * @param name returns the name of the account; null for observations that are not to be counted. Called when an
     *     observation starts
     */
    public ObservationAccounts(AccountType type, Function<Observation.Context, String> name) {
        if (type == null) throw new NullPointerException("type");
        if (name == null) throw new NullPointerException("name");
        this.type = type;
        this.name = name;
    }

    @Override
    public boolean supportsContext(Observation.Context context) {
        return true;
    }

    @Override
    public void onStart(Observation.Context context) {
        String account = name.apply(context);
        if (account != null) context.put(this, type.of(account));
    }

    @Override
    public void onScopeOpened(Observation.Context context) {
        CpuAccount account = context.get(this);
        if (account == null) return;
        Deque<Open> open = scopes.get();
        if (open == null) {
            open = new ArrayDeque<>();
            scopes.set(open);
        }
        open.push(new Open(context, AccountContext.current().with(account).enter()));
    }

    @Override
    public void onScopeClosed(Observation.Context context) {
        Deque<Open> open = scopes.get();
        if (open == null || open.stream().noneMatch(each -> each.observation == context)) return;
        // Those inside have ended, too, even if they are closed out of order.
        while (close(open) != context) {}
    }

    /** All scopes of the thread are reset together. Then those that are to be open are opened again. */
    @Override
    @SuppressWarnings("deprecation") // but Micrometer still calls it
    public void onScopeReset(Observation.Context context) {
        Deque<Open> open = scopes.get();
        if (open == null) return;
        while (!open.isEmpty()) close(open);
    }

    private Observation.Context close(Deque<Open> open) {
        Open innermost = open.pop();
        if (open.isEmpty()) scopes.remove();
        innermost.scope.close();
        return innermost.observation;
    }
}
