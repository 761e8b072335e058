// SPDX-License-Identifier: Apache-2.0
// Copyright the TaskClock authors
package org.taskclock.web;

import com.google.gson.stream.JsonWriter;
import java.io.IOException;
import java.time.Duration;
import java.time.Instant;
import java.util.Comparator;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.function.BinaryOperator;
import org.taskclock.AccountReading;
import org.taskclock.history.JvmHistory;
import org.taskclock.history.JvmKey;
import org.taskclock.metrics.AccountKey;
import org.taskclock.metrics.JvmUsage.ContainerUsage;
import org.taskclock.monitor.finding.Finding;
import org.taskclock.monitor.finding.FindingTracker;
import org.taskclock.monitor.fleet.JvmSample;
import org.taskclock.monitor.fleet.Workload;
import org.taskclock.monitor.usage.Json;
import org.taskclock.monitor.usage.ThreadUsage;

/** The state of a JVM in the overview. Guarded by the {@link Overview}. */
final class JvmState {
    private static final int MAX_TYPES = 3;

    final JvmKey key;
    final FindingTracker findings = new FindingTracker();

    /** The findings in the view of the browser that watches this JVM, which replace those based on pools. */
    List<Finding> watched;

    /** Null while it runs. */
    Instant ended;

    boolean hasAgent;
    private final Ring cpuRing = new Ring();
    private int threads;
    private Double cpu;
    private Double user;
    private Double system;
    private Double throttled;
    private Double container;
    private Double limit;
    private Workload workload = Workload.UNKNOWN;

    /** The busiest account of some types. */
    private List<BusyAccount> accounts = List.of();

    private record BusyAccount(AccountKey key, long cpuNanos, Double cpu) {}

    JvmState(JvmKey key) {
        this.key = key;
    }

    /**
     * Creates the state of a JVM in its history.
     *
     * @param hasEnded false if it may be running
     */
    JvmState(JvmHistory jvm, Instant start, Instant end, boolean hasEnded) {
        this(jvm.jvm());
        if (hasEnded) ended = jvm.lastSeen();
        Instant from = jvm.firstSeen().isAfter(start) ? jvm.firstSeen() : start;
        Instant to = jvm.lastSeen().isBefore(end) ? jvm.lastSeen() : end;
        cpu = Json.percent(jvm.cpuNanos(), Duration.between(from, to).toNanos());
    }

    void add(JvmSample sample, int processors) {
        threads = sample.jvm().threads();
        workload = sample.jvm().workload();
        // A JVM is found some time after its start, so its first interval may be shorter than its life.
        long nanos = Math.max(sample.intervalNanos(), sample.process().cpuNanos() / processors);
        boolean isKnown = sample.intervalNanos() > 0;
        cpu = isKnown ? Json.percent(sample.process().cpuNanos(), nanos) : null;
        user = isKnown ? Json.percent(sample.process().userNanos(), nanos) : null;
        system = isKnown ? Json.percent(sample.process().systemNanos(), nanos) : null;
        ContainerUsage group = sample.container();
        throttled = group == null ? null : Json.percent(group.throttledNanos(), nanos);
        container = group == null ? null : Json.percent(group.cpuNanos(), nanos);
        limit = group == null || group.limit() <= 0 ? null : group.limit();
        cpuRing.add(cpu);
        if (isKnown) accounts = busiest(sample);
    }

    private static List<BusyAccount> busiest(JvmSample sample) {
        Map<String, BusyAccount> byType = new TreeMap<>();
        for (ThreadUsage usage : sample.accounts()) {
            AccountKey key = AccountKey.parse(usage.pool());
            if (key.name().equals(AccountReading.UNACCOUNTED) || usage.cpuNanos() <= 0) continue;
            Double cpu = Json.percent(usage.cpuNanos(), sample.intervalNanos());
            byType.merge(
                    key.type(),
                    new BusyAccount(key, usage.cpuNanos(), cpu),
                    BinaryOperator.maxBy(Comparator.comparingLong(BusyAccount::cpuNanos)));
        }
        return byType.values().stream().limit(MAX_TYPES).toList();
    }

    boolean endedBefore(Instant now, Duration time) {
        return ended != null && Duration.between(ended, now).abs().compareTo(time) > 0;
    }

    private static void write(JsonWriter json, Workload workload) throws IOException {
        if (workload.nameOf("pod") == null) {
            json.nullValue();
            return;
        }
        json.beginObject();
        for (String object : List.of("namespace", "pod", "container"))
            json.name(object).value(workload.nameOf(object));
        json.name("owner").value(workload.owner());
        json.endObject();
    }

    void write(JsonWriter json) throws IOException {
        json.beginObject();
        json.name("id").value(key.id());
        json.name("pid").value(key.pid());
        json.name("service").value(key.service());
        json.name("command").value(key.command());
        json.name("containerId").value(key.containerId());
        json.name("podUid").value(key.podUid());
        write(json.name("kubernetes"), workload);
        json.name("started").value(Json.millis(key.started()));
        json.name("ended").value(Json.millis(ended));
        json.name("threads").value(threads);
        json.name("cpu").value(cpu);
        json.name("user").value(user);
        json.name("system").value(system);
        json.name("throttled").value(throttled);
        json.name("container").value(container);
        json.name("limit").value(limit);
        cpuRing.write(json.name("sparkline"));
        FindingJson.write(json.name("findings"), findings.current());
        json.name("agent").value(hasAgent);
        json.name("accounts").beginArray();
        for (BusyAccount account : accounts) {
            json.beginObject();
            json.name("type").value(account.key.type());
            json.name("name").value(account.key.name());
            json.name("cpu").value(account.cpu);
            json.endObject();
        }
        json.endArray();
        json.endObject();
    }
}
