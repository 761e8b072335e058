// SPDX-License-Identifier: Apache-2.0
// Copyright the TaskClock authors
package org.taskclock.watch;

import java.io.IOException;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;

/**
 * What TaskClock's agent tells where it is in the JVM: CPU time of virtual threads, and yields. It is asked by the attach
 * mechanism for a property that it makes up at that moment.
 */
final class AgentView {
    private static final long TIMEOUT_MILLIS = 2_000;
    private static final long SECOND = 1_000_000_000;
    /** Where there is no agent, look again after this. */
    private static final long LOOK_AGAIN_NANOS = 15 * SECOND;
    /** Between two reports, times the CPU time that one took. */
    private static final int PART = 100;

    private static final int MOST_SITES = 3;

    /** Sums, from which differences are taken. Of a group of virtual threads, or what the carriers did besides. */
    private record Sum(long live, long cpuNanos, long userNanos) {}

    private final int pid;
    private final JvmSocket socket;
    private final boolean allowed;
    private long notBefore = System.nanoTime();

    private boolean present;
    private Map<String, Sum> groups = new HashMap<>();
    private Sum scheduling;
    private Map<String, Long> sites = new HashMap<>();
    private Map<Integer, Long> yielders = new HashMap<>();
    private String complaint;
    /** Yields of all threads so far; -1 while they are not counted. */
    private long yields = -1;

    private long takenAt;

    // Of the last interval.
    private List<Row> rows = List.of();
    private List<String> sitesNow = List.of();
    private final Map<Integer, Double> yieldsASecond = new HashMap<>();
    private long yieldsMore = -1;

    AgentView(int pid, int innerPid, boolean allowed) {
        this.pid = pid;
        this.allowed = allowed;
        socket = new JvmSocket(pid, innerPid);
    }

    boolean isPresent() {
        return present;
    }

    /** Groups of virtual threads, and what their carriers did besides. */
    List<Row> rows() {
        return rows;
    }

    /** How often a thread yielded a second, or virtual threads on it; 0 where that is not known. */
    double yieldsASecond(int tid) {
        return yieldsASecond.getOrDefault(tid, 0.0);
    }

    /** From where most yields came, a line each. */
    List<String> sites() {
        return sitesNow;
    }

    /** What is wrong with the agent that is there; null if nothing is. */
    String complaint() {
        return complaint;
    }

    /** In the last interval; -1 where they are not counted. */
    long yields() {
        return yieldsMore;
    }

    /** Asks, if it is time. */
    void advance(long intervalNanos) {
        rows = List.of();
        sitesNow = List.of();
        yieldsASecond.clear();
        yieldsMore = -1;
        long now = System.nanoTime();
        if (!allowed || now - notBefore < 0) return;
        notBefore = now + LOOK_AGAIN_NANOS;
        AgentReport report;
        try {
            report = AgentReport.ask(socket, TIMEOUT_MILLIS);
            complaint = null;
        } catch (AgentReport.Unreadable e) {
            complaint = e.getMessage();
            report = null;
        } catch (IOException e) {
            report = null;
        }
        boolean had = present;
        present = report != null;
        if (!present) {
            yields = -1;
            return;
        }
        // It was made up somewhere in between.
        long taken = now + (System.nanoTime() - now) / 2;
        double part = takenAt == 0 ? 1 : Math.min(1, (double) intervalNanos / (taken - takenAt));
        takenAt = taken;
        notBefore = now;
        read(report, had, part, intervalNanos);
    }

    private void read(AgentReport report, boolean had, double part, long intervalNanos) {
        // The first time its code is compiled.
        if (had) notBefore += PART * report.reportNanos();
        Map<String, Sum> nowGroups = new HashMap<>();
        for (AgentReport.Group group : report.virtualThreads())
            nowGroups.put(group.name(), new Sum(group.live(), group.cpuNanos(), group.userNanos()));
        Map<Integer, Long> nowYielders = new HashMap<>();
        for (AgentReport.Yielder yielder : report.yielders()) nowYielders.put(yielder.tid(), yielder.yields());
        Map<String, Long> nowSites = new HashMap<>();
        for (AgentReport.Site site : report.yieldSites()) nowSites.merge(site.name(), site.yields(), Long::sum);
        long nowYields = report.yieldMode().equals("count") ? report.platformYields() + report.virtualYields() : -1;
        Sum nowScheduling =
                report.carriers().isEmpty() ? null : new Sum(1, report.schedulingNanos(), report.schedulingUserNanos());
        if (had) {
            List<Row> found = new ArrayList<>();
            nowGroups.forEach((name, sum) -> {
                Row row = row(name, sum, groups.getOrDefault(name, new Sum(0, 0, 0)), part);
                if (row.cpuNanos() > 0 || row.threads() > 0) found.add(row);
            });
            if (nowScheduling != null && scheduling != null)
                found.add(row("(scheduling of virtual threads)", nowScheduling, scheduling, part));
            rows = found;
            if (nowYields >= 0 && yields >= 0) {
                yieldsMore = Math.round(Math.max(0, nowYields - yields) * part);
                tell(nowSites, nowYielders, part * 1e9 / intervalNanos);
            }
        }
        groups = nowGroups;
        scheduling = nowScheduling;
        sites = nowSites;
        yielders = nowYielders;
        yields = nowYields;
    }

    private Row row(String name, Sum now, Sum before, double part) {
        long cpu = Math.round(Math.max(0, now.cpuNanos - before.cpuNanos) * part);
        long user = Math.round(Math.max(0, now.userNanos - before.userNanos) * part);
        return new Row(
                pid,
                0,
                0,
                name,
                false,
                Row.Kind.VIRTUAL,
                name,
                (int) Math.min(now.live, Integer.MAX_VALUE),
                cpu,
                Math.min(cpu, user),
                -1,
                -1,
                -1,
                '-');
    }

    private void tell(Map<String, Long> nowSites, Map<Integer, Long> nowYielders, double perSecond) {
        nowYielders.forEach((tid, count) ->
                yieldsASecond.put(tid, Math.max(0, count - yielders.getOrDefault(tid, 0L)) * perSecond));
        sitesNow = nowSites.entrySet().stream()
                .map(e -> Map.entry(e.getKey(), e.getValue() - sites.getOrDefault(e.getKey(), 0L)))
                .filter(e -> e.getValue() > 0)
                .sorted(Map.Entry.<String, Long>comparingByValue().reversed())
                .limit(MOST_SITES)
                .map(e -> String.format(Locale.ROOT, "%,.0f a second from %s", e.getValue() * perSecond, e.getKey()))
                .toList();
    }
}
