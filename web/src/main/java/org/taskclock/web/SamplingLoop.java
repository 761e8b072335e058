// SPDX-License-Identifier: Apache-2.0
// Copyright the TaskClock authors
package org.taskclock.web;

import java.time.Clock;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.TimeUnit;
import java.util.function.Consumer;
import org.taskclock.CpuTime;
import org.taskclock.history.HistorySample;
import org.taskclock.history.JvmKey;
import org.taskclock.monitor.fleet.JvmFleet;
import org.taskclock.monitor.fleet.JvmSample;
import org.taskclock.monitor.fleet.MonitoredJvm;
import org.taskclock.monitor.profile.EvidenceTaker;
import org.taskclock.monitor.recording.Mark;
import org.taskclock.monitor.usage.DaemonThread;
import org.taskclock.monitor.usage.Json;
import org.taskclock.web.http.EventChannel;
import org.taskclock.web.http.InternalErrors;

/** Samples all JVMs at regular intervals, and passes the results to the overview, browsers, and the history. */
final class SamplingLoop implements AutoCloseable {
    /** A JVM that was found this soon after its start is marked as started. */
    private static final Duration JUST_STARTED = Duration.ofSeconds(15);

    /** The wall clock counts as changed if it deviates by more than this from the elapsed time. */
    private static final long MAX_DRIFT_MILLIS = 2_000;

    /** Several intervals, even on a busy machine. */
    private static final long MAX_AGE_NANOS = TimeUnit.SECONDS.toNanos(10);

    private final JvmFleet fleet;
    private final JvmKeys keys;
    private final Overview overview;
    private final EventChannel channel;
    private final HistoryStore history;
    /** Null if none is kept. */
    private final EvidenceTaker evidence;

    /** Null if there are no continuous profiles. */
    private final ContinuousProfiler profiler;

    private final Clock clock;
    private final long intervalNanos;
    private final long refreshNanos;
    private final Consumer<String> log;
    private final DaemonThread thread = new DaemonThread(this::run, "taskclock-sampler");

    private final Map<MonitoredJvm, JvmKey> known = new HashMap<>();
    private CpuTime machine = CpuTime.UNKNOWN;
    private long machineAt;
    private long lastMillis = -1;
    private long lastNanos;

    /** When the last sample was complete, as of System.nanoTime. */
    private volatile long sampledAt;

    private volatile boolean hasSampled;

    /** Why the last sample failed; null if it did not. */
    private volatile String failure;

    private volatile boolean isClosing;

    SamplingLoop(
            JvmFleet fleet,
            JvmKeys keys,
            Overview overview,
            EventChannel channel,
            HistoryStore history,
            EvidenceTaker evidence,
            ContinuousProfiler profiler,
            ServerOptions options,
            Consumer<String> log) {
        this.fleet = fleet;
        this.keys = keys;
        this.overview = overview;
        this.channel = channel;
        this.history = history;
        this.evidence = evidence;
        this.profiler = profiler;
        clock = options.clock();
        intervalNanos = options.exporter().interval().toNanos();
        refreshNanos = options.exporter().refresh().toNanos();
        this.log = log;
    }

    void start() {
        thread.start();
    }

    /** Returns why the figures are outdated; null if they are current. */
    String problem(long nowNanos) {
        if (failure != null) return "the last sample failed: " + failure;
        if (!hasSampled) return "JVMs are being read for the first time";
        long age = nowNanos - sampledAt;
        return age > MAX_AGE_NANOS ? "the last sample is " + TimeUnit.NANOSECONDS.toSeconds(age) + " s old" : null;
    }

    private void run() {
        long refreshDue = System.nanoTime();
        long due = System.nanoTime();
        try {
            while (!isClosing) {
                try {
                    if (System.nanoTime() - refreshDue >= 0) {
                        fleet.refresh();
                        refreshDue = System.nanoTime() + refreshNanos;
                    }
                    sample();
                    sampledAt = System.nanoTime();
                    hasSampled = true;
                    failure = null;
                } catch (RuntimeException | Error e) {
                    fail(e);
                }
                due = Math.max(due + intervalNanos, System.nanoTime() + intervalNanos / 2);
                TimeUnit.NANOSECONDS.sleep(due - System.nanoTime());
            }
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }

    /** The next sample may succeed, for example if only one large request used up the heap. */
    private void fail(Throwable e) {
        try {
            String reason = InternalErrors.describe(e);
            if (!reason.equals(failure)) log.accept(reason);
            failure = reason;
        } catch (OutOfMemoryError again) {
            failure = "out of memory";
        }
    }

    private void sample() {
        List<JvmSample> samples = fleet.sample();
        Instant now = clock.instant();
        markClockSet(now);
        List<Overview.KeyedSample> keyed = new ArrayList<>();
        Set<MonitoredJvm> seen = new HashSet<>();
        for (JvmSample sample : samples) {
            MonitoredJvm jvm = sample.jvm();
            JvmKey key = known.get(jvm);
            if (key == null) {
                key = keys.of(jvm);
                known.put(jvm, key);
                markStart(key, now);
            }
            seen.add(jvm);
            keyed.add(new Overview.KeyedSample(key, sample));
            add(key, sample, now);
            if (jvm.hasEnded()) history.add(new Mark(now, key.id(), "end", key.service() + " ended"));
        }
        known.keySet().retainAll(seen);
        if (profiler != null) profiler.update(keyed);
        for (Overview.BegunFinding begun : overview.add(keyed, machinePercent(), now)) {
            history.add(begun.mark());
            if (evidence != null) {
                JvmKey jvm = begun.jvm();
                evidence.begin(new EvidenceTaker.Jvm(jvm.id(), jvm.pid(), jvm.service()), begun.finding());
            }
        }
        if (!channel.isEmpty()) channel.send("jvms", overview.json());
    }

    private void add(JvmKey key, JvmSample sample, Instant now) {
        if (sample.intervalNanos() <= 0) return;
        history.add(new HistorySample(
                key,
                now,
                sample.intervalNanos(),
                sample.poolsAndAccounts(),
                sample.threads(),
                sample.process(),
                sample.container()));
    }

    private void markStart(JvmKey key, Instant now) {
        if (Duration.between(key.started(), now).abs().compareTo(JUST_STARTED) > 0) return;
        history.add(new Mark(key.started(), key.id(), "start", key.service() + " started"));
    }

    private void markClockSet(Instant now) {
        long millis = now.toEpochMilli();
        long nanos = System.nanoTime();
        long drift = millis - lastMillis - TimeUnit.NANOSECONDS.toMillis(nanos - lastNanos);
        if (lastMillis >= 0 && Math.abs(drift) > MAX_DRIFT_MILLIS)
            history.add(new Mark(
                    now,
                    null,
                    "clock",
                    "the clock of this host was set " + (drift < 0 ? "back" : "forward") + " by "
                            + Math.round(Math.abs(drift) / 1_000.0) + " s"));
        lastMillis = millis;
        lastNanos = nanos;
    }

    private Double machinePercent() {
        CpuTime now = fleet.machineTime();
        long time = System.nanoTime();
        Double percent = machine.isKnown() && now.isKnown()
                ? Json.percent(Math.max(0, now.cpuNanos() - machine.cpuNanos()), time - machineAt)
                : null;
        machine = now;
        machineAt = time;
        return percent;
    }

    @Override
    public void close() {
        isClosing = true;
        thread.end(TimeUnit.SECONDS.toMillis(5));
    }
}
