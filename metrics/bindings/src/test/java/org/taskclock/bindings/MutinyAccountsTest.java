// SPDX-License-Identifier: Apache-2.0
// Copyright the TaskClock authors
package org.taskclock.bindings;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.smallrye.mutiny.Multi;
import io.smallrye.mutiny.Uni;
import io.smallrye.mutiny.subscription.Cancellable;
import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Method;
import java.lang.reflect.Proxy;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.taskclock.CpuAccount;
import org.taskclock.CpuAccounts;

@SuppressWarnings("try") // the scopes only need to be open
class MutinyAccountsTest {
    private static final Duration TIMEOUT = Duration.ofMinutes(1);

    private final CpuAccount account = CpuAccount.create();
    private final CountedWork work = new CountedWork();
    private final CountedWork otherWork = new CountedWork();
    private final ExecutorService pool = Executors.newFixedThreadPool(2);
    private final ExecutorService secondPool = Executors.newSingleThreadExecutor();

    @AfterEach
    void shutDown() throws InterruptedException {
        pool.shutdown();
        secondPool.shutdown();
        assertThat(pool.awaitTermination(1, TimeUnit.MINUTES)).isTrue();
        assertThat(secondPool.awaitTermination(1, TimeUnit.MINUTES)).isTrue();
    }

    // example: mutiny
    private Uni<Long> sum(CpuAccount account, List<String> orders) {
        try (var scope = AccountContext.current().with(account).enter()) {
            return Multi.createFrom()
                    .iterable(orders)
                    .onItem()
                    .transformToUniAndMerge(
                            order -> Uni.createFrom().item(() -> price(order)).runSubscriptionOn(pool))
                    .emitOn(secondPool)
                    .collect()
                    .in(() -> new long[1], (sum, price) -> sum[0] += work.run(price))
                    .map(sum -> sum[0]);
        }
    }
    // end

    private long price(String order) {
        return work.run((long) order.length());
    }

    @Test
    void shouldCountTheFunctionsOfAPipelineOnAllThreads() {
        Uni<Long> sum = sum(account, List.of("first", "other", "third", "final"));
        assertThat(sum.map(each -> otherWork.run(each)).await().atMost(TIMEOUT)).isEqualTo(20);
        otherWork.repeat(10);
        assertThat(work.portions()).isEqualTo(8);
        assertThat(work.threads()).hasSize(3).doesNotContain(Thread.currentThread());
        work.assertCounted(account);
    }

    @Test
    void shouldCountForNamedAccounts() {
        Uni<Long> sum = sum(CpuAccounts.type("tenant").of("mutiny"), List.of("first", "other", "third", "final"));
        assertThat(sum.map(each -> otherWork.run(each)).await().atMost(TIMEOUT)).isEqualTo(20);
        assertThat(work.portions()).isEqualTo(8);
        assertThat(work.threads()).hasSize(3).doesNotContain(Thread.currentThread());
        work.assertCounted("tenant", "mutiny");
    }

    @Test
    void shouldCountNestedAccountsForBoth() {
        CpuAccount tenant = CpuAccount.create();
        Uni<Integer> uni;
        try (var outer = AccountContext.current().with(tenant).enter()) {
            try (var inner = AccountContext.current().with(account).enter()) {
                uni = Uni.createFrom().item(1).emitOn(pool).map(work::run);
            }
            uni = uni.emitOn(secondPool).map(otherWork::run);
        }
        assertThat(uni.await().atMost(TIMEOUT)).isEqualTo(1);
        work.assertCounted(account);
        otherWork.assertCounted(tenant, work);
    }

    @Test
    void shouldLeaveNoSectionOpenAfterErrors() {
        Uni<Object> uni;
        try (var scope = AccountContext.current().with(account).enter()) {
            uni = Uni.createFrom()
                    .item(1)
                    .emitOn(pool)
                    .map(each -> {
                        work.run();
                        throw new IllegalArgumentException("bad order");
                    })
                    .onFailure()
                    .invoke(e -> work.run());
        }
        assertThatThrownBy(() -> uni.await().atMost(TIMEOUT)).hasMessage("bad order");
        assertThat(work.portions()).isEqualTo(2);
        work.assertCounted(account);
    }

    @Test
    void shouldLeaveNoSectionOpenAfterCancellation() {
        Multi<Integer> multi;
        try (var scope = AccountContext.current().with(account).enter()) {
            multi = Multi.createBy()
                    .repeating()
                    .supplier(() -> work.run(1))
                    .indefinitely()
                    .runSubscriptionOn(pool)
                    .onCancellation()
                    .invoke(() -> work.run());
        }
        Cancellable running = multi.subscribe().with(each -> {});
        CountedWork.await(() -> work.portions() >= 4, "the work has not started");
        running.cancel();
        work.assertCounted(account);
    }

    /** All kinds of functions, of which Mutiny's operators use different ones. */
    @Test
    void shouldDecorateEachKindOfFunction() throws Exception {
        MutinyAccounts decorator = new MutinyAccounts();
        int kinds = 0;
        for (Method decorate : MutinyAccounts.class.getDeclaredMethods()) {
            if (!decorate.getName().equals("decorate") || decorate.isSynthetic()) continue;
            kinds++;
            Class<?> type = decorate.getParameterTypes()[0];
            Object[] result = new Object[1];
            Object[] called = new Object[2];
            Object function =
                    Proxy.newProxyInstance(type.getClassLoader(), new Class<?>[] {type}, (p, m, arguments) -> {
                        called[0] = AccountContext.current().account();
                        called[1] = arguments == null ? List.of() : List.of(arguments);
                        result[0] = value(m.getReturnType());
                        return result[0];
                    });
            assertThat(decorate.invoke(decorator, function)).isSameAs(function);
            Object decorated;
            try (var scope = AccountContext.current().with(account).enter()) {
                decorated = decorate.invoke(decorator, function);
            }
            Method method = single(type);
            Object[] arguments = new Object[method.getParameterCount()];
            for (int i = 0; i < arguments.length; i++)
                arguments[i] = method.getParameterTypes()[i] == long.class ? (Object) (long) i : (Object) i;
            method.setAccessible(true);
            try {
                assertThat(method.invoke(decorated, arguments))
                        .as(type.getName())
                        .isEqualTo(result[0]);
            } catch (InvocationTargetException e) {
                throw new AssertionError(type.getName(), e);
            }
            assertThat(called[0]).as(type.getName()).isSameAs(account);
            assertThat(called[1]).as(type.getName()).isEqualTo(List.of(arguments));
            assertThat(AccountContext.current()).isSameAs(AccountContext.EMPTY);
        }
        assertThat(kinds).isEqualTo(20);
    }

    private static Object value(Class<?> type) {
        if (type == void.class) return null;
        return type == boolean.class ? (Object) true : (Object) "result";
    }

    private static Method single(Class<?> type) {
        for (Method method : type.getMethods())
            if (java.lang.reflect.Modifier.isAbstract(method.getModifiers())) return method;
        throw new AssertionError(type.getName());
    }
}
