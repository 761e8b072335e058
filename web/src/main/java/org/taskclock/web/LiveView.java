// SPDX-License-Identifier: Apache-2.0
// Copyright the TaskClock authors
package org.taskclock.web;

import java.io.IOException;
import java.time.Instant;
import java.time.temporal.ChronoUnit;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Queue;
import java.util.concurrent.TimeUnit;
import java.util.function.Consumer;
import org.taskclock.history.JvmKey;
import org.taskclock.monitor.attach.AgentReport;
import org.taskclock.monitor.attach.ThreadDump;
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

    /** How long to keep looking at a JVM without a browser, after the start and after the last finding. */
    private static final long LOOK_NANOS = TimeUnit.SECONDS.toNanos(20);

    /** The number of intervals that are explained. */
    private static final int EXPLAINED = 10;

    final JvmKey key;
    final EventChannel channel = new EventChannel();
    private final boolean attach;
    private final Overview overview;
    private final Consumer<LiveView> onEnd;
    private final DaemonThread thread;
    private final Queue<Explained> recent = new ArrayDeque<>();
    private final JsonChanges changes = new JsonChanges("threads");

    /** Whether a browser shows data that only thread dumps contain. */
    private volatile boolean watchesJavaStatus;

    private volatile boolean isClosing;

    private final long started = System.nanoTime();

    /** When there was last a reason to look at the JVM without a browser, as of System.nanoTime. */
    private long noticed = started;

    /** Whether another JVM needs a look more than this one. */
    private volatile boolean isReplaced;

    /**
     * An interval.
     *
     * @param sites as of {@link Explanation#sites}
     */
    private record Explained(Interval interval, Map<Integer, String> sites) {}

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
        while (!isClosing && (!channel.isEmptyFor(LINGER_NANOS) || isWorthALook())) {
            due = Math.max(due + INTERVAL_NANOS, System.nanoTime() + INTERVAL_NANOS / 2);
            TimeUnit.NANOSECONDS.sleep(due - System.nanoTime());
            if (watchesNow != watchesJavaStatus) {
                watchesNow = watchesJavaStatus;
                jvm.watchJavaStatus(watchesNow);
            }
            Interval interval = jvm.next();
            overview.watch(key.id(), interval.findings());
            if (!interval.findings().isEmpty()) noticed = System.nanoTime();
            if (channel.isEmpty()) {
                recent.clear();
                continue;
            }
            ThreadDump dump = jvm.dumpIfCheap(interval);
            recent.add(new Explained(interval, dump == null ? Map.of() : Explanation.sites(interval, dump)));
            if (recent.size() > EXPLAINED) recent.remove();
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

    private boolean isWorthALook() {
        return !isReplaced && System.nanoTime() - noticed < LOOK_NANOS;
    }

    /** Returns whether it could make way for another one: no browser shows it, and it has lasted. */
    boolean isReplaceable() {
        return channel.isEmpty() && System.nanoTime() - started >= LOOK_NANOS;
    }

    /** Ends it unless a browser shows it. */
    void replace() {
        isReplaced = true;
    }

    /** As of System.nanoTime. */
    long started() {
        return started;
    }

    private List<String> explain() {
        Explanation explanation = new Explanation();
        for (Explained each : recent) {
            explanation.add(each.interval);
            explanation.addSites(each.sites);
        }
        return explanation.lines(problem -> overview.since(key.id(), problem.last(), problem.begin())
                .truncatedTo(ChronoUnit.SECONDS)
                .toString());
    }

    void close() {
        isClosing = true;
        thread.end(TimeUnit.SECONDS.toMillis(5));
    }
}
