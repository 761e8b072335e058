// SPDX-License-Identifier: Apache-2.0
// Copyright the TaskClock authors
package org.taskclock.bindings;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.Executor;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.taskclock.CpuAccount;

class AccountContextTest {
    private final CpuAccount tenant = CpuAccount.create();
    private final CpuAccount request = CpuAccount.create();
    private final CpuAccount other = CpuAccount.create();
    private final CountedWork work = new CountedWork();

    @AfterEach
    void shouldLeaveNoContext() {
        assertThat(AccountContext.current()).isSameAs(AccountContext.EMPTY);
    }

    private List<Integer> open() {
        return List.of(
                CountedWork.openSections(tenant), CountedWork.openSections(request), CountedWork.openSections(other));
    }

    @Test
    @SuppressWarnings("try")
    void shouldReplaceAndRestoreTheContext() {
        AccountContext both = AccountContext.EMPTY.with(tenant).with(request);
        AccountContext outer = AccountContext.EMPTY.with(tenant);
        try (AccountScope first = both.enter()) {
            assertThat(AccountContext.current().account()).isSameAs(request);
            assertThat(open()).containsExactly(1, 1, 0);
            try (AccountScope second = outer.with(other).enter()) {
                assertThat(open()).containsExactly(1, 0, 1);
                try (AccountScope third = AccountContext.EMPTY.enter()) {
                    assertThat(open()).containsExactly(0, 0, 0);
                }
            }
            assertThat(open()).containsExactly(1, 1, 0);
        }
        assertThat(open()).containsExactly(0, 0, 0);
        for (CpuAccount each : List.of(tenant, request, other))
            assertThat(each.done().isComplete()).isTrue();
    }

    @Test
    void shouldContainEachAccountOnce() {
        AccountContext both = AccountContext.EMPTY.with(tenant).with(request);
        assertThat(both.with(tenant)).isSameAs(both);
        assertThat(both.with(AccountContext.EMPTY.with(request))).isSameAs(both);
        AccountContext merged = both.with(AccountContext.EMPTY.with(other).with(tenant));
        assertThat(merged.account()).isSameAs(other);
        assertThat(merged.contains(tenant) && merged.contains(request)).isTrue();
        assertThat(both.contains(other)).isFalse();
    }

    @Test
    void shouldCountMoreAccountsThanThereAreSlots() {
        AccountContext context = AccountContext.EMPTY;
        List<CpuAccount> accounts = new ArrayList<>();
        for (int i = 0; i < 20; i++) {
            accounts.add(CpuAccount.create());
            context = context.with(accounts.get(i));
        }
        context.wrap(() -> work.run()).run();
        for (CpuAccount account : accounts) work.assertCounted(account);
    }

    @Test
    void shouldCloseAScopeOnceAndOnlyOnItsThread() throws Exception {
        AccountScope outer = AccountContext.EMPTY.with(tenant).enter();
        AccountScope inner = AccountContext.current().with(request).enter();
        Throwable[] thrown = new Throwable[1];
        Thread thread = new Thread(inner::close);
        thread.setUncaughtExceptionHandler((t, e) -> thrown[0] = e);
        thread.start();
        thread.join();
        assertThat(thrown[0]).isInstanceOf(IllegalStateException.class).hasMessageContaining(thread.getName());
        inner.close();
        outer.close();
        inner.close();
        assertThat(open()).containsExactly(0, 0, 0);
    }

    /** The callback runs in the middle of a change of context, uses contexts, and throws. */
    @Test
    void shouldSurviveCallbacksOfLimits() {
        tenant.limit(1, () -> {
            AccountContext.EMPTY
                    .with(other)
                    .wrap(() -> assertThat(open()).containsExactly(0, 0, 1))
                    .run();
            throw new IllegalStateException("tenant");
        });
        request.limit(1, () -> {
            throw new IllegalStateException("request");
        });
        AccountContext context = AccountContext.EMPTY.with(tenant).with(request);
        assertThatThrownBy(() -> context.wrap(() -> work.run()).run())
                .hasMessage("request")
                .satisfies(e -> assertThat(e.getSuppressed())
                        .extracting(Throwable::getMessage)
                        .containsExactly("tenant"));
        assertThat(open()).containsExactly(0, 0, 0);
        work.assertCounted(tenant);
        work.assertCounted(request);
    }

    private void flush() {
        work.run();
    }

    @SuppressWarnings("try")
    private void flushOn(ExecutorService pool, CpuAccount account) {
        // example: executor
        Executor counted = AccountContext.propagating(pool); // tasks run in the context of the submitting thread
        try (var scope = AccountContext.current().with(account).enter()) {
            counted.execute(this::flush);
        }
        // end
    }

    @Test
    void shouldPassContextsToAnExecutor() throws Exception {
        ExecutorService pool = Executors.newFixedThreadPool(2);
        CountedWork uncounted = new CountedWork();
        for (int i = 0; i < 8; i++) flushOn(pool, request);
        AccountContext.propagating(pool).execute(() -> uncounted.repeat(20));
        pool.shutdown();
        assertThat(pool.awaitTermination(1, TimeUnit.MINUTES)).isTrue();
        assertThat(work.portions()).isEqualTo(8);
        assertThat(uncounted.portions()).isEqualTo(20);
        work.assertCounted(request);
    }
}
