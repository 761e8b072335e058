// SPDX-License-Identifier: Apache-2.0
// Copyright the TaskClock authors
package org.taskclock.micrometer;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import io.micrometer.context.ContextExecutorService;
import io.micrometer.context.ContextSnapshotFactory;
import io.micrometer.core.instrument.MeterRegistry;
import io.micrometer.core.instrument.Timer;
import io.micrometer.core.instrument.observation.DefaultMeterObservationHandler;
import io.micrometer.core.instrument.simple.SimpleMeterRegistry;
import io.micrometer.observation.NullObservation;
import io.micrometer.observation.Observation;
import io.micrometer.observation.ObservationRegistry;
import io.micrometer.observation.contextpropagation.ObservationThreadLocalAccessor;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.taskclock.TaskClock;
import org.taskclock.internal.JdkVersions;
import org.taskclock.testing.MeasuredWork;
import reactor.core.publisher.Flux;
import reactor.core.publisher.Hooks;
import reactor.core.publisher.Mono;
import reactor.core.scheduler.Schedulers;

class ObservationCpuTimeTest {
    private final MeterRegistry meters = new SimpleMeterRegistry();
    private final ObservationRegistry registry = ObservationRegistry.create();
    private final MeasuredWork work = new MeasuredWork();
    private final MeasuredWork otherWork = new MeasuredWork();
    private final ExecutorService pool = Executors.newFixedThreadPool(2);

    ObservationCpuTimeTest() {
        ObservationRegistry observationRegistry = registry;
        MeterRegistry meterRegistry = meters;
        observationRegistry.observationConfig().observationHandler(new DefaultMeterObservationHandler(meterRegistry));
        // example: observation
        ObservationCpuTime cpuTime = new ObservationCpuTime(meterRegistry);
        observationRegistry.observationConfig().observationHandler(cpuTime); // timers
        observationRegistry.observationConfig().observationFilter(cpuTime); // key values
        // end
    }

    @AfterEach
    void end() throws InterruptedException {
        pool.shutdown();
        assertThat(pool.awaitTermination(1, TimeUnit.MINUTES)).isTrue();
        assertThat(registry.getCurrentObservation()).isNull();
    }

    private Observation start(String name) {
        return Observation.start(name, registry).lowCardinalityKeyValue("region", "north");
    }

    private Timer timer(String name) {
        return meters.get(name + ".cpu.time").tag("region", "north").timer();
    }

    private void assertRecorded(String name, MeasuredWork expected) {
        assertThat(timer(name).count()).isEqualTo(1);
        expected.assertNanos((long) timer(name).totalTime(TimeUnit.NANOSECONDS));
    }

    @Test
    void shouldRecordAllHops() throws Exception {
        Observation observation = start("orders");
        ExecutorService propagating = ContextExecutorService.wrap(
                pool, ContextSnapshotFactory.builder().build());
        try (Observation.Scope scope = observation.openScope()) {
            work.run();
            List<Future<?>> parts = new ArrayList<>();
            for (int i = 0; i < 8; i++) parts.add(propagating.submit(() -> work.run()));
            for (Future<?> part : parts) part.get();
            assertThat(scope.getCurrentObservation()).isSameAs(observation);
        }
        otherWork.repeat(20);
        pool.submit(() -> otherWork.repeat(20)).get();
        observation.stop();
        assertThat(work.threads()).hasSize(3);
        assertRecorded("orders", work);
        String value = observation
                .getContext()
                .getHighCardinalityKeyValue(ObservationCpuTime.KEY)
                .getValue();
        work.assertNanos((long) (Double.parseDouble(value) * 1e6));
        Timer wall = meters.get("orders").tag("region", "north").timer();
        assertThat(timer("orders").getId().getTags()).isEqualTo(wall.getId().getTags());
    }

    @Test
    void shouldIncludeObservationsWithinAnObservation() throws Exception {
        MeasuredWork all = new MeasuredWork();
        Observation outer = start("outer");
        outer.scoped(() -> {
            all.run();
            Observation inner = start("inner");
            inner.scoped(() -> work.repeat(10));
            inner.stop();
            all.run();
        });
        Observation remote = Observation.createNotStarted("remote", registry)
                .lowCardinalityKeyValue("region", "north")
                .parentObservation(outer);
        pool.submit(() -> remote.observe(() -> otherWork.repeat(10))).get();
        outer.stop();
        assertRecorded("inner", work);
        assertRecorded("remote", otherWork);
        long outerNanos = (long) timer("outer").totalTime(TimeUnit.NANOSECONDS);
        all.assertNanos(outerNanos - work.nanos() - otherWork.nanos());
    }

    @Test
    void shouldRecordErrorsAndCloseSections() throws Exception {
        for (int i = 0; i < 4; i++) {
            Observation observation =
                    Observation.createNotStarted("failing", registry).lowCardinalityKeyValue("region", "north");
            Future<?> failing = pool.submit(() -> observation.observe(() -> {
                work.run();
                throw new IllegalArgumentException("bad order");
            }));
            assertThatThrownBy(failing::get).hasMessageContaining("bad order");
        }
        Timer timer = timer("failing");
        assertThat(timer.getId().getTag("error")).isEqualTo("IllegalArgumentException");
        assertThat(timer.count()).isEqualTo(4);
        work.assertNanos((long) timer.totalTime(TimeUnit.NANOSECONDS));
    }

    /** Scopes of other observations, or of none, on the same thread; and scopes that are reset and opened again. */
    @Test
    @SuppressWarnings("deprecation") // of resetting scopes
    void shouldCountOnlyTheInnermostScope() {
        Observation observation = start("orders");
        Observation unrelated = start("unrelated");
        try (Observation.Scope scope = observation.openScope()) {
            work.run();
            try (Observation.Scope none = new NullObservation(registry).openScope()) {
                otherWork.repeat(20);
                assertThat(registry.getCurrentObservation()).isInstanceOf(NullObservation.class);
                assertThat(none).isNotNull();
            }
            work.run();
            try (Observation.Scope second = unrelated.openScope()) {
                otherWork.repeat(20);
                second.reset();
                otherWork.repeat(10);
                scope.makeCurrent();
                work.run();
                second.makeCurrent();
                otherWork.run();
            }
            work.run();
        }
        otherWork.repeat(10);
        observation.stop();
        unrelated.stop();
        assertThat(work.portions()).isEqualTo(4);
        assertRecorded("orders", work);
    }

    @Test
    void shouldFollowReactorsContexts() {
        Hooks.enableAutomaticContextPropagation();
        try {
            Observation observation = start("flux");
            Flux.range(0, 6)
                    .publishOn(Schedulers.parallel())
                    .map(work::run)
                    .flatMap(each -> Mono.fromCallable(() -> work.run(each)).subscribeOn(Schedulers.boundedElastic()))
                    .contextWrite(context -> context.put(ObservationThreadLocalAccessor.KEY, observation))
                    .doOnNext(each -> otherWork.repeat(4))
                    .blockLast(Duration.ofMinutes(1));
            observation.stop();
        } finally {
            Hooks.disableAutomaticContextPropagation();
        }
        assertThat(work.portions()).isEqualTo(12);
        assertRecorded("flux", work);
    }

    @Test
    void shouldNotRecordUnknownTimes() throws Exception {
        assumeTrue(Runtime.version().feature() >= JdkVersions.VIRTUAL_THREADS, "needs virtual threads");
        Observation outer = start("outer");
        Thread thread = (Thread)
                Thread.class.getMethod("startVirtualThread", Runnable.class).invoke(null, (Runnable)
                        () -> Observation.createNotStarted("virtual", registry)
                                .parentObservation(outer)
                                .observe(() -> assertThat(TaskClock.cpuNanos()).isEqualTo(-1)));
        thread.join();
        outer.stop();
        assertThat(meters.find("virtual").timer().count()).isEqualTo(1);
        assertThat(meters.find("virtual.cpu.time").timer()).isNull();
        assertThat(meters.find("outer.cpu.time").timer()).isNull();
        assertThat(outer.getContextView().getHighCardinalityKeyValue(ObservationCpuTime.KEY))
                .isNull();
    }
}
