// SPDX-License-Identifier: Apache-2.0
// Copyright the TaskClock authors
package org.taskclock.opentelemetry;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import io.opentelemetry.api.common.AttributeKey;
import io.opentelemetry.api.trace.Span;
import io.opentelemetry.api.trace.SpanContext;
import io.opentelemetry.api.trace.StatusCode;
import io.opentelemetry.api.trace.Tracer;
import io.opentelemetry.context.Context;
import io.opentelemetry.context.Scope;
import io.opentelemetry.sdk.testing.exporter.InMemorySpanExporter;
import io.opentelemetry.sdk.trace.SdkTracerProvider;
import io.opentelemetry.sdk.trace.data.SpanData;
import io.opentelemetry.sdk.trace.export.SimpleSpanProcessor;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.taskclock.internal.JdkVersions;
import org.taskclock.testing.MeasuredWork;
import org.taskclock.testing.TestJvm;

class SpanCpuTimeTest {
    private final InMemorySpanExporter exporter = InMemorySpanExporter.create();
    private final SdkTracerProvider provider = provider(exporter);
    private final Tracer tracer = provider.get("test");
    private final ExecutorService pool = Executors.newFixedThreadPool(2);
    private final MeasuredWork work = new MeasuredWork();
    private final MeasuredWork otherWork = new MeasuredWork();

    private static SdkTracerProvider provider(InMemorySpanExporter exporter) {
        // example: span
        SdkTracerProvider provider = SdkTracerProvider.builder()
                .addSpanProcessor(SpanCpuTime.create()) // before the program first uses a Context
                .addSpanProcessor(SimpleSpanProcessor.create(exporter))
                .build();
        // end
        return provider;
    }

    @AfterEach
    void end() throws InterruptedException {
        pool.shutdown();
        assertThat(pool.awaitTermination(1, TimeUnit.MINUTES)).isTrue();
        provider.close();
    }

    private SpanData exported(String name) {
        List<SpanData> found = exporter.getFinishedSpanItems().stream()
                .filter(span -> span.getName().equals(name))
                .toList();
        assertThat(found).hasSize(1);
        return found.get(0);
    }

    private long nanos(String name, AttributeKey<Double> key) {
        Double seconds = exported(name).getAttributes().get(key);
        assertThat(seconds).as("%s of %s", key, name).isNotNull();
        return (long) (seconds * 1e9);
    }

    private long self(String name) {
        return nanos(name, SpanCpuTime.SELF_TIME);
    }

    private long total(String name) {
        return nanos(name, SpanCpuTime.CPU_TIME);
    }

    private static void await(List<Future<?>> tasks) throws Exception {
        for (Future<?> task : tasks) task.get();
    }

    @Test
    void shouldSumAllHops() throws Exception {
        Span span = tracer.spanBuilder("orders").startSpan();
        List<Future<?>> tasks = new ArrayList<>();
        try (Scope scope = span.makeCurrent()) {
            work.run();
            Context context = Context.current();
            for (int i = 0; i < 8; i++) tasks.add(pool.submit(context.wrap(() -> work.run())));
            await(tasks);
            assertThat(scope).isNotNull();
        }
        otherWork.repeat(20);
        pool.submit(() -> otherWork.repeat(20)).get();
        span.end();
        assertThat(work.threads()).hasSize(3);
        work.assertNanos(self("orders"));
        assertThat(total("orders")).isEqualTo(self("orders"));
    }

    /** Spans of the same thread and of another one. Their own times add up; the outer one has the total. */
    @Test
    void shouldSeparateSelfTimesAndAddTotals() throws Exception {
        MeasuredWork remoteWork = new MeasuredWork();
        Span outer = tracer.spanBuilder("outer").startSpan();
        try (Scope scope = outer.makeCurrent()) {
            work.run();
            Span inner = tracer.spanBuilder("inner").startSpan();
            try (Scope innerScope = inner.makeCurrent()) {
                otherWork.repeat(10);
                // A context with the same span.
                try (Scope same = Context.current().makeCurrent()) {
                    otherWork.run();
                    assertThat(List.of(scope, innerScope, same)).hasSize(3);
                }
            }
            inner.end();
            work.run();
            Context context = Context.current();
            pool.submit(() -> {
                        Span remote =
                                tracer.spanBuilder("remote").setParent(context).startSpan();
                        try (Scope remoteScope = remote.makeCurrent()) {
                            remoteWork.repeat(10);
                            remote.end();
                            assertThat(remoteScope).isNotNull();
                        }
                    })
                    .get();
            // Still current, in this thread and in one that is working.
            outer.end();
        }
        otherWork.assertNanos(self("inner"));
        remoteWork.assertNanos(self("remote"));
        work.assertNanos(self("outer"));
        long parts = total("inner") + total("remote");
        assertThat(total("outer") - self("outer")).isBetween(parts - 2_000, parts + 2_000);
    }

    @Test
    void shouldCountOneSpanWithinTheWorkOfAnother() throws Exception {
        Span first = tracer.spanBuilder("first").setNoParent().startSpan();
        Span second = tracer.spanBuilder("second").setNoParent().startSpan();
        first.storeInContext(Context.root())
                .wrap(() -> {
                    work.run();
                    second.storeInContext(Context.root())
                            .wrap(() -> otherWork.repeat(20))
                            .run();
                    Context.root().wrap((Runnable) new MeasuredWork()::run).run(); // counts for no span
                    work.run();
                })
                .run();
        first.end();
        second.end();
        work.assertNanos(total("first"));
        otherWork.assertNanos(total("second"));
    }

    @Test
    @SuppressWarnings("MustBeClosedChecker")
    void shouldCloseSectionsAfterExceptionsAndScopesClosedInTheWrongOrder() throws Exception {
        Span span = tracer.spanBuilder("failing").startSpan();
        Future<?> failing = pool.submit(span.storeInContext(Context.root()).wrap(() -> {
            work.run();
            throw new IllegalArgumentException("bad order");
        }));
        assertThatThrownBy(failing::get).hasMessageContaining("bad order");
        pool.submit(() -> {
                    Scope scope = span.makeCurrent();
                    Span inner = tracer.spanBuilder("inner").startSpan();
                    Scope innerScope = inner.makeCurrent();
                    scope.close(); // ignored by OpenTelemetry
                    otherWork.repeat(10);
                    innerScope.close();
                    scope.close();
                    inner.end();
                    otherWork.repeat(10);
                })
                .get();
        span.setStatus(StatusCode.ERROR);
        span.end();
        work.assertNanos(self("failing"));
        long inner = self("inner");
        assertThat(inner).isBetween(otherWork.nanos() / 4, otherWork.nanos() * 3 / 4);
    }

    @Test
    void shouldOmitUnknownTimes() throws Exception {
        assumeTrue(Runtime.version().feature() >= JdkVersions.VIRTUAL_THREADS, "needs virtual threads");
        Span outer = tracer.spanBuilder("outer").startSpan();
        Context context = outer.storeInContext(Context.root());
        context.wrap(() -> work.run()).run();
        Runnable task = () -> {
            Span inner = tracer.spanBuilder("virtual").setParent(context).startSpan();
            inner.storeInContext(context).wrap(() -> {}).run();
            inner.end();
        };
        Thread thread = (Thread)
                Thread.class.getMethod("startVirtualThread", Runnable.class).invoke(null, task);
        thread.join();
        outer.end();
        assertThat(exported("virtual").getAttributes().asMap()).isEmpty();
        assertThat(exported("outer").getAttributes().asMap()).containsOnlyKeys(SpanCpuTime.SELF_TIME);
        work.assertNanos(self("outer"));
    }

    /** The program of {@link #shouldPublishSpansToProfilers}. */
    static final class PublishingProgram {
        private static final String READER = "../../clock/target/native-test/context_reader";

        private PublishingProgram() {}

        public static void main(String[] args) throws Exception {
            Tracer tracer = provider(InMemorySpanExporter.create()).get("publishing");
            Span outer = tracer.spanBuilder("outer").startSpan();
            Span inner = tracer.spanBuilder("inner").startSpan();
            try (Scope scope = outer.makeCurrent()) {
                try (Scope innerScope = inner.makeCurrent()) {
                    assertThat(read()).isEqualTo(expected(inner)).isNotEqualTo(expected(outer));
                    assertThat(scope).isNotEqualTo(innerScope);
                }
                assertThat(read()).isEqualTo(expected(outer));
            }
            assertThat(read()).isEqualTo("invalid");
        }

        private static String expected(Span span) {
            SpanContext ids = span.getSpanContext();
            return "trace=" + ids.getTraceId() + " span=" + ids.getSpanId() + " flags="
                    + ids.getTraceFlags().asHex();
        }

        private static String read() throws Exception {
            String thread = Files.readSymbolicLink(Path.of("/proc/thread-self"))
                    .getFileName()
                    .toString();
            String process = Long.toString(ProcessHandle.current().pid());
            Process reader = new ProcessBuilder(READER, process, thread).start();
            String[] lines = new String(reader.getInputStream().readAllBytes(), StandardCharsets.UTF_8).split("\n", -1);
            assertThat(reader.waitFor()).isZero();
            return lines[lines.length - 2];
        }
    }

    @Test
    void shouldPublishSpansToProfilers() throws Exception {
        assertThat(TestJvm.run(
                        List.of(
                                "-Dtaskclock.thread.context=on",
                                "-XX:+IgnoreUnrecognizedVMOptions",
                                "--enable-native-access=ALL-UNNAMED"),
                        PublishingProgram.class))
                .isEmpty();
    }

    /** The program of {@link #shouldWarnOnceIfCreatedTooLate}. */
    static final class LateProgram {
        private LateProgram() {}

        public static void main(String[] args) {
            System.out.println(Context.current());
            InMemorySpanExporter exporter = InMemorySpanExporter.create();
            Tracer tracer = provider(exporter).get("late");
            tracer.spanBuilder("first").startSpan().end();
            tracer.spanBuilder("second").startSpan().end();
            for (SpanData span : exporter.getFinishedSpanItems())
                System.out.println(span.getName() + span.getAttributes().asMap());
            SdkTracerProvider.builder()
                    .addSpanProcessor(SpanAccounts.create())
                    .build()
                    .get("late")
                    .spanBuilder("third")
                    .startSpan()
                    .end();
        }
    }

    @Test
    void shouldWarnOnceIfCreatedTooLate() throws Exception {
        String output = TestJvm.run(List.of(), LateProgram.class);
        assertThat(output)
                .contains("first{}", "second{}")
                .containsOnlyOnce("TaskClock adds no CPU time to spans")
                .containsOnlyOnce("TaskClock counts no spans for accounts");
    }
}
