// SPDX-License-Identifier: Apache-2.0
// Copyright the TaskClock authors
package org.taskclock.web.metrics;

import io.opentelemetry.sdk.common.CompletableResultCode;
import io.opentelemetry.sdk.common.export.RetryPolicy;
import io.opentelemetry.sdk.metrics.data.MetricData;
import io.opentelemetry.sdk.metrics.export.MetricExporter;
import io.opentelemetry.sdk.resources.Resource;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.function.Consumer;
import java.util.function.Function;
import java.util.logging.Handler;
import java.util.logging.LogRecord;
import java.util.logging.Logger;
import org.taskclock.monitor.fleet.JvmFleet;
import org.taskclock.monitor.usage.DaemonThread;
import org.taskclock.web.http.WebException;

/**
 * Pushes readings to an OTLP receiver, in order. OpenTelemetry's exporter retries, and waits as long as the receiver
 * asks it to. Meanwhile, readings wait in a queue. If it is full, the oldest is dropped. Counters are cumulative, so
 * the next push has all the CPU time of a lost one; what is lost is when it was used, and the last values of JVMs that
 * have ended meanwhile.
 */
public final class OtlpPusher implements AutoCloseable {
    /** Pauses of 1, 4, 16, and 60 s, unless the receiver asks for another one. */
    private static final RetryPolicy RETRIES = RetryPolicy.builder()
            .setMaxAttempts(5)
            .setInitialBackoff(Duration.ofSeconds(1))
            .setBackoffMultiplier(4)
            .setMaxBackoff(Duration.ofMinutes(1))
            .setRetryExceptionPredicate(e -> true)
            .build();

    /**
     * The maximum number of points in one request. Receivers reject messages over 4 MB by default. A point takes less
     * than 1 KB, and with a resource and a metric of its own less than 3 KB, because names have at most 200 characters.
     */
    private static final int MAX_POINTS = 1_000;

    /** The time limit of all requests of a push, which is longer than that of each. */
    private static final Duration MAX_PUSH = Duration.ofMinutes(10);

    /** How long the last pushes may take when the exporter stops. */
    private static final Duration DRAIN_TIME = Duration.ofSeconds(2);

    /** Referenced here, because an unreferenced logger loses its configuration. */
    private static final Logger SDK_LOGGER = Logger.getLogger("io.opentelemetry");

    private final ExporterOptions.Push options;
    private final Resource resource;
    private final MetricExporter exporter;
    private final String endpoint;
    private final Function<Resource, List<MetricData>> reader;
    private final ExporterStatus status;
    private final Consumer<String> log;
    private final Deque<List<MetricData>> queue = new ArrayDeque<>();
    private final DaemonThread readerThread = new DaemonThread(this::readPeriodically, "taskclock-push-reader");
    private final Thread senderThread = new DaemonThread(this::send, "taskclock-push");
    private boolean isClosing;
    private boolean isDown;

    /** The last message that the SDK logged. */
    private volatile String problem = "no response";

    /** Returns a pusher of the metrics of all JVMs; null without options. */
    public static OtlpPusher of(ExporterOptions options, JvmFleet fleet, ExporterStatus status, Consumer<String> log)
            throws WebException {
        if (options.push() == null) return null;
        OtlpMetrics converter =
                new OtlpMetrics(options.version(), options.fleet().kubernetesNode(), new EpochClock());
        return new OtlpPusher(options.push(), common -> converter.of(fleet.read(), common), status, log);
    }

    /** @param reader returns what to push, and is given the attributes that all resources have */
    OtlpPusher(
            ExporterOptions.Push options,
            Function<Resource, List<MetricData>> reader,
            ExporterStatus status,
            Consumer<String> log)
            throws WebException {
        this(options, reader, status, RETRIES, log);
    }

    OtlpPusher(
            ExporterOptions.Push options,
            Function<Resource, List<MetricData>> reader,
            ExporterStatus status,
            RetryPolicy retries,
            Consumer<String> log)
            throws WebException {
        this.log = log;
        this.options = options;
        this.reader = reader;
        this.status = status;
        // The SDK would log each failure with a stack trace.
        SDK_LOGGER.setUseParentHandlers(false);
        for (Handler handler : SDK_LOGGER.getHandlers()) SDK_LOGGER.removeHandler(handler);
        SDK_LOGGER.addHandler(new ProblemHandler());
        OtlpConfiguration configuration = OtlpConfiguration.of(options, retries);
        resource = configuration.resource();
        exporter = configuration.exporter();
        endpoint = configuration.endpoint();
    }

    /** The SDK reports the reason of a failed request only in its log. */
    private final class ProblemHandler extends Handler {
        @Override
        public void publish(LogRecord entry) {
            problem = entry.getMessage();
        }

        @Override
        public void flush() {}

        @Override
        public void close() {}
    }

    /** Starts pushing. */
    public void start() {
        readerThread.start();
        senderThread.start();
    }

    private void readPeriodically() {
        long due = System.nanoTime();
        try {
            while (true) {
                due += options.interval().toNanos();
                if (!sleepUntil(due)) return;
                read();
                // Readings that were missed, for example while the machine was suspended, are skipped.
                due = Math.max(due, System.nanoTime() - options.interval().toNanos());
            }
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }

    private void read() {
        List<MetricData> data;
        try {
            data = reader.apply(resource);
        } catch (RuntimeException e) {
            log.accept("internal error: nothing to push: " + e);
            return;
        }
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
        try {
            while (true) {
                synchronized (queue) {
                    while (queue.isEmpty() && !isClosing) queue.wait();
                    if (isClosing) return;
                }
                push(MAX_PUSH.toNanos());
            }
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }

    /** Pushes the oldest waiting reading, unless its time has passed, so that later ones do not wait for it. */
    private void push(long nanos) {
        List<MetricData> data;
        synchronized (queue) {
            data = queue.removeFirst();
            status.queued = queue.size();
        }
        long end = System.nanoTime() + nanos;
        int failures = 0;
        for (List<MetricData> request : requests(data)) {
            CompletableResultCode result =
                    exporter.export(request).join(Math.max(0, end - System.nanoTime()), TimeUnit.NANOSECONDS);
            if (!result.isDone()) {
                // The exporter is stopping. The interrupt also makes all further requests end here.
                status.addDropped();
                return;
            }
            if (!result.isSuccess()) failures++;
        }
        if (failures == 0) status.addPushed();
        else status.addFailed();
        if (failures > 0 && !isDown) log.accept(endpoint + ": " + problem);
        if (failures == 0 && isDown) log.accept(endpoint + ": accepts pushes again");
        isDown = failures > 0;
    }

    /** Splits a push into requests that are not too large. */
    private static List<List<MetricData>> requests(List<MetricData> data) {
        List<List<MetricData>> requests = new ArrayList<>(List.of(new ArrayList<>()));
        int points = 0;
        for (MetricData metric : data) {
            points += metric.getData().getPoints().size();
            if (points > MAX_POINTS) {
                requests.add(new ArrayList<>());
                points = metric.getData().getPoints().size();
            }
            requests.get(requests.size() - 1).add(metric);
        }
        return requests;
    }

    /** Pushes the waiting readings and a last one, and drops those that cannot be sent in time. */
    @Override
    public void close() {
        long end = System.nanoTime() + DRAIN_TIME.toNanos();
        try {
            synchronized (queue) {
                isClosing = true;
                queue.notifyAll();
            }
            readerThread.join(DRAIN_TIME.toMillis() / 2);
            senderThread.join(DRAIN_TIME.toMillis() / 4);
            // The request is waiting before a retry.
            senderThread.interrupt();
            senderThread.join(DRAIN_TIME.toMillis() / 4);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
        read();
        while (status.queued > 0 && end - System.nanoTime() > 0) push(end - System.nanoTime());
        if (status.queued > 0) log.accept(status.queued + " pushes were not sent to " + endpoint);
        exporter.shutdown();
    }
}
