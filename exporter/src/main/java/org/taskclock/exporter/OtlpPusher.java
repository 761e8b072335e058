// SPDX-License-Identifier: Apache-2.0
// Copyright the TaskClock authors
package org.taskclock.exporter;

import io.opentelemetry.exporter.internal.FailedExportException;
import io.opentelemetry.exporter.otlp.http.metrics.OtlpHttpMetricExporter;
import io.opentelemetry.exporter.otlp.http.metrics.OtlpHttpMetricExporterBuilder;
import io.opentelemetry.exporter.otlp.metrics.OtlpGrpcMetricExporter;
import io.opentelemetry.exporter.otlp.metrics.OtlpGrpcMetricExporterBuilder;
import io.opentelemetry.sdk.common.CompletableResultCode;
import io.opentelemetry.sdk.metrics.data.MetricData;
import io.opentelemetry.sdk.metrics.export.MetricExporter;
import java.net.URI;
import java.net.URISyntaxException;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.List;
import java.util.Set;
import java.util.concurrent.ThreadLocalRandom;
import java.util.concurrent.TimeUnit;
import java.util.function.Supplier;
import java.util.logging.Level;
import java.util.logging.Logger;

/**
 * Pushes readings to an OTLP receiver, in order. While the receiver is down, they wait in a queue. If it is full, the
 * oldest is dropped. Counters are cumulative, so the next push has all the CPU time of a dropped one; what is lost is
 * when it was used, and the last values of JVMs that have ended meanwhile.
 */
final class OtlpPusher implements AutoCloseable {
    private static final Duration TIMEOUT = Duration.ofSeconds(10);

    /** How long the last pushes may take when the exporter ends. */
    private static final Duration DRAIN_TIME = Duration.ofSeconds(5);

    private static final long MIN_PAUSE_MILLIS = 1_000;
    private static final long MAX_PAUSE_MILLIS = 60_000;
    private static final long LAST_PAUSE_MILLIS = 500;

    /** The responses after which OTLP asks clients to retry. */
    private static final Set<Integer> RETRYABLE_HTTP = Set.of(429, 502, 503, 504);

    /** CANCELLED, DEADLINE_EXCEEDED, RESOURCE_EXHAUSTED, ABORTED, OUT_OF_RANGE, UNAVAILABLE, and DATA_LOSS. */
    private static final Set<Integer> RETRYABLE_GRPC = Set.of(1, 4, 8, 10, 11, 14, 15);

    /** Kept, because the configuration of a logger that nobody references is lost. */
    private static final Logger SDK_LOGGER = Logger.getLogger("io.opentelemetry");

    private final ExporterOptions.Push options;
    private final MetricExporter exporter;
    private final Supplier<List<MetricData>> reader;
    private final ExporterStatus status;
    private final Deque<List<MetricData>> queue = new ArrayDeque<>();
    private final Thread readerThread = new Thread(this::readPeriodically, "taskclock-push-reader");
    private final Thread senderThread = new Thread(this::send, "taskclock-push");
    private boolean isClosing;

    /** Whether the last reading is in the queue. */
    private boolean hasLastReading;

    private long drainUntil;
    private boolean isDown;

    OtlpPusher(ExporterOptions.Push options, Supplier<List<MetricData>> reader, ExporterStatus status)
            throws ExporterException {
        this.options = options;
        this.reader = reader;
        this.status = status;
        // It would log each failure with a stack trace.
        SDK_LOGGER.setLevel(Level.OFF);
        exporter = exporter(options);
    }

    void start() {
        readerThread.setDaemon(true);
        senderThread.setDaemon(true);
        readerThread.start();
        senderThread.start();
    }

    private static MetricExporter exporter(ExporterOptions.Push options) throws ExporterException {
        String problem = "--otlp-endpoint " + options.endpoint() + ": ";
        try {
            URI uri = new URI(options.endpoint());
            if (uri.getHost() == null || !Set.of("http", "https").contains(String.valueOf(uri.getScheme())))
                throw new ExporterException(problem + "must be a URL such as http://127.0.0.1:4318");
            if (options.isGrpc()) {
                OtlpGrpcMetricExporterBuilder builder = OtlpGrpcMetricExporter.builder()
                        .setEndpoint(options.endpoint())
                        .setTimeout(TIMEOUT)
                        .setRetryPolicy(null)
                        .setCompression("gzip");
                options.headers().forEach(builder::addHeader);
                return builder.build();
            }
            boolean isBase = uri.getPath().isEmpty() || uri.getPath().equals("/");
            String endpoint = isBase ? options.endpoint().replaceAll("/$", "") + "/v1/metrics" : options.endpoint();
            OtlpHttpMetricExporterBuilder builder = OtlpHttpMetricExporter.builder()
                    .setEndpoint(endpoint)
                    .setTimeout(TIMEOUT)
                    .setRetryPolicy(null)
                    .setCompression("gzip");
            options.headers().forEach(builder::addHeader);
            return builder.build();
        } catch (URISyntaxException | IllegalArgumentException e) {
            throw new ExporterException(problem + e.getMessage());
        }
    }

    private void readPeriodically() {
        long due = System.nanoTime();
        try {
            while (true) {
                due += options.interval().toNanos();
                if (!sleepUntil(due)) return;
                read();
                // After a pause, such as that of a suspended machine, missed readings are not made up for.
                due = Math.max(due, System.nanoTime() - options.interval().toNanos());
            }
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }

    private void read() {
        List<MetricData> data = reader.get();
        synchronized (queue) {
            if (queue.size() >= options.queueLimit()) {
                queue.removeFirst();
                status.addDropped();
            }
            queue.addLast(data);
            status.queued = queue.size();
            queue.notifyAll();
        }
    }

    /** Returns false if the exporter is closing. */
    private boolean sleepUntil(long time) throws InterruptedException {
        synchronized (queue) {
            long remaining;
            while (!isClosing && (remaining = time - System.nanoTime()) > 0)
                TimeUnit.NANOSECONDS.timedWait(queue, remaining);
            return !isClosing;
        }
    }

    private void send() {
        long pauseMillis = MIN_PAUSE_MILLIS;
        try {
            while (true) {
                List<MetricData> next = next();
                if (next == null) return;
                if (export(next)) {
                    pauseMillis = MIN_PAUSE_MILLIS;
                    continue;
                }
                putBack(next);
                long random = ThreadLocalRandom.current().nextLong(pauseMillis / 4 + 1);
                pauseMillis = Math.min(MAX_PAUSE_MILLIS, 2 * pauseMillis);
                pause(pauseMillis / 2 + random);
            }
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }

    /**
     * Removes the oldest waiting push from the queue, so that it is not dropped for a newer one while it is being sent.
     * Returns null if there will be none.
     */
    private List<MetricData> next() throws InterruptedException {
        synchronized (queue) {
            while (queue.isEmpty() && !hasLastReading) queue.wait();
            if (queue.isEmpty() || (isClosing && System.nanoTime() - drainUntil >= 0)) return null;
            List<MetricData> oldest = queue.removeFirst();
            status.queued = queue.size();
            return oldest;
        }
    }

    /** Puts back a push that is to be retried; it is dropped if newer ones have filled the queue meanwhile. */
    private void putBack(List<MetricData> data) {
        synchronized (queue) {
            if (queue.size() >= options.queueLimit()) status.addDropped();
            else queue.addFirst(data);
            status.queued = queue.size();
        }
    }

    /** Waits before a retry. When the exporter ends, it must not wait longer than it has time left. */
    private void pause(long millis) throws InterruptedException {
        synchronized (queue) {
            if (isClosing) {
                TimeUnit.MILLISECONDS.timedWait(queue, LAST_PAUSE_MILLIS);
                return;
            }
        }
        sleepUntil(System.nanoTime() + TimeUnit.MILLISECONDS.toNanos(millis));
    }

    /** Pushes. Returns false if it is to be retried. */
    private boolean export(List<MetricData> data) {
        CompletableResultCode result = exporter.export(data).join(2 * TIMEOUT.toSeconds(), TimeUnit.SECONDS);
        if (result.isSuccess()) {
            status.addPushed();
            if (isDown) Text.log(options.endpoint() + ": reachable again");
            isDown = false;
            return true;
        }
        status.addFailed();
        String problem = describe(result.getFailureThrowable());
        boolean isRetryable = isRetryable(result.getFailureThrowable());
        if (!isDown)
            Text.log(options.endpoint() + ": push failed: " + problem
                    + (isRetryable ? ": retrying" : ": not retrying, because the receiver rejected it"));
        isDown = true;
        if (isRetryable) return false;
        status.addDropped();
        return true;
    }

    /**
     * FailedExportException is not public API, but the SDK has no other way to learn the response: its retry policy
     * sees exceptions only, and retries itself. The version of the SDK is fixed, so a change of it shows when
     * compiling.
     */
    private static boolean isRetryable(Throwable failure) {
        if (failure instanceof FailedExportException.HttpExportException http && http.getResponse() != null)
            return RETRYABLE_HTTP.contains(http.getResponse().getStatusCode());
        if (failure instanceof FailedExportException.GrpcExportException grpc && grpc.getResponse() != null)
            return RETRYABLE_GRPC.contains(grpc.getResponse().getStatusCode().getValue());
        return true; // there was no response
    }

    private static String describe(Throwable failure) {
        if (failure instanceof FailedExportException.HttpExportException http && http.getResponse() != null)
            return "HTTP status " + http.getResponse().getStatusCode();
        if (failure instanceof FailedExportException.GrpcExportException grpc && grpc.getResponse() != null)
            return "gRPC status " + grpc.getResponse().getStatusCode().getValue();
        if (failure == null) return "no response";
        Throwable cause = failure.getCause() == null ? failure : failure.getCause();
        return String.valueOf(cause.getMessage());
    }

    /** Pushes a last reading and what is waiting, and gives up what cannot be sent in time. */
    @Override
    public void close() {
        try {
            synchronized (queue) {
                isClosing = true;
                drainUntil = System.nanoTime() + DRAIN_TIME.toNanos();
                queue.notifyAll();
            }
            readerThread.join(DRAIN_TIME.toMillis());
            read();
            synchronized (queue) {
                hasLastReading = true;
                queue.notifyAll();
            }
            senderThread.join(DRAIN_TIME.plus(TIMEOUT).toMillis());
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
        synchronized (queue) {
            if (!queue.isEmpty()) Text.log(queue.size() + " pushes were not sent to " + options.endpoint());
        }
        exporter.shutdown();
    }
}
