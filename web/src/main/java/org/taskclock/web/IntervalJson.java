// SPDX-License-Identifier: Apache-2.0
// Copyright the TaskClock authors
package org.taskclock.web;

import com.google.gson.stream.JsonWriter;
import java.io.IOException;
import java.util.List;
import org.taskclock.metrics.ThreadKind;
import org.taskclock.monitor.sampling.Interval;
import org.taskclock.monitor.usage.HeapUsage;
import org.taskclock.monitor.usage.JavaStatus;
import org.taskclock.monitor.usage.Json;
import org.taskclock.monitor.usage.ProcessUsage;
import org.taskclock.monitor.usage.ThreadUsage;

/** Writes intervals in the format of the API, with CPU time in percent of one core. */
final class IntervalJson {
    private static final String STATES = "RSDTtZXIWKP";

    private final JsonWriter json;
    private final Interval interval;

    private IntervalJson(JsonWriter json, Interval interval) {
        this.json = json;
        this.interval = interval;
    }

    static void write(JsonWriter json, Interval interval, List<DatedFinding> findings) throws IOException {
        new IntervalJson(json, interval).write(findings);
    }

    private void write(List<DatedFinding> findings) throws IOException {
        json.beginObject();
        json.name("end").value(interval.end().toEpochMilli());
        json.name("intervalNanos").value(interval.intervalNanos());
        json.name("pid").value(interval.pid());
        json.name("source").value(interval.source());
        writeTotals(interval.totals());
        json.name("threads").beginArray();
        for (ThreadUsage thread : interval.threads()) writeThread(thread);
        json.endArray();
        DatedFinding.write(json.name("findings"), findings);
        json.name("notes").beginArray();
        for (String note : interval.notes()) json.value(note);
        json.endArray();
        json.endObject();
    }

    private Double percent(long nanos) {
        return Json.percent(nanos, interval.intervalNanos());
    }

    private static long minus(long whole, long part) {
        return whole < 0 || part < 0 ? -1 : whole - part;
    }

    private void writeTotals(ProcessUsage totals) throws IOException {
        json.name("totals").beginObject();
        json.name("cpu").value(percent(totals.processNanos()));
        json.name("user").value(percent(totals.processUserNanos()));
        json.name("system").value(percent(minus(totals.processNanos(), totals.processUserNanos())));
        json.name("container").value(percent(totals.containerNanos()));
        json.name("limit").value(totals.containerCores() > 0 ? totals.containerCores() : null);
        json.name("throttled").value(percent(totals.throttledNanos()));
        json.name("machine").value(percent(totals.machineNanos()));
        json.name("machineUser").value(percent(totals.machineUserNanos()));
        json.name("processors").value(totals.processors());
        HeapUsage heap = totals.heap();
        json.name("heapUsed").value(heap == null ? null : Json.known(heap.usedBytes()));
        json.name("heapCommitted").value(heap == null ? null : Json.known(heap.committedBytes()));
        json.name("heapMax").value(heap == null ? null : Json.known(heap.maxBytes()));
        json.name("gcPauses").value(heap == null ? null : Json.known(heap.gcPauses()));
        json.name("gcPause").value(heap == null ? null : percent(heap.gcPauseNanos()));
        json.endObject();
    }

    private void writeThread(ThreadUsage thread) throws IOException {
        JavaStatus java = thread.java();
        json.beginObject();
        json.name("tid").value(thread.tid());
        json.name("name").value(thread.name());
        json.name("pool").value(thread.pool());
        json.name("kind").value(thread.kind().label());
        json.name("cpu").value(percent(thread.cpuNanos()));
        json.name("user").value(percent(thread.userNanos()));
        json.name("system").value(percent(thread.systemNanos()));
        json.name("wait").value(percent(thread.waitNanos()));
        json.name("voluntary").value(Json.known(thread.voluntary()));
        json.name("involuntary").value(Json.known(thread.involuntary()));
        json.name("state").value(STATES.indexOf(thread.state()) < 0 ? null : String.valueOf(thread.state()));
        json.name("total").value(seconds(thread.totalNanos()));
        json.name("watched").value(seconds(thread.watchedNanos()));
        json.name("allocation").value(perSecond(java.allocatedBytes()));
        json.name("javaState").value(java.state() == null ? null : java.stateName());
        json.name("blocked").value(percent(java.blockedNanos()));
        json.name("waited").value(percent(java.waitedNanos()));
        json.name("lockClass").value(java.lockClass().isEmpty() ? null : java.lockClass());
        json.name("lockId").value(java.lockId().isEmpty() ? null : java.lockId());
        json.name("blockedBy").value(java.owner().isEmpty() ? null : java.owner());
        json.name("blockedByTid").value(java.ownerTid() == 0 ? null : java.ownerTid());
        json.name("truncated").value(thread.truncated());
        json.name("threads").value(thread.threads());
        json.name("javaId").value(thread.javaId());
        json.name("virtual").value(thread.kind() == ThreadKind.VIRTUAL);
        json.endObject();
    }

    private static Double seconds(long nanos) {
        return nanos < 0 ? null : Math.round(nanos / 1e7) / 100.0;
    }

    private Number perSecond(long count) {
        return count < 0 ? null : Long.valueOf(Math.round(count * 1e9 / interval.intervalNanos()));
    }
}
