// SPDX-License-Identifier: Apache-2.0
// Copyright the TaskClock authors
package org.taskclock.web;

import com.google.gson.JsonArray;
import com.google.gson.JsonObject;
import com.google.gson.stream.JsonWriter;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import org.taskclock.metrics.AccountKey;
import org.taskclock.metrics.ThreadKind;
import org.taskclock.metrics.VirtualThreadCounts;
import org.taskclock.monitor.attach.AgentReport;
import org.taskclock.monitor.finding.DatedFinding;
import org.taskclock.monitor.sampling.Interval;
import org.taskclock.monitor.sampling.ThreadColumn;
import org.taskclock.monitor.usage.HeapUsage;
import org.taskclock.monitor.usage.JavaStatus;
import org.taskclock.monitor.usage.Json;
import org.taskclock.monitor.usage.ProcessUsage;
import org.taskclock.monitor.usage.ThreadUsage;

/** Writes intervals in the format of the API, with CPU time in percent of one core. */
final class IntervalJson {
    private static final double NANOS_PER_SECOND = 1e9;

    private final JsonWriter json;
    private final Interval interval;

    private IntervalJson(JsonWriter json, Interval interval) {
        this.json = json;
        this.interval = interval;
    }

    /** Writes an interval, with the sections of named accounts that were open at its end. */
    static void write(
            JsonWriter json,
            Interval interval,
            List<String> explanation,
            List<DatedFinding> findings,
            List<AgentReport.Section> sections)
            throws IOException {
        json.beginObject();
        writeMembers(json, interval, explanation, findings, sections);
        json.name("threads").beginArray();
        for (String thread : threads(interval).values()) json.jsonValue(thread);
        json.endArray();
        json.endObject();
    }

    /** Writes the members of an interval, except its threads. */
    static void writeMembers(
            JsonWriter json,
            Interval interval,
            List<String> explanation,
            List<DatedFinding> findings,
            List<AgentReport.Section> sections)
            throws IOException {
        new IntervalJson(json, interval).writeMembers(explanation, findings, sections);
    }

    /** Returns the threads of an interval as JSON, by keys that they have in other intervals, too. */
    static Map<String, String> threads(Interval interval) {
        Map<String, String> threads = new LinkedHashMap<>();
        for (ThreadUsage thread : interval.threads()) {
            byte[] text = Json.bytes(json -> new IntervalJson(json, interval).writeThread(thread));
            String key = thread.kind() + " " + thread.tid() + " " + thread.javaId() + " " + thread.name();
            while (threads.containsKey(key)) key += "+"; // several groups of the same name
            threads.put(key, new String(text, StandardCharsets.UTF_8));
        }
        return threads;
    }

    private void writeMembers(List<String> explanation, List<DatedFinding> findings, List<AgentReport.Section> sections)
            throws IOException {
        json.name("end").value(interval.end().toEpochMilli());
        json.name("intervalNanos").value(interval.intervalNanos());
        json.name("pid").value(interval.pid());
        json.name("source").value(interval.source());
        writeTotals(interval.totals());
        json.name("accounts").beginArray();
        for (ThreadUsage account : interval.accounts()) writeAccount(account);
        json.endArray();
        json.name("openSections").beginArray();
        for (AgentReport.Section section : sections) writeSection(section);
        json.endArray();
        FindingJson.write(json.name("findings"), findings);
        json.name("explanation").beginArray();
        for (String line : explanation) json.value(line);
        json.endArray();
        json.name("notes").beginArray();
        for (String note : interval.notes()) json.value(note);
        json.endArray();
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
        VirtualThreadCounts virtual = totals.virtualThreads();
        json.name("virtualLive").value(Json.known(virtual.live()));
        json.name("virtualMounted").value(Json.known(virtual.mounted()));
        json.name("virtualQueued").value(Json.known(virtual.queued()));
        json.endObject();
    }

    private void writeThread(ThreadUsage thread) throws IOException {
        JavaStatus java = thread.java();
        json.beginObject();
        for (ThreadColumn column : ThreadColumn.values()) if (isMember(column, false)) writeMember(column, thread);
        json.name("waited").value(percent(java.waitedNanos()));
        json.name("lockClass").value(java.lockClass().isEmpty() ? null : java.lockClass());
        json.name("lockId").value(java.lockId().isEmpty() ? null : java.lockId());
        json.name("blockedByTid").value(java.ownerTid() == 0 ? null : java.ownerTid());
        json.name("truncated").value(thread.truncated());
        json.name("threads").value(thread.threads());
        json.name("virtual").value(thread.kind() == ThreadKind.VIRTUAL);
        json.endObject();
    }

    private void writeAccount(ThreadUsage account) throws IOException {
        AccountKey key = AccountKey.parse(account.pool());
        json.beginObject();
        json.name("type").value(key.type());
        json.name("name").value(key.name());
        for (ThreadColumn column : ThreadColumn.values())
            if (isMember(column, true) && column != ThreadColumn.NAME) writeMember(column, account);
        json.endObject();
    }

    private void writeMember(ThreadColumn column, ThreadUsage usage) throws IOException {
        json.name(column.member);
        if (column.hasText()) json.value(column.exactText(usage));
        else json.value(number(column, usage));
    }

    private void writeSection(AgentReport.Section section) throws IOException {
        json.beginObject();
        json.name("type").value(section.type());
        json.name("name").value(section.name());
        json.name("thread").value(section.thread());
        json.name("tid").value(section.tid());
        json.name("javaId").value(section.javaId());
        json.name("open").value(section.openNanos() / NANOS_PER_SECOND);
        json.name("cpu").value(section.cpuNanos() < 0 ? null : section.cpuNanos() / NANOS_PER_SECOND);
        json.endObject();
    }

    private Number number(ThreadColumn column, ThreadUsage thread) {
        return switch (column.unit) {
            case ID -> column.amount(thread);
            case RATE -> Json.known(column.amount(thread));
            case BYTES -> Json.known(Math.round(column.value(thread, interval)));
            case DURATION -> column.amount(thread) < 0 ? null : column.amount(thread) / NANOS_PER_SECOND;
            default -> {
                double value = column.value(thread, interval);
                yield value < 0 ? null : Math.round(100 * value) / 100.0;
            }
        };
    }

    /** Returns whether accounts, or else threads, have this column. The process is that of the interval. */
    private static boolean isMember(ThreadColumn column, boolean account) {
        return column.member != null && column.isOf(account) && column != ThreadColumn.PID;
    }

    /** Writes the columns of the table of threads, in which the page shows intervals. */
    static void writeColumns(JsonWriter json) throws IOException {
        json.beginArray();
        for (ThreadColumn column : ThreadColumn.values()) {
            if (column == ThreadColumn.PID) continue;
            json.beginObject();
            json.name("id").value(column.id);
            json.name("title").value(column.title);
            json.name("help").value(column.help);
            json.name("unit").value(column.unit.name().toLowerCase(Locale.ROOT));
            json.name("member").value(column.member);
            json.name("width").value(column.width);
            json.name("rank").value(column.rank);
            json.name("threads").value(column.isOf(false));
            json.name("accounts").value(column.isOf(true));
            json.name("needsDumps").value(column.isJavaStatus());
            json.endObject();
        }
        json.endArray();
    }

    /** Adds the members of columns that the descriptions of threads and accounts lack. */
    static void describe(JsonObject schemas) {
        describe(schemas.getAsJsonObject("Thread"), false);
        describe(schemas.getAsJsonObject("Account"), true);
    }

    private static void describe(JsonObject row, boolean account) {
        JsonObject properties = row.getAsJsonObject("properties");
        for (ThreadColumn column : ThreadColumn.values()) {
            if (!isMember(column, account) || properties.has(column.member)) continue;
            JsonArray types = new JsonArray();
            types.add(column.hasText() ? "string" : "number");
            types.add("null");
            JsonObject member = new JsonObject();
            member.add("type", types);
            member.addProperty("description", column.help);
            properties.add(column.member, member);
            row.getAsJsonArray("required").add(column.member);
        }
    }
}
