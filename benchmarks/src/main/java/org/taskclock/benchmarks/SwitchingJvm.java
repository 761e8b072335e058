// SPDX-License-Identifier: Apache-2.0
// Copyright the TaskClock authors
package org.taskclock.benchmarks;

import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.io.PrintWriter;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.concurrent.FutureTask;
import org.taskclock.Rung;
import org.taskclock.TaskClock;

/** A JVM on a rung of its own, in which two threads on one processor take turns when asked to. Each turn is a switch. */
final class SwitchingJvm implements AutoCloseable {
    static final int TURNS = 20_000;

    private static final int WARM_UPS = 3;
    private static final String READY = "ready";
    private static final String TUNABLES = "GLIBC_TUNABLES";

    private final Process process;
    private final BufferedReader from;
    private final PrintWriter to;
    private final String greeting;

    SwitchingJvm(Rung rung) throws IOException {
        ProcessBuilder builder = new ProcessBuilder(
                        Path.of(System.getProperty("java.home"), "bin", "java").toString(),
                        "--enable-native-access=ALL-UNNAMED",
                        "-Dtaskclock.rung=" + rung,
                        "-cp",
                        System.getProperty("java.class.path"),
                        SwitchingJvm.class.getName())
                .redirectError(ProcessBuilder.Redirect.INHERIT);
        builder.environment().remove(TUNABLES);
        if (rung == Rung.RSEQ_OWN) builder.environment().put(TUNABLES, "glibc.pthread.rseq=0");
        process = builder.start();
        from = process.inputReader(StandardCharsets.UTF_8);
        to = new PrintWriter(process.outputWriter(StandardCharsets.UTF_8), true);
        greeting = line();
    }

    /** Why the rung cannot be used here; null if it can. */
    String refusal() {
        return greeting.equals(READY) ? null : greeting;
    }

    /** The CPU time of a turn that reads something and does some arithmetic. */
    double turnNanos(Contender contender, int arithmetic) throws IOException {
        to.println(contender.name() + " " + arithmetic);
        return Double.parseDouble(line());
    }

    private String line() throws IOException {
        String line = from.readLine();
        if (line != null) return line;
        int exitCode = process.onExit().join().exitValue();
        throw new IOException("a JVM ended before its time, see above why; exit code " + exitCode);
    }

    /** It ends with its input. */
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
        } catch (ExceptionInInitializerError e) {
            System.out.println(e.getCause().getMessage());
            return;
        }
        int there = Scheduling.newToken();
        int back = Scheduling.newToken();
        for (int i = 0; i < WARM_UPS; i++) {
            for (Contender contender : Switches.CONTENDERS) takeTurns(contender, i, there, back);
        }
        System.out.println(READY);
        BufferedReader orders = new BufferedReader(new InputStreamReader(System.in, StandardCharsets.UTF_8));
        String order;
        while ((order = orders.readLine()) != null) {
            String[] words = order.split(" ", -1);
            System.out.println(takeTurns(Contender.valueOf(words[0]), Integer.parseInt(words[1]), there, back));
        }
    }

    /**
     * The CPU time of a turn: what others do on the processor meanwhile does not count. By new threads each time: one that
     * has read on the rung rseq-own is registered with the kernel for good.
     */
    private static double takeTurns(Contender contender, int arithmetic, int there, int back) throws Exception {
        FutureTask<Long> first = new FutureTask<>(() -> {
            Scheduling.keepOnProcessor(0);
            take(back);
            long switches = Scheduling.switches();
            long nanos = turns(contender, arithmetic, there, back);
            if (Scheduling.switches() - switches < TURNS) throw new IllegalStateException("a turn without a switch");
            give(there);
            return nanos;
        });
        FutureTask<Long> second = new FutureTask<>(() -> {
            Scheduling.keepOnProcessor(0);
            give(back);
            take(there);
            return turns(contender, arithmetic, back, there);
        });
        start(first);
        start(second);
        return (first.get() + second.get()) / (2.0 * TURNS);
    }

    /** A daemon: where one fails, the other is left waiting. */
    private static void start(FutureTask<Long> task) {
        Thread thread = new Thread(task, "turns");
        thread.setDaemon(true);
        thread.start();
    }

    private static long turns(Contender contender, int arithmetic, int given, int taken) {
        long start = Contender.SYSTEM_CALL.read(1);
        long value = 1;
        for (int turn = 0; turn < TURNS; turn++) {
            value += contender.read(1);
            for (int i = 0; i < arithmetic; i++) value = value * 6364136223846793005L + 1442695040888963407L;
            give(given);
            take(taken);
        }
        unusedSink = value;
        return Contender.SYSTEM_CALL.read(1) - start;
    }

    private static void give(int token) {
        if (!Scheduling.give(token)) throw new IllegalStateException("cannot give a token");
    }

    private static void take(int token) {
        if (!Scheduling.take(token)) throw new IllegalStateException("cannot take a token");
    }
}
