// SPDX-License-Identifier: Apache-2.0
// Copyright the TaskClock authors
package org.taskclock.web;

import com.google.gson.stream.JsonWriter;
import java.io.IOException;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.taskclock.history.JvmKey;
import org.taskclock.monitor.finding.DatedFinding;
import org.taskclock.monitor.finding.Finding;
import org.taskclock.monitor.finding.PoolDominates;
import org.taskclock.monitor.fleet.FleetFindings;
import org.taskclock.monitor.fleet.JvmSample;
import org.taskclock.monitor.recording.Mark;
import org.taskclock.monitor.usage.Json;

/** The state of all JVMs of this host in the last second. Thread-safe. */
final class Overview {
    /** How long to show a JVM that has exited. */
    private static final Duration ENDED = Duration.ofMinutes(1);

    private final int processors;
    private final Ring machine = new Ring();
    private final Map<String, JvmState> jvms = new LinkedHashMap<>();

    /** The JSON text for the last second; null until it is requested. */
    private byte[] json;

    Overview(int processors) {
        this.processors = processors;
    }

    /** A sample and the identity of its JVM. */
    record KeyedSample(JvmKey key, JvmSample sample) {}

    /** A finding that is newly reported. */
    record BegunFinding(JvmKey jvm, DatedFinding finding) {
        Mark mark() {
            return new Mark(
                    finding.since(), jvm.id(), "finding", finding.finding().text());
        }
    }

    /**
     * Adds the samples of a second.
     *
     * @param machinePercent the CPU use of the machine, in percent of one core; null if unknown
     * @return the findings that are newly reported
     */
    synchronized List<BegunFinding> add(List<KeyedSample> samples, Double machinePercent, Instant now) {
        json = null;
        machine.add(machinePercent);
        List<BegunFinding> begun = new ArrayList<>();
        PoolDominates.Host host =
                FleetFindings.host(samples.stream().map(KeyedSample::sample).toList());
        for (KeyedSample keyed : samples) {
            JvmSample sample = keyed.sample;
            JvmState state = jvms.computeIfAbsent(keyed.key.id(), id -> new JvmState(keyed.key));
            state.add(sample, processors);
            if (sample.jvm().hasEnded()) state.ended = now;
            if (sample.intervalNanos() == 0) continue;
            List<Finding> findings = FleetFindings.of(sample, host);
            if (state.watched != null) {
                findings.removeIf(finding -> finding.kind().isOfOneJvm());
                findings.addAll(state.watched);
            }
            for (DatedFinding finding : state.findings.add(findings, now.minusNanos(sample.intervalNanos())))
                begun.add(new BegunFinding(keyed.key, finding));
            sample.jvm().setFindings(state.findings.kinds());
        }
        jvms.values().removeIf(state -> state.endedBefore(now, ENDED));
        return begun;
    }

    /**
     * Replaces the findings of a JVM with those of its live view, which are based on all threads; null if the view has
     * ended.
     */
    synchronized void watch(String id, List<Finding> findings) {
        JvmState state = jvms.get(id);
        if (state != null) state.watched = findings;
    }

    synchronized void setAgent(String id, boolean hasAgent) {
        json = null;
        JvmState state = jvms.get(id);
        if (state != null) state.hasAgent = hasAgent;
    }

    /** Returns when a problem of a JVM began that was found in the interval with this start. */
    synchronized Instant since(String id, Finding finding, Instant start) {
        JvmState state = jvms.get(id);
        return state == null ? start : state.findings.since(finding, start);
    }

    /** Returns the identity of a running JVM; null if there is none. */
    synchronized JvmKey running(String id) {
        JvmState state = jvms.get(id);
        return state == null || state.ended != null ? null : state.key;
    }

    /** Returns the identity of a JVM that is shown; null if there is none. */
    synchronized JvmKey known(String id) {
        JvmState state = jvms.get(id);
        return state == null ? null : state.key;
    }

    /** Returns, by id, whether the agent was loaded in each running JVM when this was last checked. */
    synchronized Map<JvmKey, Boolean> agents() {
        Map<JvmKey, Boolean> agents = new HashMap<>();
        for (JvmState state : jvms.values()) if (state.ended == null) agents.put(state.key, state.hasAgent);
        return agents;
    }

    /** Returns the JVMs as JSON. */
    synchronized byte[] json() {
        if (json == null) json = Json.bytes(writer -> write(writer, List.of()));
        return json;
    }

    /** Returns the JVMs as JSON, together with the given ones that exited earlier. */
    synchronized byte[] json(List<Json.Value> others) {
        return Json.bytes(writer -> write(writer, others));
    }

    private void write(JsonWriter writer, List<Json.Value> others) throws IOException {
        writer.beginObject();
        writer.name("machine").beginObject();
        machine.write(writer.name("cpu"));
        writer.name("processors").value(processors);
        writer.endObject();
        writer.name("jvms").beginArray();
        for (JvmState state : jvms.values()) state.write(writer);
        for (Json.Value other : others) other.write(writer);
        writer.endArray();
        writer.endObject();
    }
}
