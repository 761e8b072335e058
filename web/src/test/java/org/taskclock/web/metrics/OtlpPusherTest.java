// SPDX-License-Identifier: Apache-2.0
// Copyright the TaskClock authors
package org.taskclock.web.metrics;

import static java.util.concurrent.TimeUnit.SECONDS;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import com.sun.net.httpserver.HttpExchange;
import com.sun.net.httpserver.HttpServer;
import io.opentelemetry.api.common.AttributeKey;
import io.opentelemetry.api.common.Attributes;
import io.opentelemetry.sdk.common.InstrumentationScopeInfo;
import io.opentelemetry.sdk.common.export.RetryPolicy;
import io.opentelemetry.sdk.metrics.data.LongPointData;
import io.opentelemetry.sdk.metrics.data.MetricData;
import io.opentelemetry.sdk.metrics.internal.data.ImmutableGaugeData;
import io.opentelemetry.sdk.metrics.internal.data.ImmutableLongPointData;
import io.opentelemetry.sdk.metrics.internal.data.ImmutableMetricData;
import io.opentelemetry.sdk.resources.Resource;
import java.io.IOException;
import java.io.InputStream;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.concurrent.ConcurrentSkipListSet;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.Executors;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.BooleanSupplier;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.zip.GZIPInputStream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import org.taskclock.web.http.WebException;

/** Pushes to a receiver that fails. */
@Tag("slow17")
class OtlpPusherTest {
    private static final Pattern READING = Pattern.compile("reading\\.([0-9]+)\\.");

    private static final Pattern METRIC = Pattern.compile("metric\\.[0-9]+\\.[0-9]+\\.");

    static final RetryPolicy FAST = RetryPolicy.builder()
            .setMaxAttempts(3)
            .setInitialBackoff(Duration.ofMillis(10))
            .setBackoffMultiplier(1)
            .build();

    private final ExporterStatus status = new ExporterStatus("test");
    private final List<String> log = new CopyOnWriteArrayList<>();
    private final AtomicInteger readings = new AtomicInteger();
    private final AtomicInteger requests = new AtomicInteger();
    private final List<String> received = new CopyOnWriteArrayList<>();

    /** The numbers of the readings in the pushes that were accepted. */
    private final List<Long> receivedReadings = new CopyOnWriteArrayList<>();

    /** The status of each response; the last one is repeated. */
    private volatile List<Integer> responses = List.of(200);

    /** The name of a metric that makes the receiver unavailable. */
    private volatile String refused = "(none)";

    private final List<Long> times = new CopyOnWriteArrayList<>();
    private final Set<String> names = new ConcurrentSkipListSet<>();
    private final AtomicInteger largest = new AtomicInteger();

    private HttpServer receiver;

    @TempDir
    Path directory;

    @BeforeEach
    void startReceiver() throws IOException {
        receiver = HttpServer.create(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0), 0);
        receiver.setExecutor(Executors.newCachedThreadPool());
        receiver.createContext("/", this::receive);
        receiver.start();
    }

    @AfterEach
    void stopReceiver() {
        receiver.stop(0);
    }

    private void receive(HttpExchange exchange) throws IOException {
        try (exchange) {
            int number = requests.getAndIncrement();
            List<Integer> codes = responses;
            int code = codes.get(Math.min(number, codes.size() - 1));
            String body;
            try (InputStream in = new GZIPInputStream(exchange.getRequestBody())) {
                body = new String(in.readAllBytes(), StandardCharsets.ISO_8859_1);
            }
            if (code == 200 && !body.contains(refused)) {
                received.add(exchange.getRequestURI().getPath() + " "
                        + exchange.getRequestHeaders().getFirst("X-Token"));
                Matcher metrics = METRIC.matcher(body);
                while (metrics.find()) names.add(metrics.group());
                Matcher found = READING.matcher(body);
                if (found.find()) receivedReadings.add(Long.parseLong(found.group(1)));
            }
            times.add(System.nanoTime());
            largest.accumulateAndGet(body.length(), Math::max);
            if (code == 429) exchange.getResponseHeaders().add("Retry-After", "2");
            if (body.contains(refused)) code = 503;
            exchange.sendResponseHeaders(code, -1);
        }
    }

    private OtlpPusher pusher(Duration interval, int queueLimit) throws Exception {
        Path headers = Files.writeString(directory.resolve("headers"), "# for the receiver\nX-Token = abc\n");
        ExporterOptions.Push options = new ExporterOptions.Push(
                "http://127.0.0.1:" + receiver.getAddress().getPort(), null, headers, interval, queueLimit);
        return new OtlpPusher(options, common -> read(), status, FAST, log::add);
    }

    /** Returns a metric whose name has the number of the reading. */
    private List<MetricData> read() {
        String name = "reading." + readings.incrementAndGet() + ".";
        LongPointData point = ImmutableLongPointData.create(0, 1, Attributes.empty(), 1);
        return List.of(ImmutableMetricData.createLongGauge(
                Resource.empty(),
                InstrumentationScopeInfo.empty(),
                name,
                "",
                "",
                ImmutableGaugeData.create(List.of(point))));
    }

    private static void await(BooleanSupplier condition) throws InterruptedException {
        long end = System.nanoTime() + SECONDS.toNanos(30);
        while (!condition.getAsBoolean()) {
            assertThat(System.nanoTime()).isLessThan(end);
            Thread.sleep(20);
        }
    }

    @Test
    void shouldRetryUntilTheReceiverAcceptsAndLoseNothing() throws Exception {
        responses = List.of(503, 429, 200);
        OtlpPusher pusher = pusher(Duration.ofMillis(200), 100);
        pusher.start();
        await(() -> received.size() >= 3);
        pusher.close();
        assertThat(received).hasSize(readings.get()).containsOnly("/v1/metrics abc");
        assertThat(status.pushed()).isEqualTo(readings.get());
        assertThat(status.failed()).isZero();
        assertThat(times.get(2) - times.get(1)).as("Retry-After: 2").isGreaterThan(SECONDS.toNanos(2) - 1);
        assertThat(status.dropped()).isZero();
        assertThat(status.queued).isZero();
    }

    @Test
    void shouldDropTheOldestWhenTheQueueIsFull() throws Exception {
        responses = List.of(429);
        OtlpPusher pusher = pusher(Duration.ofMillis(50), 3);
        pusher.start();
        await(() -> status.dropped() >= 4);
        assertThat(status.queued).isEqualTo(3);
        responses = List.of(200);
        pusher.close();
        // The newest are pushed, in order, and the last one is that of the end.
        List<Long> pushed = new ArrayList<>(receivedReadings);
        // Its retry may have been sent before the exporter ended, or when it was given up already.
        pushed.remove(1L);
        assertThat(pushed).isSorted().doesNotHaveDuplicates();
        assertThat(status.pushed() - pushed.size()).isBetween(0L, 1L);
        assertThat(pushed).hasSizeGreaterThanOrEqualTo(3);
        assertThat(pushed.get(pushed.size() - 1)).isEqualTo(readings.get());
        assertThat(readings.get()).isEqualTo(status.pushed() + status.failed() + status.dropped());
        assertThat(status.queued).isZero();
    }

    @Test
    void shouldNotRetryWhatTheReceiverRejects() throws Exception {
        responses = List.of(400, 200);
        OtlpPusher pusher = pusher(Duration.ofMillis(100), 10);
        pusher.start();
        await(() -> !received.isEmpty());
        pusher.close();
        assertThat(status.failed()).isEqualTo(1);
        assertThat(status.dropped()).isZero();
        assertThat(status.pushed()).isEqualTo(readings.get() - 1);
    }

    @Test
    void shouldGoOnAfterAPushThatAlwaysFails() throws Exception {
        refused = "reading.1.";
        OtlpPusher pusher = pusher(Duration.ofMillis(100), 10);
        pusher.start();
        await(() -> !received.isEmpty());
        pusher.close();
        assertThat(status.failed()).isEqualTo(1);
        assertThat(requests).hasValue((int) status.pushed() + 3);
        assertThat(receivedReadings).doesNotContain(1L);
    }

    @Test
    void shouldSplitPushesThatAreTooLarge() throws Exception {
        // The longest names that there can be, of 200 characters that take 3 bytes each.
        String name = "\u6c34".repeat(200);
        List<MetricData> data = new ArrayList<>();
        for (int jvm = 0; jvm < 20; jvm++) {
            Resource resource = Resource.create(Attributes.of(
                    AttributeKey.stringKey("service.name"), name, AttributeKey.longKey("process.pid"), (long) jvm));
            for (int metric = 0; metric < 5; metric++) {
                List<LongPointData> points = new ArrayList<>();
                for (int i = 0; i < 100; i++)
                    points.add(ImmutableLongPointData.create(
                            0, 1, Attributes.of(AttributeKey.stringKey("taskclock.pool.name"), name + i), 1));
                data.add(ImmutableMetricData.createLongGauge(
                        resource,
                        InstrumentationScopeInfo.empty(),
                        "metric." + jvm + "." + metric + ".",
                        "",
                        "",
                        ImmutableGaugeData.create(points)));
            }
        }
        ExporterOptions.Push options = new ExporterOptions.Push(
                "http://127.0.0.1:" + receiver.getAddress().getPort(), null, null, Duration.ofMillis(50), 1);
        OtlpPusher pusher = new OtlpPusher(options, common -> data, status, FAST, log::add);
        pusher.start();
        await(() -> status.pushed() > 0);
        pusher.close();
        assertThat(largest.get()).isBetween(100_000, 4_000_000);
        assertThat(names).hasSize(data.size());
    }

    @Test
    void shouldPushALastReadingWhenItIsClosed() throws Exception {
        OtlpPusher pusher = pusher(Duration.ofHours(1), 10);
        pusher.start();
        pusher.close();
        assertThat(received).hasSize(1);
    }

    @Test
    void shouldGiveUpInTimeIfTheReceiverIsDown() throws Exception {
        receiver.stop(0);
        OtlpPusher pusher = pusher(Duration.ofMillis(100), 10);
        pusher.start();
        await(() -> status.failed() > 0);
        long start = System.nanoTime();
        pusher.close();
        // Two seconds, and what a busy machine needs.
        assertThat(System.nanoTime() - start).isLessThan(SECONDS.toNanos(10));
    }

    @ParameterizedTest
    @ValueSource(strings = {"localhost:4318", "ftp://localhost", "http://", "http:// x"})
    void shouldRejectOtherEndpoints(String endpoint) {
        ExporterOptions.Push options = new ExporterOptions.Push(endpoint, null, null, Duration.ofSeconds(1), 1);
        assertThatThrownBy(() -> new OtlpPusher(options, common -> List.of(), status, log::add))
                .isInstanceOf(WebException.class)
                .hasMessageStartingWith("--otlp-endpoint " + endpoint);
    }
}
