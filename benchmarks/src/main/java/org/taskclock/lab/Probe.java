// SPDX-License-Identifier: Apache-2.0
// Copyright the TaskClock authors
package org.taskclock.lab;

import com.google.gson.Gson;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import org.taskclock.ClockStatus;
import org.taskclock.TaskClock;

/**
 * What the clock finds in a JVM of a JDK, asked of one that is started for it.
 *
 * @param rung the one in use
 * @param rungs what is said of each: null where it is usable
 * @param stepNanos the smallest step of each contender that was asked for; without those that did not move
 */
record Probe(
        String rung,
        String libc,
        String accounting,
        long tickNanos,
        Map<String, String> rungs,
        Map<String, Long> stepNanos) {
    static final String OWN_RSEQ = "rseq-own";

    /** glibc leaves the registration to us. */
    static final String TUNABLE = "glibc.pthread.rseq=0";

    private static final long STEP_NANOS = 60_000_000;

    /** Arguments: ids of contenders. */
    static final class Main {
        private Main() {}

        public static void main(String[] args) {
            Map<String, Long> steps = new TreeMap<>();
            if (args.length > 0) {
                for (Contender contender : Contender.named(List.of(args))) {
                    long step = Granularity.smallestStep(contender, STEP_NANOS);
                    if (step > 0) steps.put(contender.id, step);
                }
            }
            ClockStatus status = TaskClock.status();
            Map<String, String> rungs = new TreeMap<>();
            for (ClockStatus.Verdict verdict : status.rungs()) {
                rungs.put(verdict.rung().toString(), verdict.usable() ? "" : verdict.reason());
            }
            System.out.println(new Gson()
                    .toJson(new Probe(
                            status.rung().toString(),
                            status.libc(),
                            status.accounting().toString(),
                            status.tickNanos(),
                            rungs,
                            steps)));
        }
    }

    /**
     * Asks.
     *
     * @param rung to be forced, or null for the best
     * @throws IOException if that JVM ended with anything but an answer: what it said
     */
    static Probe ask(Jdk jdk, String rung, Path agent, List<Contender> contenders)
            throws IOException, InterruptedException {
        List<String> command = new ArrayList<>(List.of(jdk.java().toString(), "--enable-native-access=ALL-UNNAMED"));
        if (rung != null) command.add("-Dtaskclock.rung=" + rung);
        if (agent != null) command.add("-javaagent:" + agent);
        command.addAll(List.of("-cp", System.getProperty("java.class.path"), Main.class.getName()));
        contenders.forEach(contender -> command.add(contender.id));
        ProcessBuilder builder = new ProcessBuilder(command).redirectErrorStream(true);
        if (OWN_RSEQ.equals(rung)) builder.environment().merge("GLIBC_TUNABLES", TUNABLE, (a, b) -> a + ":" + b);
        Process process = builder.start();
        String said = new String(process.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
        int exitCode = process.waitFor();
        String json =
                said.lines().filter(line -> line.startsWith("{")).findFirst().orElse(null);
        if (exitCode == 0 && json != null) return new Gson().fromJson(json, Probe.class);
        throw new IOException(whyNot(said, exitCode));
    }

    /** The cause of a stack trace, which names what was forced; else the first line. */
    private static String whyNot(String said, int exitCode) {
        return said.lines()
                .filter(line -> line.startsWith("Caused by: "))
                .map(line -> line.substring(line.indexOf(": ", "Caused by: ".length()) + 2))
                .findFirst()
                .orElseGet(() -> said.lines().findFirst().orElse("exit code " + exitCode));
    }
}
