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
import org.taskclock.Backend;
import org.taskclock.ClockStatus;
import org.taskclock.TaskClock;

/**
 * The state of TaskClock in a new JVM.
 *
 * @param backend the backend in use
 * @param backends the reason why each backend is not usable; empty if it is usable
 * @param stepNanos the smallest step of each requested contender that advanced, by id
 */
record BackendProbe(
        String backend,
        String libc,
        String accounting,
        long tickNanos,
        Map<String, String> backends,
        Map<String, Long> stepNanos) {
    static final String OWN_RSEQ = "rseq-own";

    /** Keeps glibc from registering a restartable sequence, so that TaskClock can register its own. */
    static final String TUNABLE = "glibc.pthread.rseq=0";

    private static final long STEP_NANOS = 60_000_000;
    /** More than calibration needs after the first reading of a process. */
    private static final long CALIBRATION_NANOS = 1_000_000_000;

    /** The main class of the new JVM. Arguments: contender ids. */
    static final class Main {
        private Main() {}

        public static void main(String[] args) {
            Map<String, Long> steps = new TreeMap<>();
            if (args.length > 0) {
                calibrate();
                for (Contender contender : Contender.named(List.of(args))) {
                    long step = SmallestStep.measure(contender.loop, STEP_NANOS);
                    if (step > 0) steps.put(contender.id, step);
                }
            }
            ClockStatus status = TaskClock.status();
            Map<String, String> backends = new TreeMap<>();
            for (ClockStatus.Verdict verdict : status.backends()) {
                backends.put(verdict.backend().toString(), verdict.usable() ? "" : verdict.reason());
            }
            System.out.println(new Gson()
                    .toJson(new BackendProbe(
                            status.backend().toString(),
                            status.libc(),
                            status.accounting().toString(),
                            status.tickNanos(),
                            backends,
                            steps)));
        }
    }

    /** Reads until TaskClock knows the rate of the counter. Before that, each reading makes a system call. */
    private static void calibrate() {
        if (Backend.inUse().compareTo(Backend.SYSCALL) >= 0) return;
        long end = System.nanoTime() + CALIBRATION_NANOS;
        while (System.nanoTime() - end < 0) TaskClock.cpuNanos();
    }

    /**
     * Starts a JVM and returns its state.
     *
     * @param backend the backend to force, or null for the best one
     * @throws IOException if the JVM fails, with its first message
     */
    static BackendProbe run(Jdk jdk, String backend, Path agent, List<Contender> contenders)
            throws IOException, InterruptedException {
        List<String> command = new ArrayList<>(List.of(jdk.java().toString(), "--enable-native-access=ALL-UNNAMED"));
        if (backend != null) command.add("-Dtaskclock.backend=" + backend);
        if (agent != null) command.add("-javaagent:" + agent);
        command.addAll(List.of("-cp", System.getProperty("java.class.path"), Main.class.getName()));
        contenders.forEach(contender -> command.add(contender.id));
        ProcessBuilder builder = new ProcessBuilder(command).redirectErrorStream(true);
        if (OWN_RSEQ.equals(backend)) builder.environment().merge("GLIBC_TUNABLES", TUNABLE, (a, b) -> a + ":" + b);
        Process process = builder.start();
        String output = new String(process.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
        int exitCode = process.waitFor();
        String json =
                output.lines().filter(line -> line.startsWith("{")).findFirst().orElse(null);
        if (exitCode == 0 && json != null) return new Gson().fromJson(json, BackendProbe.class);
        throw new IOException(failure(output, exitCode));
    }

    /** Returns the message of the cause in a stack trace, which names the forced backend; otherwise the first line. */
    private static String failure(String output, int exitCode) {
        return output.lines()
                .filter(line -> line.startsWith("Caused by: "))
                .map(line -> line.substring(line.indexOf(": ", "Caused by: ".length()) + 2))
                .findFirst()
                .orElseGet(() -> output.lines().findFirst().orElse("exit code " + exitCode));
    }
}
