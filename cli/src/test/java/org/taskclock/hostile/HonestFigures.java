// SPDX-License-Identifier: Apache-2.0
// Copyright the TaskClock authors
package org.taskclock.hostile;

import com.google.gson.JsonArray;
import com.google.gson.JsonElement;
import com.google.gson.JsonObject;
import com.google.gson.JsonParser;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;

/** Compares the CPU time of honest JVMs with that of the kernel: of pidstat, or of the file that pidstat reads. */
final class HonestFigures {
    /** The CPU time of an honest JVM in seconds, and what was measured; NaN if nothing was. */
    record Row(double expected, double exporter, double exporterPools, double serve, double serveHistory) {}

    /** The history of serve is written within five seconds. */
    private static final long HISTORY_MILLIS = 6_000;

    private final List<HostileJvm> jvms;
    private final Failures failures;
    private final int seconds;
    private final double maxPercent;
    private final boolean usesPidstat;
    private final List<Row> rows = new ArrayList<>();

    /** The CPU time since the start before and after the first scrapes, and after the last. */
    private Map<Long, Double> beforeFirst;

    private Map<Long, Double> afterFirst;
    private Map<Long, Double> beforeLast;
    private Map<Long, Double> pidstatSeconds = Map.of();
    private Process pidstat;
    private Scrape firstOfExporter;
    private Scrape firstOfServe;
    private long from;
    private long to;

    HonestFigures(List<HostileJvm> jvms, Failures failures, int seconds, double maxPercent, boolean usesPidstat) {
        this.jvms = jvms;
        this.failures = failures;
        this.seconds = seconds;
        this.maxPercent = maxPercent;
        this.usesPidstat = usesPidstat;
    }

    List<Row> rows() {
        return rows;
    }

    /** To be called before the first scrapes. */
    void begin() throws IOException {
        beforeFirst = kernelSeconds();
        from = System.currentTimeMillis();
        if (!usesPidstat) return;
        List<String> pids = jvms.stream().map(jvm -> Long.toString(jvm.pid())).toList();
        ProcessBuilder builder =
                new ProcessBuilder("pidstat", "-u", "-p", String.join(",", pids), Integer.toString(seconds), "1");
        builder.environment().put("LC_ALL", "C");
        pidstat = builder.redirectErrorStream(true).start();
    }

    void scraped(Scrape exporter, Scrape serve) throws IOException {
        firstOfExporter = exporter;
        firstOfServe = serve;
        afterFirst = kernelSeconds();
    }

    /** To be called before the last scrapes. Waits for pidstat. */
    void end() throws IOException, InterruptedException {
        if (pidstat != null) pidstatSeconds = readPidstat();
        beforeLast = kernelSeconds();
        to = System.currentTimeMillis();
    }

    void compare(Scrape lastOfExporter, Scrape lastOfServe, Watcher server) throws IOException, InterruptedException {
        Map<Long, Double> afterLast = kernelSeconds();
        Map<Long, Double> history = historySeconds(server);
        for (HostileJvm jvm : jvms) {
            long pid = jvm.pid();
            double least = pidstatSeconds.getOrDefault(pid, beforeLast.get(pid) - afterFirst.get(pid));
            double most = pidstatSeconds.getOrDefault(pid, afterLast.get(pid) - beforeFirst.get(pid));
            Row row = new Row(
                    (least + most) / 2,
                    growth(pid, firstOfExporter, lastOfExporter, false),
                    growth(pid, firstOfExporter, lastOfExporter, true),
                    growth(pid, firstOfServe, lastOfServe, false),
                    history.getOrDefault(pid, Double.NaN));
            rows.add(row);
            check("exporter", pid, row.exporter, least, most, 0);
            check("pools of exporter", pid, row.exporterPools, least, most, 0);
            check("serve", pid, row.serve, least, most, 0);
            // The first and the last second of the history are parts of a second.
            check("history of serve", pid, row.serveHistory, least, most, usesPidstat ? 0 : 200.0 / seconds);
        }
    }

    private void check(String what, long pid, double measured, double least, double most, double edgesPercent) {
        double tolerance = (maxPercent + edgesPercent) / 100;
        if (measured >= least * (1 - tolerance) && measured <= most * (1 + tolerance)) return;
        failures.add(
                Check.FIGURES,
                String.format(
                        Locale.ROOT,
                        "%s: %.3f s for process %d, which used %.3f to %.3f s",
                        what,
                        measured,
                        pid,
                        least,
                        most));
    }

    private static double growth(long pid, Scrape first, Scrape last, boolean pools) {
        if (first == null || last == null) return Double.NaN;
        Map<Long, Double> before = pools ? first.pools : first.processes;
        Map<Long, Double> after = pools ? last.pools : last.processes;
        return after.getOrDefault(pid, Double.NaN) - before.getOrDefault(pid, Double.NaN);
    }

    /** Returns the CPU time of each JVM in the history of serve, which may lack a part of the range's ends. */
    private Map<Long, Double> historySeconds(Watcher serve) throws InterruptedException {
        Map<Long, Double> found = new HashMap<>();
        Thread.sleep(HISTORY_MILLIS);
        String all = serve.get("/api/jvms");
        if (all == null) return found;
        for (JsonElement element : JsonParser.parseString(all).getAsJsonObject().getAsJsonArray("jvms")) {
            JsonObject jvm = element.getAsJsonObject();
            long pid = jvm.get("pid").getAsLong();
            if (!beforeFirst.containsKey(pid)) continue;
            String path = "/api/jvms/" + jvm.get("id").getAsString() + "/pools?points=1000&from=" + from + "&to=" + to;
            String pools = serve.get(path);
            if (pools == null) continue;
            JsonObject process = JsonParser.parseString(pools).getAsJsonObject().getAsJsonObject("process");
            double percent = meanPercent(process.getAsJsonArray("user"), process.getAsJsonArray("system"));
            found.put(pid, percent / 100 * (to - from) / 1_000);
        }
        return found;
    }

    private static double meanPercent(JsonArray user, JsonArray system) {
        double sum = 0;
        int count = 0;
        for (int i = 1; i < user.size() - 1; i++) {
            if (user.get(i).isJsonNull()) continue;
            sum += user.get(i).getAsDouble() + system.get(i).getAsDouble();
            count++;
        }
        return sum / count;
    }

    /** Returns the CPU time of each JVM since its start, as pidstat reads it. */
    private Map<Long, Double> kernelSeconds() throws IOException {
        Map<Long, Double> used = new HashMap<>();
        for (HostileJvm jvm : jvms) {
            String stat = Files.readString(Path.of("/proc/" + jvm.pid() + "/stat"));
            String[] fields = stat.substring(stat.lastIndexOf(')') + 2).split(" ", -1);
            // USER_HZ is 100.
            used.put(jvm.pid(), (Long.parseLong(fields[11]) + Long.parseLong(fields[12])) / 100.0);
        }
        return used;
    }

    /** Returns the CPU time of each process. Columns: Average: UID PID %usr %system %guest %wait %CPU CPU Command. */
    private Map<Long, Double> readPidstat() throws InterruptedException {
        Map<Long, Double> used = new HashMap<>();
        for (String line : pidstat.inputReader().lines().toList()) {
            String[] columns = line.split(" +", -1);
            if (columns[0].equals("Average:") && columns.length > 7 && !columns[2].equals("PID"))
                used.put(Long.parseLong(columns[2]), Double.parseDouble(columns[7]) / 100 * seconds);
        }
        pidstat.waitFor();
        return used;
    }
}
