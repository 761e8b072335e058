// SPDX-License-Identifier: Apache-2.0
// Copyright the TaskClock authors
package org.taskclock.opentelemetry;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import io.opentelemetry.api.trace.Span;
import io.opentelemetry.api.trace.SpanKind;
import io.opentelemetry.api.trace.Tracer;
import io.opentelemetry.context.Context;
import io.opentelemetry.sdk.testing.exporter.InMemorySpanExporter;
import io.opentelemetry.sdk.trace.SdkTracerProvider;
import io.opentelemetry.sdk.trace.export.SimpleSpanProcessor;
import io.opentelemetry.sdk.trace.samplers.Sampler;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.taskclock.AccountUsage;
import org.taskclock.CpuAccounts;
import org.taskclock.CpuSection;
import org.taskclock.internal.JdkVersions;
import org.taskclock.testing.MeasuredWork;
import org.taskclock.testing.TestJvm;

class SpanAccountsTest {
    static {
        // Other tests of this JVM add these to spans, and need them before the first use of a context.
        SpanCpuTime.create();
    }

    private final SdkTracerProvider provider =
            SdkTracerProvider.builder().addSpanProcessor(SpanAccounts.create()).build();
    private final Tracer tracer = provider.get("test");
    private final ExecutorService pool = Executors.newFixedThreadPool(2);
    private final MeasuredWork work = new MeasuredWork();
    private final MeasuredWork otherWork = new MeasuredWork();

    @AfterEach
    void end() throws InterruptedException {
        pool.shutdown();
        assertThat(pool.awaitTermination(1, TimeUnit.MINUTES)).isTrue();
        provider.close();
    }

    private Span start(SpanKind kind, String name) {
        return tracer.spanBuilder(name).setNoParent().setSpanKind(kind).startSpan();
    }

    private static void run(Span span, Runnable task) {
        span.storeInContext(Context.root()).wrap(task).run();
    }

    private static AccountUsage rowOrNull(String type, String name) {
        return CpuAccounts.type(type).read().accounts().stream()
                .filter(row -> row.name().equals(name))
                .findFirst()
                .orElse(null);
    }

    private static AccountUsage row(String type, String name) {
        AccountUsage row = rowOrNull(type, name);
        assertThat(row).as("row %s of %s", name, type).isNotNull();
        return row;
    }

    private static void await(List<Future<?>> tasks) throws Exception {
        for (Future<?> task : tasks) task.get();
    }

    @Test
    void shouldCountTheRequestOnAllThreadsWhenItsRouteIsKnown() throws Exception {
        Span span = start(SpanKind.SERVER, "GET");
        List<Future<?>> tasks = new ArrayList<>();
        run(span, () -> {
            work.run();
            Context context = Context.current();
            for (int i = 0; i < 8; i++)
                tasks.add(pool.submit(context.wrap(() -> {
                    Span child = tracer.spanBuilder("SELECT").startSpan();
                    child.storeInContext(context).wrap(() -> work.run()).run();
                    child.setAttribute("http.route", "of a child");
                    child.end();
                    work.run();
                })));
        });
        await(tasks);
        otherWork.repeat(20);
        pool.submit(() -> otherWork.repeat(20)).get();
        assertThat(rowOrNull("endpoint", "/orders/{id}")).isNull();
        span.setAttribute("http.route", "/orders/{id}");
        span.end();
        assertThat(work.threads()).hasSize(3);
        AccountUsage row = row("endpoint", "/orders/{id}");
        work.assertNanos(row.cpuNanos());
        assertThat(row.sections()).isEqualTo(1);
        assertThat(rowOrNull("endpoint", "of a child")).isNull();
    }

    /** The context of the request, a span that is older than its end, and one that is not. */
    @Test
    void shouldCountWhatRunsAfterTheEndOfTheRequest() throws Exception {
        Span span = start(SpanKind.SERVER, "POST");
        Context context = span.storeInContext(Context.root());
        Span early = tracer.spanBuilder("early").setParent(context).startSpan();
        run(span, () -> work.run());
        span.setAttribute("http.route", "/late");
        span.end();
        pool.submit(context.wrap(() -> work.run())).get();
        run(early, () -> work.run());
        early.end();
        Span late = tracer.spanBuilder("late").setParent(context).startSpan();
        run(late, () -> work.run());
        late.end();
        assertThat(work.portions()).isEqualTo(4);
        work.assertNanos(row("endpoint", "/late").cpuNanos());
        assertThat(row("endpoint", "/late").sections()).isEqualTo(1);
    }

    @Test
    void shouldNameAccountsByTheKindOfTheRequest() {
        Span rpc = start(SpanKind.SERVER, "rpc");
        run(rpc, () -> work.run());
        rpc.setAttribute("rpc.service", "shop.Orders").setAttribute("rpc.method", "List");
        rpc.end();
        Span newRpc = start(SpanKind.SERVER, "newer conventions");
        newRpc.setAttribute("rpc.method", "shop.Orders/Add").end();
        Span consumer = start(SpanKind.CONSUMER, "process");
        run(consumer, () -> work.run());
        consumer.setAttribute("messaging.destination.name", "orders").end();
        assertThat(row("endpoint", "shop.Orders/List").cpuNanos()).isGreaterThan(4_000_000);
        assertThat(row("endpoint", "shop.Orders/Add").cpuNanos()).isZero();
        assertThat(row("topic", "orders").cpuNanos()).isGreaterThan(4_000_000);
        long unnamed = rowOrNull("endpoint", "(none)") == null
                ? 0
                : row("endpoint", "(none)").sections();
        start(SpanKind.SERVER, "404").end();
        Span job = start(SpanKind.INTERNAL, "job");
        run(job, () -> work.run());
        // A server in the same process is a request of its own.
        Span inner = tracer.spanBuilder("in-process")
                .setSpanKind(SpanKind.SERVER)
                .setParent(job.storeInContext(Context.root()))
                .startSpan();
        inner.setAttribute("http.route", "/inner").end();
        job.end();
        assertThat(row("endpoint", "(none)").sections()).isEqualTo(unnamed + 1);
        assertThat(row("endpoint", "/inner").sections()).isEqualTo(1);
        assertThat(CpuAccounts.type("endpoint").read().retired().cpuNanos()).isZero();
        assertThat(rowOrNull("endpoint", "job")).isNull();
    }

    /** As with the agent's option {@code accounts=endpoint} or a servlet filter. */
    @Test
    void shouldNotCountTwiceWithOtherSectionsOfTheType() {
        Span span = start(SpanKind.SERVER, "both");
        run(span, () -> {
            work.repeat(2);
            try (CpuSection section =
                    CpuAccounts.type("endpoint").of("/handler").enter()) {
                otherWork.repeat(4);
                Span child = tracer.spanBuilder("child").startSpan();
                child.storeInContext(Context.current())
                        .wrap(() -> otherWork.repeat(4))
                        .run();
                child.end();
                assertThat(section).isNotNull();
            }
            work.repeat(2);
        });
        span.setAttribute("http.route", "/both");
        span.end();
        work.assertNanos(row("endpoint", "/both").cpuNanos());
        otherWork.assertNanos(row("endpoint", "/handler").cpuNanos());
        assertThat(row("endpoint", "/both").cpuNanos()).isLessThan(otherWork.nanos());
    }

    @Test
    void shouldAddAttributesToTheSameSpans() {
        InMemorySpanExporter exporter = InMemorySpanExporter.create();
        try (SdkTracerProvider both = SdkTracerProvider.builder()
                .addSpanProcessor(SpanCpuTime.create())
                .addSpanProcessor(SpanAccounts.create())
                .addSpanProcessor(SimpleSpanProcessor.create(exporter))
                .build()) {
            Span span = both.get("both").spanBuilder("both").setNoParent().startSpan();
            run(span, () -> work.run());
            span.setAttribute("http.route", "/attributes").end();
            Double seconds =
                    exporter.getFinishedSpanItems().get(0).getAttributes().get(SpanCpuTime.CPU_TIME);
            assertThat(seconds).isNotNull();
            work.assertNanos((long) (seconds * 1e9));
        }
        work.assertNanos(row("endpoint", "/attributes").cpuNanos());
    }

    /** Half of the requests would not be recorded, and the children of these, neither. */
    @Test
    void shouldCountRequestsThatAreNotSampled() {
        InMemorySpanExporter exporter = InMemorySpanExporter.create();
        try (SdkTracerProvider sampled = SdkTracerProvider.builder()
                .addSpanProcessor(SpanAccounts.create())
                .addSpanProcessor(SimpleSpanProcessor.create(exporter))
                .setSampler(SpanAccounts.recordingAll(Sampler.parentBased(Sampler.traceIdRatioBased(0.5))))
                .build()) {
            Tracer half = sampled.get("half");
            for (int i = 0; i < 40; i++) {
                Span span = half.spanBuilder("GET")
                        .setNoParent()
                        .setSpanKind(SpanKind.SERVER)
                        .startSpan();
                run(span, () -> {
                    Span child = half.spanBuilder("child").startSpan();
                    child.storeInContext(Context.current())
                            .wrap(() -> work.run())
                            .run();
                    child.end();
                });
                span.setAttribute("http.route", "/sampled").end();
            }
            assertThat(exporter.getFinishedSpanItems()).hasSizeBetween(2, 78).allMatch(span -> span.getSpanContext()
                    .isSampled());
        }
        assertThat(row("endpoint", "/sampled").sections()).isEqualTo(40);
        work.assertNanos(row("endpoint", "/sampled").cpuNanos());
    }

    /** Counts requests on virtual threads, with the agent or without. */
    static final class VirtualProgram {
        private VirtualProgram() {}

        public static void main(String[] args) throws Exception {
            while (args.length > 0 && !System.getProperty("taskclock.agent").contains(",backend=")) Thread.sleep(5);
            Tracer tracer = SdkTracerProvider.builder()
                    .addSpanProcessor(SpanAccounts.create())
                    .build()
                    .get("virtual");
            MeasuredWork work = new MeasuredWork();
            Span span = tracer.spanBuilder("GET").setSpanKind(SpanKind.SERVER).startSpan();
            Runnable task = span.storeInContext(Context.root()).wrap(() -> {
                long end = System.nanoTime() + 20_000_000;
                while (System.nanoTime() < end) Thread.onSpinWait();
            });
            List<Thread> threads = new ArrayList<>();
            for (int i = 0; i < 10; i++)
                threads.add((Thread) Thread.class
                        .getMethod("startVirtualThread", Runnable.class)
                        .invoke(null, task));
            for (Thread thread : threads) thread.join();
            work.repeat(2); // on the platform thread, for no span
            span.setAttribute("http.route", "/virtual").end();
            AccountUsage row = row("endpoint", "/virtual");
            System.out.println("uncounted " + row.uncounted() + ", sections " + row.sections() + ", ms "
                    + row.cpuNanos() / 1_000_000);
        }
    }

    @Test
    void shouldFollowVirtualThreads() throws Exception {
        assumeTrue(Runtime.version().feature() >= JdkVersions.VIRTUAL_THREADS, "needs virtual threads");
        String access = "--enable-native-access=ALL-UNNAMED";
        assertThat(TestJvm.run(List.of(access), VirtualProgram.class)).isEqualTo("uncounted 10, sections 1, ms 0\n");
        String output = TestJvm.run(List.of(access, TestJvm.agent("yield=count")), VirtualProgram.class, "agent");
        assertThat(output).startsWith("uncounted 0, sections 1, ms ");
        // The threads share two processors, or fewer, during the 20 ms of each.
        assertThat(Integer.parseInt(output.trim().replaceAll(".* ", ""))).isBetween(10, 220);
    }
}
