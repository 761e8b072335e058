// SPDX-License-Identifier: Apache-2.0
// Copyright the TaskClock authors
package org.taskclock.cli;

import static org.assertj.core.api.Assertions.assertThat;

import com.google.gson.JsonElement;
import com.google.gson.JsonObject;
import com.google.gson.JsonParser;
import java.io.IOException;
import java.lang.management.ManagementFactory;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.concurrent.CountDownLatch;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** {@code taskclock time}. */
class TimeTest {
    private static final String JAVA =
            Path.of(System.getProperty("java.home"), "bin", "java").toString();
    private static final String CLASS_PATH = System.getProperty("java.class.path");
    private static final int YIELDS = 50_000;

    /** Prints the CPU time of a thread that still lives, and ends as it was told: with an exit code, or never. */
    static final class Program {
        private Program() {}

        @SuppressWarnings("ThreadPriorityCheck") // it is what is counted
        public static void main(String[] args) throws InterruptedException {
            CountDownLatch done = new CountDownLatch(1);
            Thread worker = new Thread(
                    () -> {
                        long end = System.nanoTime() + 400_000_000;
                        while (System.nanoTime() < end) Thread.onSpinWait();
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
    private Path folder;

    private JsonObject json() throws IOException {
        return JsonParser.parseString(Files.readString(folder.resolve("time.json")))
                .getAsJsonObject();
    }

    private Process start(String... command) throws IOException {
        ProcessBuilder builder =
                Child.builder("time", "--json", folder.resolve("time.json").toString(), "--");
        for (String word : command) builder.command().add(word);
        return builder.start();
    }

    private static JsonObject pool(JsonObject jvm, String name) {
        for (JsonElement pool : jvm.getAsJsonArray("pools"))
            if (pool.getAsJsonObject().get("name").getAsString().equals(name)) return pool.getAsJsonObject();
        throw new AssertionError("no pool " + name + " in " + jvm);
    }

    @Test
    void shouldTellWhatAJvmUsed() throws IOException, InterruptedException {
        Process process = start(JAVA, "-XX:+UseG1GC", "-cp", CLASS_PATH, Program.class.getName(), "7");
        String out = new String(process.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
        String err = new String(process.getErrorStream().readAllBytes(), StandardCharsets.UTF_8);
        assertThat(Child.exitCode(process)).as(err).isEqualTo(7);
        // Nothing of the agent's is in the program's output.
        assertThat(out.strip()).containsOnlyDigits();
        assertThat(err)
                .startsWith("\nreal\t0m")
                .contains("\nuser\t0m", "\nsys\t0m", "worker-#", "[GC]", "yields of platform");

        JsonObject jvm = json().getAsJsonArray("jvms").get(0).getAsJsonObject();
        assertThat(jvm.get("source").getAsString()).isEqualTo("agent");
        JsonObject worker = pool(jvm, "worker-#");
        // What it used between the question and the end, and a tick's error of nothing: cpu is exact.
        assertThat(worker.get("cpuNanos").getAsLong() - Long.parseLong(out.strip()))
                .isBetween(0L, 20_000_000L);
        assertThat(jvm.getAsJsonObject("yields").get("platform").getAsLong()).isGreaterThanOrEqualTo(YIELDS);
        long user = json().getAsJsonObject("times").get("userNanos").getAsLong();
        long system = json().getAsJsonObject("times").get("systemNanos").getAsLong();
        // Two figures in steps of 10 ms.
        assertThat(user + system).isGreaterThan(jvm.get("cpuNanos").getAsLong() - 25_000_000);
    }

    @Test
    void shouldGoThroughAScriptAndTellJvmsApart() throws IOException, InterruptedException {
        String java = "\"$1\" -cp \"$2\" \"$3\"";
        String script = "read word; echo \"got $word\"; " + java + " 0; " + java + " 0; exit 5";
        Process process = start("sh", "-c", script, "sh", JAVA, CLASS_PATH, Program.class.getName());
        process.getOutputStream().write("hello\n".getBytes(StandardCharsets.UTF_8));
        process.getOutputStream().close();
        assertThat(new String(process.getInputStream().readAllBytes(), StandardCharsets.UTF_8))
                .startsWith("got hello\n")
                .hasLineCount(3);
        assertThat(Child.exitCode(process)).isEqualTo(5);
        assertThat(json().getAsJsonArray("jvms")).hasSize(2);
    }

    @Test
    void shouldHandOnSignals() throws IOException, InterruptedException {
        Process process = start(JAVA, "-cp", CLASS_PATH, Program.class.getName(), "never");
        assertThat(process.getInputStream().read()).isPositive(); // it has begun
        process.toHandle().destroy();
        assertThat(Child.exitCode(process)).isEqualTo(128 + 15);
        JsonObject jvm = json().getAsJsonArray("jvms").get(0).getAsJsonObject();
        assertThat(pool(jvm, "worker-#").get("cpuNanos").getAsLong()).isGreaterThan(200_000_000);
    }

    @Test
    void shouldTellWhatWasSeenOfOneThatWasKilled() throws IOException, InterruptedException {
        Process process = start(JAVA, "-cp", CLASS_PATH, Program.class.getName(), "never");
        assertThat(process.getInputStream().read()).isPositive();
        ProcessHandle jvm = process.descendants().findFirst().orElseThrow();
        // Each half second there is a look, and the first is a start only.
        Thread.sleep(1_300);
        jvm.destroyForcibly();
        assertThat(Child.exitCode(process)).isEqualTo(128 + 9);
        JsonObject seen = json().getAsJsonArray("jvms").get(0).getAsJsonObject();
        assertThat(seen.get("source").getAsString()).isEqualTo("proc");
        assertThat(seen.get("cpuNanos").getAsLong()).isGreaterThan(200_000_000);
        assertThat(json().getAsJsonArray("notes").get(0).getAsString()).contains("seen from outside");
    }

    @Test
    void shouldEndAsTimeDoes() throws IOException, InterruptedException {
        Child none = Child.run("time", "--", "no-such-command");
        assertThat(none).isEqualTo(new Child(127, "", "taskclock: time: no-such-command: not found\n"));
        Child quiet = Child.run("time", "-q", "sh", "-c", "echo -q; kill -9 $$");
        assertThat(quiet).isEqualTo(new Child(128 + 9, "-q\n", ""));
    }
}
