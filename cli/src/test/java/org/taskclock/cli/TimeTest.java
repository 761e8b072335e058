// SPDX-License-Identifier: Apache-2.0
// Copyright the TaskClock authors
package org.taskclock.cli;

import static org.assertj.core.api.Assertions.assertThat;

import com.google.gson.JsonElement;
import com.google.gson.JsonObject;
import com.google.gson.JsonParser;
import java.io.FileInputStream;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.lang.management.ManagementFactory;
import java.lang.management.ThreadMXBean;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.LongAdder;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** {@code taskclock time}. */
class TimeTest {
    private static final String JAVA =
            Path.of(System.getProperty("java.home"), "bin", "java").toString();
    private static final String CLASS_PATH = System.getProperty("java.class.path");

    /** On a busy machine, each may take as long as a time slice of another thread. */
    private static final int YIELDS = 2_000;

    private static final long TICK_NANOS = 10_000_000;

    /** Prints the CPU time of a live thread. The argument is the exit code, or "never". */
    static final class Program {
        private Program() {}

        @SuppressWarnings("ThreadPriorityCheck") // counted by the test
        public static void main(String[] args) throws InterruptedException {
            CountDownLatch done = new CountDownLatch(1);
            Thread worker = new Thread(
                    () -> {
                        ThreadMXBean bean = ManagementFactory.getThreadMXBean();
                        while (bean.getCurrentThreadCpuTime() < 400_000_000) Thread.onSpinWait();
                        for (int i = 0; i < YIELDS; i++) Thread.yield();
                        done.countDown();
                        sleep();
                    },
                    "worker-7");
            worker.setDaemon(true);
            worker.start();
            done.await();
            System.gc();
            System.out.println(ManagementFactory.getThreadMXBean().getThreadCpuTime(worker.getId()));
            if (args[0].equals("never")) sleep();
            System.exit(Integer.parseInt(args[0]));
        }

        private static void sleep() {
            try {
                Thread.sleep(120_000);
            } catch (InterruptedException e) {
                return;
            }
        }
    }

    @TempDir
    private Path directory;

    private JsonObject json() throws IOException {
        return JsonParser.parseString(Files.readString(directory.resolve("time.json")))
                .getAsJsonObject();
    }

    private Process start(String... command) throws IOException {
        ProcessBuilder builder = CliResult.builder(
                "time", "--json", directory.resolve("time.json").toString(), "--");
        builder.command().addAll(List.of(command));
        return builder.start();
    }

    private static JsonObject pool(JsonObject jvm, String name) {
        for (JsonElement pool : jvm.getAsJsonArray("pools"))
            if (pool.getAsJsonObject().get("name").getAsString().equals(name)) return pool.getAsJsonObject();
        throw new AssertionError("no pool " + name + " in " + jvm);
    }

    @Test
    void shouldReportTheUsageOfAJvm() throws IOException, InterruptedException {
        Process process = start(JAVA, "-XX:+UseG1GC", "-cp", CLASS_PATH, Program.class.getName(), "7");
        String out = new String(process.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
        String err = new String(process.getErrorStream().readAllBytes(), StandardCharsets.UTF_8);
        assertThat(CliResult.exitCode(process)).as(err).isEqualTo(7);
        // The agent prints nothing to the program's output.
        assertThat(out.strip()).containsOnlyDigits();
        assertThat(err)
                .startsWith("\nreal\t0m")
                .contains("\nuser\t0m", "\nsys\t0m", "worker-#", "[GC]", "yields in platform");

        JsonObject jvm = json().getAsJsonArray("jvms").get(0).getAsJsonObject();
        assertThat(jvm.get("source").getAsString()).isEqualTo("agent");
        JsonObject worker = pool(jvm, "worker-#");
        // The difference is the CPU time that the thread used before the JVM exited.
        assertThat(worker.get("cpuNanos").getAsLong() - Long.parseLong(out.strip()))
                .isBetween(0L, 20_000_000L);
        assertThat(jvm.getAsJsonObject("yields").get("platform").getAsLong()).isGreaterThanOrEqualTo(YIELDS);
        long user = json().getAsJsonObject("times").get("userNanos").getAsLong();
        long system = json().getAsJsonObject("times").get("systemNanos").getAsLong();
        // Both have a resolution of 10 ms.
        assertThat(user + system).isGreaterThan(jvm.get("cpuNanos").getAsLong() - 25_000_000);
    }

    /** Runs short-lived threads of two kinds and prints their CPU times. */
    static final class ShortThreads {
        static final int THREADS = 200;
        private static final long NANOS = 5_000_000;
        private static final FileInputStream ZEROS = openZeros();
        private static long sink;

        private ShortThreads() {}

        private static FileInputStream openZeros() {
            try {
                return new FileInputStream("/dev/zero");
            } catch (IOException e) {
                throw new UncheckedIOException(e);
            }
        }

        public static void main(String[] args) throws InterruptedException, IOException {
            LongAdder computing = new LongAdder();
            LongAdder calling = new LongAdder();
            for (int i = 0; i < THREADS; i++) {
                Thread computer = new Thread(() -> computing.add(burn(ShortThreads::compute)), "computes-" + i);
                Thread caller = new Thread(() -> calling.add(burn(ShortThreads::callKernel)), "calls-" + i);
                computer.start();
                computer.join();
                caller.start();
                caller.join();
            }
            System.out.println(computing.sum() + " " + calling.sum());
        }

        private static void compute() {
            for (int i = 0; i < 2_000; i++) sink += i ^ sink;
        }

        private static void callKernel() {
            try {
                sink += ZEROS.read();
            } catch (IOException e) {
                throw new UncheckedIOException(e);
            }
        }

        private static long burn(Runnable work) {
            ThreadMXBean bean = ManagementFactory.getThreadMXBean();
            long now;
            do {
                for (int i = 0; i < 20; i++) work.run();
                now = bean.getCurrentThreadCpuTime();
            } while (now < NANOS);
            return now;
        }
    }

    @Test
    void shouldReportThreadsThatEndSoon() throws IOException, InterruptedException {
        Process process = start(JAVA, "-cp", CLASS_PATH, ShortThreads.class.getName());
        String[] expected = new String(process.getInputStream().readAllBytes(), StandardCharsets.UTF_8)
                .strip()
                .split(" ", -1);
        String err = new String(process.getErrorStream().readAllBytes(), StandardCharsets.UTF_8);
        assertThat(CliResult.exitCode(process)).as(err).isZero();
        JsonObject jvm = json().getAsJsonArray("jvms").get(0).getAsJsonObject();
        JsonObject computing = pool(jvm, "computes-#");
        JsonObject calling = pool(jvm, "calls-#");
        assertShortThreads(computing, Long.parseLong(expected[0]));
        assertShortThreads(calling, Long.parseLong(expected[1]));
        assertThat(systemShare(calling)).isGreaterThan(systemShare(computing) + 0.2);
        long pools = 0;
        for (JsonElement pool : jvm.getAsJsonArray("pools"))
            pools += pool.getAsJsonObject().get("cpuNanos").getAsLong();
        // The rest is that of threads that the JVM itself has ended, and of its start and exit.
        assertThat(pools)
                .isBetween(
                        jvm.get("cpuNanos").getAsLong() * 3 / 4,
                        jvm.get("cpuNanos").getAsLong());
    }

    private static void assertShortThreads(JsonObject pool, long nanos) {
        assertThat(pool.get("threads").getAsInt()).isEqualTo(ShortThreads.THREADS);
        assertThat(pool.get("kind").getAsString()).isEqualTo("JAVA");
        // A thread also uses some 10 us outside its own code.
        assertThat(pool.get("cpuNanos").getAsLong()).isBetween(nanos, nanos + ShortThreads.THREADS * 100_000L);
    }

    private static double systemShare(JsonObject pool) {
        double cpu = pool.get("cpuNanos").getAsDouble();
        return (cpu - pool.get("userNanos").getAsDouble()) / cpu;
    }

    @Test
    void shouldReportEachJvmOfAScript() throws IOException, InterruptedException {
        String java = "\"$1\" -cp \"$2\" \"$3\"";
        String script = "read line; echo \"got $line\"; " + java + " 0; " + java + " 0; exit 5";
        Process process = start("sh", "-c", script, "sh", JAVA, CLASS_PATH, Program.class.getName());
        process.getOutputStream().write("hello\n".getBytes(StandardCharsets.UTF_8));
        process.getOutputStream().close();
        assertThat(new String(process.getInputStream().readAllBytes(), StandardCharsets.UTF_8))
                .startsWith("got hello\n")
                .hasLineCount(3);
        assertThat(CliResult.exitCode(process)).isEqualTo(5);
        assertThat(json().getAsJsonArray("jvms")).hasSize(2);
    }

    @Test
    void shouldForwardSignals() throws IOException, InterruptedException {
        Process process = start(JAVA, "-cp", CLASS_PATH, Program.class.getName(), "never");
        // What the worker has used when the program is running.
        long usedNanos = Long.parseLong(process.inputReader().readLine());
        process.toHandle().destroy();
        assertThat(CliResult.exitCode(process)).isEqualTo(128 + 15);
        JsonObject jvm = json().getAsJsonArray("jvms").get(0).getAsJsonObject();
        assertThat(pool(jvm, "worker-#").get("cpuNanos").getAsLong()).isGreaterThanOrEqualTo(usedNanos - TICK_NANOS);
    }

    @Test
    void shouldReportSamplesOfAKilledJvm() throws IOException, InterruptedException {
        Process process = start(JAVA, "-cp", CLASS_PATH, Program.class.getName(), "never");
        assertThat(process.getInputStream().read()).isPositive();
        ProcessHandle jvm = process.descendants().findFirst().orElseThrow();
        // Samples are taken every half second; the first only starts an interval.
        Thread.sleep(1_300);
        jvm.destroyForcibly();
        assertThat(CliResult.exitCode(process)).isEqualTo(128 + 9);
        JsonObject sampled = json().getAsJsonArray("jvms").get(0).getAsJsonObject();
        assertThat(sampled.get("source").getAsString()).isEqualTo("proc");
        assertThat(sampled.get("cpuNanos").getAsLong()).isGreaterThan(200_000_000);
        assertThat(json().getAsJsonArray("notes").get(0).getAsString()).contains("sampled from /proc");
    }

    @Test
    void shouldNameTheFileThatCannotBeWritten(@TempDir Path directory) throws IOException, InterruptedException {
        String json = directory.resolve("time.json").toString();
        CliResult child = CliResult.run("time", "--json", json, "-o", "/dev/full", "true");
        assertThat(child.exitCode()).isEqualTo(1);
        assertThat(child.err()).startsWith("taskclock: time: /dev/full: ").hasLineCount(1);
        assertThat(Path.of(json)).isNotEmptyFile();
    }

    @Test
    void shouldUseTheExitCodesOfTime() throws IOException, InterruptedException {
        CliResult none = CliResult.run("time", "--", "no-such-command");
        assertThat(none).isEqualTo(new CliResult(127, "", "taskclock: time: no-such-command: not found\n"));
        CliResult quiet = CliResult.run("time", "-q", "sh", "-c", "echo -q; kill -9 $$");
        assertThat(quiet).isEqualTo(new CliResult(128 + 9, "-q\n", ""));
    }
}
