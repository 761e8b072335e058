// SPDX-License-Identifier: Apache-2.0
// Copyright the TaskClock authors
package org.taskclock.hostile;

import java.util.HashMap;
import java.util.Map;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/** The series of a response to a scrape. */
final class Scrape {
    private static final Pattern LABEL = Pattern.compile("([a-z_]+)=\"((?:[^\"\\\\]|\\\\.)*+)\"");
    private static final String POOLS = "taskclock_thread_cpu_time_seconds_total{";
    private static final String PROCESS = "taskclock_process_cpu_time_seconds_total{";

    final String text;
    /** CPU time in seconds by process id: that of the process, that of its pools, and that of some of its pools. */
    final Map<Long, Double> processes = new HashMap<>();

    final Map<Long, Double> pools = new HashMap<>();
    final Map<Long, Double> honestPools = new HashMap<>();
    final Map<Long, Double> collectors = new HashMap<>();
    /** A pool of an honest JVM that is known under the kernel's name of its threads, by process id. */
    final Map<Long, String> truncatedPools = new HashMap<>();

    int longestLabel;
    /** A line whose value is negative or not finite, or that cannot be parsed; null if there is none. */
    String badLine;

    Scrape(String text) {
        this.text = text;
        for (String line : text.split("\n", -1)) {
            if (!line.isEmpty() && !line.startsWith("#")) add(line);
        }
    }

    private void add(String line) {
        Map<String, String> labels = new HashMap<>();
        for (Matcher label = LABEL.matcher(line); label.find(); ) {
            labels.put(label.group(1), label.group(2));
            longestLabel = Math.max(longestLabel, label.group(2).length());
        }
        double value;
        try {
            value = Double.parseDouble(line.substring(line.lastIndexOf(' ') + 1));
        } catch (NumberFormatException e) {
            value = Double.NaN;
        }
        if (!(value >= 0 && value < Double.POSITIVE_INFINITY))
            badLine = line.length() > 300 ? line.substring(0, 300) : line;
        if (!labels.containsKey("jvm")) return;
        String jvm = labels.get("jvm");
        long pid = Long.parseLong(jvm.substring(jvm.lastIndexOf('-') + 1));
        if (line.startsWith(PROCESS)) processes.merge(pid, value, Double::sum);
        if (!line.startsWith(POOLS)) return;
        pools.merge(pid, value, Double::sum);
        String pool = labels.getOrDefault("taskclock_pool_name", "");
        if (pool.startsWith(HostileProgram.HONEST_THREADS)) honestPools.merge(pid, value, Double::sum);
        // JDK 26 leaves out the middle.
        else if (pool.startsWith(HostileProgram.HONEST_THREADS.substring(0, 7))) truncatedPools.put(pid, pool);
        if (labels.getOrDefault("taskclock_pool_kind", "").equals("gc")) collectors.merge(pid, value, Double::sum);
    }
}
