// SPDX-License-Identifier: Apache-2.0
// Copyright the TaskClock authors
package org.taskclock.bindings;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.micrometer.context.ContextRegistry;
import io.micrometer.context.ThreadLocalAccessor;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.taskclock.AccountType;
import org.taskclock.CpuAccount;
import org.taskclock.CpuAccounts;
import reactor.core.Disposable;
import reactor.core.publisher.Flux;
import reactor.core.publisher.Hooks;
import reactor.core.publisher.Mono;
import reactor.core.publisher.Sinks;
import reactor.core.scheduler.Scheduler;
import reactor.core.scheduler.Schedulers;

class ReactorAccountsTest {
    private static final Duration TIMEOUT = Duration.ofMinutes(1);

    private final CpuAccount account = CpuAccount.create();
    private final CpuAccount other = CpuAccount.create();
    private final CountedWork work = new CountedWork();
    private final CountedWork otherWork = new CountedWork();

    @BeforeAll
    static void enable() {
        ReactorAccounts.enable(); // once, when the program starts
    }

    @AfterAll
    static void disable() {
        Hooks.disableAutomaticContextPropagation();
    }

    // example: reactor
    private Mono<Long> sum(CpuAccount account, List<String> orders) {
        return Flux.fromIterable(orders)
                .parallel()
                .runOn(Schedulers.parallel())
                .map(this::price)
                .sequential()
                .publishOn(Schedulers.boundedElastic())
                .reduce(0L, this::add)
                .contextWrite(ReactorAccounts.with(account)); // counts everything above
    }
    // end

    private long price(String order) {
        return work.run((long) order.length());
    }

    private long add(long sum, long price) {
        return work.run(sum + price);
    }

    @Test
    void shouldCountParallelWorkAndPublishOn() {
        List<String> orders = Stream.generate(() -> "order").limit(8).toList();
        Long sum = sum(account, orders).map(each -> otherWork.run(each)).block(TIMEOUT);
        assertThat(sum).isEqualTo(40);
        assertThat(work.portions()).isEqualTo(16);
        assertThat(work.threads()).hasSizeGreaterThan(1).doesNotContain(Thread.currentThread());
        work.assertCounted(account);
    }

    @Test
    void shouldCountForNamedAccounts() {
        AccountType tenants = CpuAccounts.type("tenant");
        List<String> orders = Stream.generate(() -> "order").limit(8).toList();
        Long sum = sum(tenants.of("reactor"), orders)
                .map(each -> otherWork.run(each))
                .contextWrite(ReactorAccounts.with(tenants.of("reactor-outer")))
                .block(TIMEOUT);
        assertThat(sum).isEqualTo(40);
        assertThat(work.portions()).isEqualTo(16);
        assertThat(work.threads()).hasSizeGreaterThan(1).doesNotContain(Thread.currentThread());
        work.assertCounted("tenant", "reactor");
        // Of one type, only the innermost account counts.
        otherWork.assertCounted("tenant", "reactor-outer");
    }

    @Test
    void shouldCountSourcesTimersAndInnerPublishers() {
        Flux.defer(() -> Flux.just(1, 2, 3, work.run(4)))
                .subscribeOn(Schedulers.boundedElastic())
                .delayElements(Duration.ofMillis(1))
                .map(work::run)
                .flatMap(each -> Mono.fromCallable(() -> work.run(each)).subscribeOn(Schedulers.parallel()))
                .doOnTerminate(work::run) // unlike doFinally, before blockLast returns
                .contextWrite(ReactorAccounts.with(account))
                .doOnNext(each -> otherWork.repeat(5))
                .blockLast(TIMEOUT);
        assertThat(work.portions()).isEqualTo(10);
        assertThat(otherWork.portions()).isEqualTo(20);
        work.assertCounted(account);
    }

    /** A thread that works for another account emits to two subscribers with accounts of their own. */
    @Test
    void shouldCountForTheSubscriberNotTheEmitter() {
        Sinks.Many<Integer> sink = Sinks.many().multicast().directBestEffort();
        CpuAccount emitter = CpuAccount.create();
        CountedWork emitting = new CountedWork();
        CountDownLatch done = new CountDownLatch(2);
        sink.asFlux()
                .doOnNext(each -> work.run())
                .contextWrite(ReactorAccounts.with(account))
                .subscribe(each -> {}, e -> {}, done::countDown);
        sink.asFlux()
                .publishOn(Schedulers.parallel())
                .doOnNext(each -> otherWork.repeat(4))
                .contextWrite(ReactorAccounts.with(other))
                .subscribe(each -> {}, e -> {}, done::countDown);
        AccountContext.EMPTY
                .with(emitter)
                .wrap(() -> {
                    for (int i = 0; i < 5; i++) {
                        emitting.run();
                        sink.tryEmitNext(i).orThrow();
                    }
                    sink.tryEmitComplete().orThrow();
                })
                .run();
        CountedWork.await(() -> done.getCount() == 0, "the subscribers have not completed");
        work.assertCounted(account);
        otherWork.assertCounted(other);
        emitting.assertCounted(emitter);
        assertThat(otherWork.portions()).isEqualTo(20);
    }

    @Test
    void shouldCountSourcesWithTheirOwnThreads() {
        Flux.<Integer>create(sink -> {
                    Thread thread = new Thread(() -> {
                        for (int i = 0; i < 6; i++) sink.next(otherWork.run(i));
                        sink.complete();
                    });
                    thread.start();
                })
                .map(work::run)
                .contextWrite(ReactorAccounts.with(account))
                .blockLast(TIMEOUT);
        assertThat(work.portions()).isEqualTo(6);
        work.assertCounted(account);
    }

    @Test
    void shouldNest() {
        Mono<Integer> inner = Mono.fromCallable(() -> work.run(1))
                .subscribeOn(Schedulers.parallel())
                .map(work::run)
                .contextWrite(ReactorAccounts.with(account));
        inner.publishOn(Schedulers.boundedElastic())
                .doOnNext(each -> otherWork.repeat(20))
                .contextWrite(ReactorAccounts.with(other))
                .block(TIMEOUT);
        work.assertCounted(account);
        otherWork.assertCounted(other, work);
    }

    @Test
    void shouldLeaveNoSectionOpenAfterErrors() {
        Mono<Object> failing = Mono.fromCallable(() -> work.run(1))
                .subscribeOn(Schedulers.parallel())
                .publishOn(Schedulers.boundedElastic())
                .map(each -> {
                    work.run();
                    throw new IllegalArgumentException("bad order");
                })
                .doOnError(e -> work.run())
                .contextWrite(ReactorAccounts.with(account));
        assertThatThrownBy(() -> failing.block(TIMEOUT)).hasMessage("bad order");
        assertThat(work.portions()).isEqualTo(3);
        work.assertCounted(account);
    }

    @Test
    void shouldLeaveNoSectionOpenAfterCancellation() {
        Scheduler scheduler = Schedulers.newParallel("cancelled", 2);
        Disposable running = Flux.interval(Duration.ofMillis(1), scheduler)
                .onBackpressureDrop()
                .publishOn(scheduler)
                .doOnNext(each -> work.run())
                .doOnCancel(() -> work.run())
                .contextWrite(ReactorAccounts.with(account))
                .subscribe();
        CountedWork.await(() -> work.portions() >= 4, "the work has not started");
        running.dispose();
        scheduler.disposeGracefully().block(TIMEOUT);
        work.assertCounted(account);
    }

    /** Counts how often Reactor sets a value of the context on a thread, which is as often as it sets accounts. */
    private static final class CountingAccessor implements ThreadLocalAccessor<String> {
        private static final ThreadLocal<String> VALUE = new ThreadLocal<>();
        private final AtomicInteger calls = new AtomicInteger();

        @Override
        public Object key() {
            return "counting";
        }

        @Override
        public String getValue() {
            return VALUE.get();
        }

        @Override
        public void setValue(String value) {
            calls.incrementAndGet();
            VALUE.set(value);
        }

        @Override
        public void setValue() {
            VALUE.remove();
        }
    }

    @Test
    void shouldNotEnterAnAccountForEachSignal() {
        CountingAccessor accessor = new CountingAccessor();
        ContextRegistry.getInstance().registerThreadLocalAccessor(accessor);
        try {
            Long count = Flux.range(0, 10_000)
                    .subscribeOn(Schedulers.boundedElastic())
                    .map(each -> each + 1)
                    .publishOn(Schedulers.parallel())
                    .filter(each -> each % 2 == 0)
                    .count()
                    .contextWrite(context -> context.put("counting", "value"))
                    .block(TIMEOUT);
            assertThat(count).isEqualTo(5_000);
            // Two for each task. A task has a batch of signals, which is small if the consumer keeps up.
            assertThat(accessor.calls).hasValueBetween(2, 5_000);
        } finally {
            ContextRegistry.getInstance().removeThreadLocalAccessor("counting");
        }
    }
}
