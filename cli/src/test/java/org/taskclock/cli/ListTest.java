// SPDX-License-Identifier: Apache-2.0
// Copyright the TaskClock authors
package org.taskclock.cli;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assumptions.assumeThat;

import com.google.gson.JsonElement;
import com.google.gson.JsonObject;
import com.google.gson.JsonParser;
import java.io.File;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import java.util.function.Predicate;
import org.junit.jupiter.api.Test;
import org.taskclock.testing.LoadJvm;

/** {@code taskclock list}. */
class ListTest {
    private static final List<String> KEYS =
            List.of("pid", "name", "user", "container", "jdk", "cpuPercent", "threads", "agent");

    private static CliResult runSuccessfully(String... arguments) throws Exception {
        CliResult child = CliResult.runHere(arguments);
        assertThat(child).isEqualTo(new CliResult(Main.OK, child.out(), ""));
        return child;
    }

    /** Repeats a command until a condition holds: on a busy machine, a busy thread may not run in an interval. */
    private static String await(Predicate<String> condition, String... arguments) throws Exception {
        long end = System.nanoTime() + TimeUnit.SECONDS.toNanos(CliResult.TIMEOUT_SECONDS);
        String out = runSuccessfully(arguments).out();
        while (!condition.test(out) && System.nanoTime() < end)
            out = runSuccessfully(arguments).out();
        return out;
    }

    private static JsonObject find(String json, long pid) {
        for (JsonElement jvm : JsonParser.parseString(json).getAsJsonArray())
            if (jvm.getAsJsonObject().get("pid").getAsLong() == pid) return jvm.getAsJsonObject();
        throw new AssertionError("no process " + pid + " in " + json);
    }

    @Test
    void shouldListJvmsBusiestFirst() throws Exception {
        try (LoadJvm busy = LoadJvm.start("busy");
                LoadJvm idle = LoadJvm.start("idle=5")) {
            String json = await(out -> find(out, busy.pid()).get("cpuPercent").getAsDouble() > 10, "list", "--json");
            JsonObject first = find(json, busy.pid());
            assertThat(first.keySet()).containsExactlyElementsOf(KEYS);
            assertThat(first.get("name").getAsString()).isEqualTo("org.taskclock.testing.LoadProgram");
            assertThat(first.get("user").getAsString()).isEqualTo(System.getProperty("user.name"));
            assertThat(first.get("jdk").getAsString())
                    .startsWith(Integer.toString(Runtime.version().feature()));
            assertThat(first.get("cpuPercent").getAsDouble()).isBetween(10.0, 110.0);
            assertThat(first.get("agent").getAsString()).isEqualTo("none");
            JsonObject second = find(json, idle.pid());
            assertThat(second.get("cpuPercent").getAsDouble()).isBetween(0.0, 10.0);
            int threads = new File("/proc/" + idle.pid() + "/task").list().length;
            assertThat(second.get("threads").getAsInt()).isEqualTo(threads);

            String table = await(
                    out -> out.indexOf("\n" + row(out, busy.pid())) < out.indexOf("\n" + row(out, idle.pid())),
                    "list",
                    "-d",
                    "200ms");
            assertThat(table).containsPattern("^ *PID +USER +CONTAINER +JDK +CPU% +THREADS +AGENT +NAME\n");
            assertThat(table.indexOf("\n" + row(table, busy.pid())))
                    .isLessThan(table.indexOf("\n" + row(table, idle.pid())));
            assertThat(row(table, idle.pid())).matches(".* " + threads + " +none +org.taskclock.testing.LoadProgram");
        }
    }

    private static String row(String table, long pid) {
        return table.lines()
                .filter(line -> line.strip().startsWith(pid + " "))
                .findFirst()
                .orElseThrow();
    }

    @Test
    void shouldShowTheStateOfTheAgent() throws Exception {
        try (LoadJvm load = LoadJvm.start("idle")) {
            String pid = Long.toString(load.pid());
            runSuccessfully("attach", pid);
            assertThat(find(runSuccessfully("list", "--json").out(), load.pid())
                            .get("agent")
                            .getAsString())
                    .isEqualTo("active");
            assertThat(find(runSuccessfully("list", "--json", "--no-attach").out(), load.pid())
                            .get("agent")
                            .isJsonNull())
                    .isTrue();
            runSuccessfully("detach", pid);
            assertThat(row(runSuccessfully("list").out(), load.pid())).contains(" detached ");
        }
    }

    /**
     * Another user may not read the memory maps. A file that a killed JVM left behind must not make a process a JVM,
     * and a JVM must be found without such a file.
     */
    @Test
    void shouldListOtherUsersJvmsButNoOtherProcesses() throws Exception {
        assumeThat(System.getProperty("user.name"))
                .describedAs("only root can become another user")
                .isEqualTo("root");
        assumeThat(Path.of("/usr/bin/setpriv")).describedAs("util-linux").exists();
        assumeThat(Path.of("/usr/bin/python3")).describedAs("Python").exists();
        Process threads = new ProcessBuilder("python3", "-c", """
                        import threading, time
                        for i in range(5): threading.Thread(target=time.sleep, args=(60,)).start()
                        print('ready', flush=True)""").start();
        Path stale = Path.of("/tmp/hsperfdata_root/" + threads.pid());
        Path jar = Files.createTempFile("taskclock-cli", ".jar");
        try (LoadJvm load = LoadJvm.start("-XX:-UsePerfData", "idle")) {
            assertThat(threads.inputReader().readLine()).isEqualTo("ready");
            Files.createDirectories(stale.getParent());
            Files.write(stale, new byte[32_768]);
            Files.copy(Path.of(System.getProperty("cli.jar")), jar, StandardCopyOption.REPLACE_EXISTING);
            assertThat(jar.toFile().setReadable(true, false)).isTrue();

            JsonObject found = find(asNobody(jar, Main.OK, "list", "--json"), load.pid());
            assertThat(found.get("user").getAsString()).isEqualTo("root");
            assertThat(found.get("threads").getAsInt()).isGreaterThan(5);
            assertThat(found.get("cpuPercent").getAsDouble()).isNotNegative();
            assertThat(found.get("jdk").isJsonNull()).isTrue();
            assertThat(found.get("agent").isJsonNull()).isTrue();
            String table = asNobody(jar, Main.OK, "list");
            assertThat(row(table, load.pid())).matches(" *\\d+ +root +- +- +[0-9.]+ +\\d+ +- +org.*LoadProgram");
            assertThat(table).doesNotContain("python");

            String message = "process " + threads.pid()
                    + " is not a JVM: it has no thread named \"VM Thread\" (its memory maps cannot be read)";
            for (String command : List.of("top", "attach"))
                assertThat(asNobody(jar, Main.FAILED, command, Long.toString(threads.pid())))
                        .contains(message)
                        .hasLineCount(1);
            assertThat(asNobody(jar, Main.NOT_PERMITTED, "yields", Long.toString(load.pid())))
                    .contains("belongs to root: run this as that user or root");
        } finally {
            threads.destroyForcibly().waitFor();
            Files.deleteIfExists(stale);
            Files.delete(jar);
        }
    }

    private static String asNobody(Path jar, int exitCode, String... arguments) throws Exception {
        List<String> command = new ArrayList<>(
                List.of("setpriv", "--reuid=65534", "--regid=65534", "--clear-groups", "--inh-caps=-all"));
        command.addAll(CliResult.java());
        command.addAll(List.of("-jar", jar.toString()));
        command.addAll(List.of(arguments));
        Process process = new ProcessBuilder(command).redirectErrorStream(true).start();
        String output = new String(process.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
        assertThat(CliResult.exitCode(process)).as(output).isEqualTo(exitCode);
        return output;
    }

    /** In its own pid namespace, the command is the only JVM. */
    @Test
    void shouldReportThatNoJvmIsRunning() throws Exception {
        List<String> alone = List.of("unshare", "--pid", "--fork", "--mount-proc", "--kill-child");
        assumeThat(runAlone(alone, "true"))
                .describedAs("not permitted: " + alone)
                .isZero();
        String java = Path.of(System.getProperty("java.home"), "bin", "java").toString();
        String jar = System.getProperty("cli.jar");
        Map<String, Integer> exitCodes = Map.of("top", Main.NO_PROCESS, "list", Main.OK);
        for (Map.Entry<String, Integer> each : exitCodes.entrySet()) {
            List<String> command = new ArrayList<>(alone);
            // A JVM does not respond to signals as process 1.
            command.addAll(List.of("sh", "-c", "\"$0\" -jar \"$1\" \"$2\"; exit $?", java, jar, each.getKey()));
            Process process =
                    new ProcessBuilder(command).redirectErrorStream(true).start();
            String output = new String(process.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
            assertThat(CliResult.exitCode(process)).as(output).isEqualTo(each.getValue());
            assertThat(output).startsWith("taskclock: no JVM is running").hasLineCount(1);
            if (each.getKey().equals("top")) assertThat(output).contains("taskclock top --demo");
        }
    }

    private static int runAlone(List<String> prefix, String command) throws Exception {
        List<String> line = new ArrayList<>(prefix);
        line.add(command);
        return new ProcessBuilder(line).start().waitFor();
    }
}
