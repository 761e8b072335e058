// SPDX-License-Identifier: Apache-2.0
// Copyright the TaskClock authors
package org.taskclock.benchmarks;

import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.io.PrintWriter;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.concurrent.FutureTask;
import org.taskclock.Backend;
import org.taskclock.TaskClock;

/**
 * A JVM on a given backend, in which two threads alternate on one processor on request. Each turn ends with a context
 * switch.
 */
final class SwitchingJvm implements AutoCloseable {
    static final int TURNS = 20_000;

    private static final int WARM_UPS = 3;
    private static final String READY = "ready";
    private static final String TUNABLES = "GLIBC_TUNABLES";

    private final Process process;
    private final BufferedReader from;
    private final PrintWriter to;
    private final String greeting;

    SwitchingJvm(Backend backend) throws IOException {
        ProcessBuilder builder =
                FreshJvm.builder(List.of(FreshJvm.ALLOWED, "-Dtaskclock.backend=" + backend), SwitchingJvm.class);
        builder.environment().remove(TUNABLES);
        if (backend == Backend.RSEQ_OWN) builder.environment().put(TUNABLES, "glibc.pthread.rseq=0");
        process = builder.start();
        from = process.inputReader(StandardCharsets.UTF_8);
        to = new PrintWriter(process.outputWriter(StandardCharsets.UTF_8), true);
        greeting = line();
    }

    /** Returns why the backend cannot be used, or null if it can. */
    String refusal() {
        return greeting.equals(READY) ? null : greeting;
    }

    /** Returns the CPU time of a turn that reads a clock and does some arithmetic. */
    double turnNanos(ReadingLoop contender, int arithmetic) throws IOException {
        to.println(contender.name() + " " + arithmetic);
        return Double.parseDouble(line());
    }

    private String line() throws IOException {
        String line = from.readLine();
        if (line != null) return line;
        int exitCode = process.onExit().join().exitValue();
        throw new IOException("a JVM exited unexpectedly with code " + exitCode + ": see its messages above");
    }

    /** Closes the input of the JVM, which makes it exit. */
    @Override
    public void close() throws IOException {
        to.close();
        from.close();
    }

    // ---- in that JVM

    private static volatile long unusedSink;

    public static void main(String[] args) throws Exception {
        try {
            TaskClock.status();
        } catch (IllegalArgumentException | IllegalStateException e) {
            System.out.println(e.getMessage());
            return;
        }
        int request = NativeScheduling.newToken();
        int response = NativeScheduling.newToken();
        for (int i = 0; i < WARM_UPS; i++) {
            for (ReadingLoop contender : SwitchBenchmark.CONTENDERS) turnNanos(contender, i, request, response);
        }
        System.out.println(READY);
        BufferedReader requests = new BufferedReader(new InputStreamReader(System.in, StandardCharsets.UTF_8));
        String line;
        while ((line = requests.readLine()) != null) {
            String[] fields = line.split(" ", -1);
            System.out.println(
                    turnNanos(ReadingLoop.valueOf(fields[0]), Integer.parseInt(fields[1]), request, response));
        }
    }

    /**
     * Returns the CPU time of a turn, which excludes other work on the processor. Uses new threads each time, because a
     * thread that has read on backend rseq-own remains registered with the kernel.
     */
    private static double turnNanos(ReadingLoop contender, int arithmetic, int request, int response) throws Exception {
        FutureTask<Long> first = new FutureTask<>(() -> {
            NativeScheduling.keepOnProcessor(0);
            take(response);
            long switches = NativeScheduling.switches();
            long nanos = runTurns(contender, arithmetic, request, response);
            if (NativeScheduling.switches() - switches < TURNS)
                throw new IllegalStateException("a turn without a context switch");
            give(request);
            return nanos;
        });
        FutureTask<Long> second = new FutureTask<>(() -> {
            NativeScheduling.keepOnProcessor(0);
            give(response);
            take(request);
            return runTurns(contender, arithmetic, response, request);
        });
        start(first);
        start(second);
        return (first.get() + second.get()) / (2.0 * TURNS);
    }

    /** Starts a daemon thread, because one thread waits forever if the other fails. */
    private static void start(FutureTask<Long> task) {
        Thread thread = new Thread(task, "turns");
        thread.setDaemon(true);
        thread.start();
    }

    private static long runTurns(ReadingLoop contender, int arithmetic, int given, int taken) {
        long start = ReadingLoop.SYSTEM_CALL.read(1);
        long value = 1;
        for (int turn = 0; turn < TURNS; turn++) {
            value += contender.read(1);
            for (int i = 0; i < arithmetic; i++) value = value * 6364136223846793005L + 1442695040888963407L;
            give(given);
            take(taken);
        }
        unusedSink = value;
        return ReadingLoop.SYSTEM_CALL.read(1) - start;
    }

    private static void give(int token) {
        if (!NativeScheduling.give(token)) throw new IllegalStateException("cannot give a token");
    }

    private static void take(int token) {
        if (!NativeScheduling.take(token)) throw new IllegalStateException("cannot take a token");
    }
}
