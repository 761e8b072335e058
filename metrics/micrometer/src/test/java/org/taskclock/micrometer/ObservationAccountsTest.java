// SPDX-License-Identifier: Apache-2.0
// Copyright the TaskClock authors
package org.taskclock.micrometer;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.micrometer.context.ContextExecutorService;
import io.micrometer.context.ContextSnapshotFactory;
import io.micrometer.observation.Observation;
import io.micrometer.observation.ObservationRegistry;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.taskclock.AccountType;
import org.taskclock.AccountUsage;
import org.taskclock.CpuAccounts;
import org.taskclock.bindings.AccountContext;
import org.taskclock.testing.MeasuredWork;

class ObservationAccountsTest {
    private static final AccountType JOBS = CpuAccounts.type("observed");

    private final ObservationRegistry registry = ObservationRegistry.create();
    private final MeasuredWork work = new MeasuredWork();
    private final MeasuredWork otherWork = new MeasuredWork();
    private final ExecutorService pool = Executors.newFixedThreadPool(2);

    ObservationAccountsTest() {
        registry.observationConfig()
                .observationHandler(new ObservationAccounts(
                        JOBS, context -> context.getName().startsWith("job ") ? context.getName() : null));
    }

    @AfterEach
    void end() throws InterruptedException {
        pool.shutdown();
        assertThat(pool.awaitTermination(1, TimeUnit.MINUTES)).isTrue();
        assertThat(AccountContext.current()).isSameAs(AccountContext.EMPTY);
        assertThat(JOBS.read().openSections()).isEmpty();
    }

    private static void assertCounted(MeasuredWork expected, String name, long sections) {
        AccountUsage row = JOBS.read().accounts().stream()
                .filter(each -> each.name().equals(name))
                .findAny()
                .orElseThrow();
        assertThat(row.sections()).as("%s", row).isEqualTo(sections);
        assertThat(row.uncounted() + row.unclosed() + row.misclosed())
                .as("%s", row)
                .isZero();
        expected.assertNanos(row.cpuNanos());
    }

    private Observation start(String name) {
        return Observation.start(name, registry);
    }

    @Test
    void shouldCountObservationsWithinAndOtherThreads() throws Exception {
        Observation observation = start("job hops");
        ExecutorService propagating = ContextExecutorService.wrap(
                pool, ContextSnapshotFactory.builder().build());
        observation.scopedChecked(() -> {
            start("query").scoped(() -> work.run());
            List<Future<?>> parts = new ArrayList<>();
            for (int i = 0; i < 8; i++) parts.add(propagating.submit(() -> work.run()));
            for (Future<?> part : parts) part.get();
        });
        pool.shutdown();
        assertThat(pool.awaitTermination(1, TimeUnit.MINUTES)).isTrue();
        start("unnamed").scoped(() -> otherWork.repeat(30));
        observation.stop();
        assertThat(work.threads()).hasSize(3);
        // Both the observation and the context of accounts are carried, and count once.
        assertCounted(work, "job hops", 9);
    }

    @Test
    void shouldCloseSectionsAfterErrors() {
        for (int i = 0; i < 4; i++)
            assertThatThrownBy(() -> start("job failing").observe(() -> {
                        work.run();
                        throw new IllegalArgumentException("bad order");
                    }))
                    .hasMessage("bad order");
        assertCounted(work, "job failing", 4);
    }

    @Test
    void shouldCountOnlyTheInnermostJob() {
        start("job outer").scoped(() -> {
            work.repeat(2);
            start("job inner").scoped(() -> otherWork.repeat(30));
            work.repeat(2);
        });
        assertCounted(work, "job outer", 1);
        assertCounted(otherWork, "job inner", 1);
    }

    @Test
    @SuppressWarnings("deprecation") // of resetting scopes
    void shouldFollowResets() {
        Observation first = start("job first");
        Observation second = start("job second");
        try (Observation.Scope outer = first.openScope()) {
            work.run();
            try (Observation.Scope inner = second.openScope()) {
                otherWork.repeat(10);
                inner.reset();
                new MeasuredWork().repeat(20);
                outer.makeCurrent();
                work.run();
                inner.makeCurrent();
                otherWork.repeat(10);
            }
            work.run();
        }
        assertCounted(work, "job first", 3);
        assertCounted(otherWork, "job second", 2);
    }

    @Test
    void shouldLeaveNoSectionOpenIfScopesAreClosedOutOfOrder() {
        Observation first = start("job early");
        Observation second = start("job late");
        Observation.Scope outer = first.openScope();
        work.repeat(4);
        Observation.Scope inner = second.openScope();
        otherWork.repeat(10);
        outer.close();
        new MeasuredWork().repeat(30);
        inner.close();
        registry.setCurrentObservationScope(null);
        assertCounted(work, "job early", 1);
        assertCounted(otherWork, "job late", 1);
    }
}
