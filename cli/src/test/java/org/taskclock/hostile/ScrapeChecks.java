// SPDX-License-Identifier: Apache-2.0
// Copyright the TaskClock authors
package org.taskclock.hostile;

import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Set;

/** Checks what exporter and serve say about hostile JVMs. */
final class ScrapeChecks {
    /** The longest text of a JVM that becomes a label: 200 characters, ~ if it was cut, and the process id. */
    private static final int MAX_LABEL = 201 + "-4194304".length();

    private static final long MAX_CHARACTERS = 4 << 20;

    private record Reading(double seconds, long timeNanos) {}

    private final List<HostileJvm> jvms;
    private final Failures failures;
    private final Set<String> truncated = new HashSet<>();
    private final Map<String, Reading> last = new HashMap<>();
    private final int processors = Runtime.getRuntime().availableProcessors();

    ScrapeChecks(List<HostileJvm> jvms, Failures failures) {
        this.jvms = jvms;
        this.failures = failures;
    }

    void check(String command, Scrape scrape) {
        if (scrape.badLine != null) failures.add(Check.VALUES, command + ": not a valid value: " + scrape.badLine);
        if (scrape.longestLabel > MAX_LABEL)
            failures.add(Check.SIZES, command + ": a label of " + scrape.longestLabel + " characters");
        if (scrape.text.length() > MAX_CHARACTERS)
            failures.add(Check.SIZES, command + ": " + scrape.text.length() + " characters of metrics");
        checkGrowth(command + ": process", scrape.processes);
        checkGrowth(command + ": pools", scrape.pools);
        scrape.truncatedPools.forEach((pid, pool) -> {
            if (truncated.add(command + " " + pid))
                failures.add(Check.NAMES, command + ": process " + pid + " has the pool \"" + pool + "\"");
        });
        for (HostileJvm jvm : jvms) {
            if (jvm.scenario() == Scenario.GC_NAMES) checkKinds(command, jvm.pid(), scrape);
            if (jvm.scenario() == Scenario.FORGED_SOCKET) checkForged(command, jvm.pid(), scrape);
        }
    }

    /** No process can use more than all processors since the last scrape; 2 s are for what is reported later. */
    private void checkGrowth(String what, Map<Long, Double> used) {
        long now = System.nanoTime();
        used.forEach((pid, seconds) -> {
            Reading before = last.put(what + " " + pid, new Reading(seconds, now));
            if (before == null) return;
            double elapsed = (now - before.timeNanos) / 1e9;
            if (seconds - before.seconds <= processors * (elapsed + 2)) return;
            failures.add(
                    Check.VALUES,
                    String.format(
                            Locale.ROOT,
                            "%s %d: %.3g s of CPU time within %.1f s",
                            what,
                            pid,
                            seconds - before.seconds,
                            elapsed));
        });
    }

    private void checkKinds(String command, long pid, Scrape scrape) {
        double collectors = scrape.collectors.getOrDefault(pid, 0.0);
        if (collectors > 0.3 && collectors > scrape.pools.getOrDefault(pid, 0.0) / 2)
            failures.add(Check.VALUES, command + ": Java threads of gc-names count as garbage collection");
    }

    /** Impossible reports must have been noticed and counted, not only ignored. */
    void checkErrors(String command, Scrape scrape) {
        long forged =
                jvms.stream().filter(jvm -> jvm.scenario().forgesReports()).count();
        double counted = scrape.text
                .lines()
                .filter(line -> line.startsWith("taskclock_exporter_jvm_errors_total "))
                .mapToDouble(line -> Double.parseDouble(line.substring(line.indexOf(' '))))
                .findFirst()
                .orElse(-1);
        if (counted < forged)
            failures.add(Check.VALUES, command + ": counts " + counted + " errors of " + forged + " forged reports");
    }

    private void checkForged(String command, long pid, Scrape scrape) {
        String label = "-" + pid + "\"";
        if (scrape.text
                .lines()
                .anyMatch(line -> line.contains(label) && line.contains(ForgedAttachListener.FORGED_NAME)))
            failures.add(Check.TRUST, command + ": shows what a socket of another user says about a process");
    }
}
