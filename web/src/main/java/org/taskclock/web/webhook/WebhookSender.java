// SPDX-License-Identifier: Apache-2.0
// Copyright the TaskClock authors
package org.taskclock.web.webhook;

import java.io.IOException;
import java.io.InputStream;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.time.Duration;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.TimeUnit;
import java.util.function.Consumer;
import java.util.function.Supplier;
import org.taskclock.history.JvmKey;
import org.taskclock.monitor.usage.DaemonThread;
import org.taskclock.web.http.HttpClients;

/**
 * Sends findings to a receiver, one message for each JVM. What waits is the state of each JVM rather than messages: if
 * the receiver is down, it then gets one message about everything that has begun and ended meanwhile. Thread-safe.
 */
final class WebhookSender implements AutoCloseable {
    /** The last of the findings of a JVM are only counted. */
    static final int MAX_ALERTS = 50;

    static final int MAX_JVMS = 1_000;

    /** Statuses that mean that the same message may be accepted later. */
    private static final Set<Integer> RETRIED = Set.of(408, 425, 429);

    private static final long CLOSE_MILLIS = 2_000;

    /**
     * The pace.
     *
     * @param jvm the least time between two messages about a JVM
     * @param message the least time between two messages
     * @param firstRetry doubled after each failure
     * @param maxRetry its limit
     * @param answer how long the receiver may take
     */
    record Pace(Duration jvm, Duration message, Duration firstRetry, Duration maxRetry, Duration answer) {
        static final Pace DEFAULT = new Pace(
                Duration.ofMinutes(1),
                Duration.ofSeconds(1),
                Duration.ofSeconds(1),
                Duration.ofMinutes(1),
                Duration.ofSeconds(10));
    }

    /** What the receiver has to know about a JVM. */
    private static final class Waiting {
        private final JvmKey jvm;
        private final Map<String, FindingAlert> alerts = new LinkedHashMap<>();
        private int omitted;
        private boolean hasChanged;
        private long due = System.nanoTime();

        Waiting(JvmKey jvm) {
            this.jvm = jvm;
        }

        void add(FindingAlert alert) {
            boolean isNew = !alerts.containsKey(alert.key());
            if (isNew && alerts.size() >= MAX_ALERTS) omitted++;
            else alerts.put(alert.key(), alert);
            hasChanged = true;
        }
    }

    private final WebhookTarget target;
    private final Supplier<String> page;
    private final Pace pace;
    private final Consumer<String> log;
    private final HttpClient client;
    private final DaemonThread thread = new DaemonThread(this::run, "taskclock-webhook");

    // Guarded by this.
    private final Map<String, Waiting> waiting = new LinkedHashMap<>();
    private boolean isClosing;

    /** Why the last message was not accepted; null if it was. */
    private volatile String problem;

    /** @param page the address of the page, for links */
    WebhookSender(WebhookTarget target, Supplier<String> page, Pace pace, Consumer<String> log) {
        this.target = target;
        this.page = page;
        this.pace = pace;
        this.log = log;
        // A redirect could lead anywhere, such as to a service that only this host can reach.
        client = HttpClient.newBuilder()
                .connectTimeout(pace.answer)
                .followRedirects(HttpClient.Redirect.NEVER)
                .version(HttpClient.Version.HTTP_1_1)
                .build();
    }

    void start() {
        thread.start();
    }

    /** Returns whether the receiver is told again about findings that last. */
    boolean renews() {
        return target.format().hasEnd();
    }

    /** Adds findings that have begun, last, or have ended. Never waits for the receiver. */
    synchronized void add(List<FindingAlert> changed) {
        for (FindingAlert alert : changed) {
            Waiting jvm = waiting.get(alert.jvm().id());
            if (jvm == null && waiting.size() < MAX_JVMS) {
                jvm = new Waiting(alert.jvm());
                waiting.put(alert.jvm().id(), jvm);
            }
            if (jvm != null) jvm.add(alert);
        }
        if (!changed.isEmpty()) notifyAll();
    }

    /** Returns why findings do not reach the receiver; null if they do. */
    String problem() {
        return problem;
    }

    private void run() {
        Duration pause = pace.firstRetry;
        try {
            for (Waiting next = take(); next != null; next = take()) {
                boolean isDelivered = deliver(next);
                if (isDelivered) pause = pace.firstRetry;
                pause(isDelivered ? pace.message : pause);
                if (!isDelivered) pause = min(pause.multipliedBy(2), pace.maxRetry);
            }
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }

    private static Duration min(Duration one, Duration other) {
        return one.compareTo(other) < 0 ? one : other;
    }

    /** Waits, but not when the server stops. */
    private synchronized void pause(Duration time) throws InterruptedException {
        long end = System.nanoTime() + time.toNanos();
        for (long left = time.toNanos(); !isClosing && left > 0; left = end - System.nanoTime())
            TimeUnit.NANOSECONDS.timedWait(this, left);
    }

    /** Waits for a JVM about which a message is due; null when the server stops and nothing is left. */
    private synchronized Waiting take() throws InterruptedException {
        while (true) {
            long now = System.nanoTime();
            long wait = Long.MAX_VALUE;
            for (Waiting each : waiting.values()) {
                if (!each.hasChanged) continue;
                if (isClosing || each.due - now <= 0) return each;
                wait = Math.min(wait, each.due - now);
            }
            if (isClosing) return null;
            waiting.values().removeIf(each -> each.alerts.isEmpty() && each.due - now <= 0);
            if (wait == Long.MAX_VALUE) wait();
            else TimeUnit.NANOSECONDS.timedWait(this, wait);
        }
    }

    /** Sends a message, and returns whether this is done; false to send it again. */
    private boolean deliver(Waiting jvm) throws InterruptedException {
        FindingGroup group;
        synchronized (this) {
            group = new FindingGroup(jvm.jvm, new ArrayList<>(jvm.alerts.values()), jvm.omitted, page.get());
            jvm.hasChanged = false;
        }
        boolean isDone = send(target.format().message(group));
        synchronized (this) {
            if (!isDone && !isClosing) {
                jvm.hasChanged = true;
                return false;
            }
            jvm.due = System.nanoTime() + pace.jvm.toNanos();
            // Those that began again meanwhile are other objects.
            for (FindingAlert alert : group.alerts()) if (!alert.isFiring()) jvm.alerts.remove(alert.key(), alert);
            if (!jvm.hasChanged) jvm.omitted = 0;
        }
        return true;
    }

    private boolean send(byte[] message) throws InterruptedException {
        HttpRequest request = HttpRequest.newBuilder(target.uri())
                .header("Content-Type", "application/json")
                .header("User-Agent", "taskclock")
                .timeout(pace.answer)
                .POST(HttpRequest.BodyPublishers.ofByteArray(message))
                .build();
        try {
            HttpResponse<InputStream> response = client.send(request, HttpResponse.BodyHandlers.ofInputStream());
            response.body().close(); // of any length
            return isDone(response.statusCode());
        } catch (IOException e) {
            failed(String.valueOf(e.getMessage() == null ? e.getClass().getSimpleName() : e.getMessage()));
            return false;
        }
    }

    private boolean isDone(int status) {
        if (status / 100 == 2) {
            if (problem != null) log.accept("webhook " + target + ": works again");
            problem = null;
            return true;
        }
        if (status / 100 == 3) {
            failed("redirects with status " + status + ", which is not followed: give the address that it leads to");
            return true;
        }
        boolean isRetried = status / 100 == 5 || RETRIED.contains(status);
        failed("status " + status + (isRetried ? "" : ": check the address"));
        return !isRetried;
    }

    /** Logs the first of several failures. */
    private void failed(String reason) {
        String text = "webhook " + target + ": findings are not delivered: " + reason;
        if (problem == null) log.accept(text);
        problem = text;
    }

    /** Sends what is left, if the receiver answers soon. */
    @Override
    public void close() {
        synchronized (this) {
            isClosing = true;
            notifyAll();
        }
        thread.await(CLOSE_MILLIS);
        thread.end(100);
        HttpClients.close(client);
    }
}
