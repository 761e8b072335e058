// SPDX-License-Identifier: Apache-2.0
// Copyright the TaskClock authors
package org.taskclock.web;

import java.io.IOException;
import java.time.Instant;
import java.time.temporal.ChronoUnit;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.List;
import java.util.Queue;
import java.util.concurrent.TimeUnit;
import java.util.function.Consumer;
import org.taskclock.history.JvmKey;
import org.taskclock.monitor.attach.AgentReport;
import org.taskclock.monitor.finding.DatedFinding;
import org.taskclock.monitor.finding.Finding;
import org.taskclock.monitor.fleet.LiveJvm;
import org.taskclock.monitor.sampling.Explanation;
import org.taskclock.monitor.sampling.Interval;
import org.taskclock.monitor.usage.DaemonThread;
import org.taskclock.monitor.usage.Json;
import org.taskclock.web.http.EventChannel;
import org.taskclock.web.http.InternalErrors;

/** A live view of the threads of one JVM, shared by any number of browsers. */
final class LiveView {
    private static final long INTERVAL_NANOS = TimeUnit.SECONDS.toNanos(1);

    /**
     * How long to keep watching the JVM after the last browser has disconnected, which may only be reloading the page.
     */
    private static final long LINGER_NANOS = TimeUnit.SECONDS.toNanos(10);

    /** The number of intervals that are explained. */
    private static final int EXPLAINED = 10;

    final JvmKey key;
    final EventChannel channel = new EventChannel();
    private final boolean attach;
    private final Overview overview;
    private final Consumer<LiveView> onEnd;
    private final DaemonThread thread;
    private final Queue<Interval> recent = new ArrayDeque<>();
    private final JsonChanges changes = new JsonChanges("threads");

    /** Whether a browser shows data that only thread dumps contain. */
    private volatile boolean watchesJavaStatus;

    private volatile boolean isClosing;

    LiveView(JvmKey key, boolean attach, Overview overview, Consumer<LiveView> onEnd) {
        this.key = key;
        this.attach = attach;
        this.overview = overview;
        this.onEnd = onEnd;
        thread = new DaemonThread(this::run, "taskclock-live-" + key.pid());
    }

    void start() {
        thread.start();
    }

    void watchJavaStatus() {
        watchesJavaStatus = true;
    }

    private void run() {
        String end = null;
        try (LiveJvm jvm = LiveJvm.of(key.pid(), attach)) {
            watch(jvm);
        } catch (IOException e) {
            end = String.valueOf(e.getMessage());
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        } catch (RuntimeException | Error e) {
            end = InternalErrors.describe(e);
        } finally {
            onEnd.accept(this);
            overview.watch(key.id(), null);
            if (end != null) {
                String reason = end;
                channel.send(
                        "ended",
                        Json.bytes(json ->
                                json.beginObject().name("reason").value(reason).endObject()));
            }
            channel.close();
        }
    }

    private void watch(LiveJvm jvm) throws IOException, InterruptedException {
        boolean watchesNow = false;
        long due = System.nanoTime();
        while (!isClosing && !channel.isEmptyFor(LINGER_NANOS)) {
            due = Math.max(due + INTERVAL_NANOS, System.nanoTime() + INTERVAL_NANOS / 2);
            TimeUnit.NANOSECONDS.sleep(due - System.nanoTime());
            if (watchesNow != watchesJavaStatus) {
                watchesNow = watchesJavaStatus;
                jvm.watchJavaStatus(watchesNow);
            }
            Interval interval = jvm.next();
            overview.watch(key.id(), interval.findings());
            recent.add(interval);
            if (recent.size() > EXPLAINED) recent.remove();
            if (channel.isEmpty()) continue;
            Instant start = interval.end().minusNanos(interval.intervalNanos());
            List<DatedFinding> findings = new ArrayList<>();
            for (Finding finding : interval.findings())
                findings.add(new DatedFinding(finding, overview.since(key.id(), finding, start)));
            List<AgentReport.Section> sections = jvm.openSections();
            List<String> explanation = explain();
            changes.send(
                    channel,
                    "interval",
                    json -> IntervalJson.writeMembers(json, interval, explanation, findings, sections),
                    IntervalJson.threads(interval));
        }
    }

    private List<String> explain() {
        Explanation explanation = new Explanation();
        recent.forEach(explanation::add);
        return explanation.lines(problem -> overview.since(key.id(), problem.last(), problem.begin())
                .truncatedTo(ChronoUnit.SECONDS)
                .toString());
    }

    void close() {
        isClosing = true;
        thread.end(TimeUnit.SECONDS.toMillis(5));
    }
}
