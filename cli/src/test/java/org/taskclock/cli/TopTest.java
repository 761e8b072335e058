// SPDX-License-Identifier: Apache-2.0
// Copyright the TaskClock authors
package org.taskclock.cli;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assumptions.assumeThat;

import com.google.gson.JsonObject;
import com.google.gson.JsonParser;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.parallel.Execution;
import org.junit.jupiter.api.parallel.ExecutionMode;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;
import org.taskclock.internal.JdkVersions;
import org.taskclock.monitor.attach.TargetJvm;
import org.taskclock.testing.LoadJvm;

/** {@code taskclock top} and {@code check} on running JVMs. */
@Execution(ExecutionMode.CONCURRENT)
class TopTest {
    private static final List<String> FIELDS = List.of(
            "time",
            "pid",
            "tid",
            "javaId",
            "name",
            "kind",
            "pool",
            "cpuPercent",
            "userPercent",
            "systemPercent",
            "waitPercent",
            "voluntary",
            "involuntary",
            "state",
            "threads",
            "nameTruncated",
            "program",
            "intervalNanos",
            "cpuNanos",
            "userNanos",
            "systemNanos",
            "waitNanos",
            "totalNanos",
            "openNanos",
            "watchedNanos",
            "javaState",
            "lockClass",
            "lockId",
            "blockedByTid",
            "blockedBy",
            "blockedNanosEstimate",
            "waitedNanosEstimate",
            "allocatedBytes",
            "heapUsedBytes",
            "heapCommittedBytes",
            "heapMaxBytes",
            "gcPauses",
            "gcPauseNanos",
            "sections",
            "p50Nanos",
            "p99Nanos");

    private static LoadJvm load;
    private static String pid;

    @BeforeAll
    static void start() throws Exception {
        load = LoadJvm.start("busy", "kernel", "idle=5", "yield");
        pid = Long.toString(load.pid());
    }

    @AfterAll
    static void end() {
        load.close();
    }

    private static CliResult runSuccessfully(String... arguments) throws Exception {
        CliResult child = CliResult.runHere(arguments);
        assertThat(child).isEqualTo(new CliResult(Main.OK, child.out(), ""));
        return child;
    }

    private static String runAndReturnErrors(int exitCode, String... arguments) {
        CliResult result = CliResult.runHere(arguments);
        assertThat(result).isEqualTo(new CliResult(exitCode, "", result.err()));
        return result.err();
    }

    @Test
    void shouldPrintJsonLines() throws Exception {
        List<JsonObject> rows = runSuccessfully("top", "-p", pid, "--json", "-d", "0.3", "-n", "2")
                .out()
                .lines()
                .map(line -> JsonParser.parseString(line).getAsJsonObject())
                .toList();
        assertThat(rows).allMatch(row -> row.keySet().stream().skip(1).toList().equals(FIELDS));
        assertThat(rows).allMatch(row -> row.get("pid").getAsString().equals(pid));
        assertThat(rows.stream().map(row -> row.get("time").getAsString()).distinct())
                .hasSize(2);
        assertThat(rows)
                .filteredOn(row -> row.get("name").getAsString().equals("kernel-calls"))
                .hasSize(2)
                .allMatch(row -> row.get("kind").getAsString().equals("java"))
                .allMatch(row -> row.get("javaId").getAsLong() > 0)
                .allMatch(row -> Math.abs(row.get("userPercent").getAsDouble()
                                + row.get("systemPercent").getAsDouble()
                                - row.get("cpuPercent").getAsDouble())
                        < 0.01);
    }

    @Test
    void shouldPrintWhyThreadsDoNotRun() throws Exception {
        try (LoadJvm convoy = LoadJvm.start("convoy=4", "allocate")) {
            String target = Long.toString(convoy.pid());
            List<JsonObject> rows = runSuccessfully("top", target, "--json", "-d", "1", "-n", "3")
                    .out()
                    .lines()
                    .map(line -> JsonParser.parseString(line).getAsJsonObject())
                    .toList();
            String last = rows.get(rows.size() - 1).get("time").getAsString();
            JsonObject waiter = rows.stream()
                    .filter(row -> row.get("time").getAsString().equals(last))
                    .filter(row -> row.get("name").getAsString().equals("lock-waiter-1"))
                    .findFirst()
                    .orElseThrow();
            assertThat(waiter.get("javaState").getAsString()).isEqualTo("BLOCKED");
            assertThat(waiter.get("lockClass").getAsString()).isEqualTo("java.util.BitSet");
            assertThat(waiter.get("lockId").getAsString()).startsWith("0x");
            assertThat(waiter.get("blockedBy").getAsString()).isEqualTo("lock-owner");
            assertThat(waiter.get("blockedByTid").getAsInt()).isPositive();
            assertThat(waiter.get("blockedNanosEstimate").getAsDouble())
                    .isGreaterThan(0.75 * waiter.get("intervalNanos").getAsLong());
            assertThat(waiter.get("heapMaxBytes").getAsLong()).isEqualTo(128 << 20);
            assertThat(rows.stream()
                            .filter(row -> row.get("name").getAsString().equals("allocator"))
                            .filter(row -> !row.get("allocatedBytes").isJsonNull())
                            .mapToLong(row -> row.get("allocatedBytes").getAsLong())
                            .max()
                            .orElseThrow())
                    .isBetween(1_000_000L, 20_000_000L);
            assertThat(runSuccessfully("top", target, "-b", "--no-attach", "-d", "0.3", "-n", "1")
                            .out())
                    .containsPattern("\nheap [0-9.]+[KM] used, [0-9.]+M committed, 128.0M max  \\d+ GC pause");
        }
    }

    @Test
    void shouldPrintCsv() throws Exception {
        List<String> lines = runSuccessfully(
                        "top", pid, "0.3", "1", "--csv", "--all", "--filter", "number 1|pool", "--sort", "name")
                .out()
                .lines()
                .toList();
        assertThat(lines.get(0)).isEqualTo(String.join(",", FIELDS));
        // The name contains a comma.
        assertThat(lines.get(1)).contains(",\"a busy thread with a long name, number 1\",java,");
        assertThat(lines).hasSize(7);
        assertThat(lines.get(6)).contains(",pool-7-thread-5,java,pool-#-thread-#,0.0,");
    }

    @Test
    void shouldPrintATable() throws Exception {
        String text = runSuccessfully("top", pid, "300ms", "1", "--limit", "2", "--no-attach")
                .out();
        assertThat(text)
                .contains(
                        "LoadProgram (" + pid + ")",
                        "process ",
                        "machine ",
                        "rows not shown",
                        "; taskclock used ",
                        "15 characters")
                .contains("TID   CPU%  USER%   SYS%  WAIT%")
                .doesNotContain("\u001b");
        assertThat(text.lines().filter(l -> l.matches(" *\\d+ +\\d+\\.\\d .*"))).hasSize(2);
    }

    @Test
    void shouldSayOnceThatVirtualThreadsNeedTheAgent() throws Exception {
        assumeThat(Runtime.version().feature())
                .describedAs("virtual threads")
                .isGreaterThanOrEqualTo(JdkVersions.VIRTUAL_THREADS);
        try (LoadJvm virtual = LoadJvm.start("virtual=4")) {
            String target = Long.toString(virtual.pid());
            String hint = "; to see them, load the agent: taskclock attach " + target + "\n";
            String text = runSuccessfully("top", target, "0.4", "3").out();
            assertThat(text).containsOnlyOnce(hint).containsPattern("\n\\* virtual threads run on [0-9]+ carrier");
            assertThat(runSuccessfully("top", target, "0.4", "2", "--no-attach").out())
                    .doesNotContain(hint);
            assertThat(runSuccessfully("top", target, "0.4", "2", "--csv").out())
                    .doesNotContain("taskclock attach");
        }
    }

    @Test
    void shouldPrintSeveralJvmsInOneTable() throws Exception {
        try (LoadJvm other = LoadJvm.start("busy")) {
            String pids = pid + "," + other.pid();
            String text = runSuccessfully("top", "-b", "-d", "500ms", "-n", "1", "--limit", "8", "-p", pids)
                    .out();
            assertThat(text.lines().filter(line -> line.contains("CPU%")))
                    .singleElement()
                    .satisfies(line -> assertThat(line).startsWith("    PID     TID   CPU%"));
            assertThat(text)
                    .contains("LoadProgram (" + pid + ")", "LoadProgram (" + other.pid() + ")")
                    .containsPattern("\n *" + pid + " +[0-9]+ +[0-9.]+ .* kernel-calls\n")
                    .containsPattern("\n *" + other.pid() + " +[0-9]+ +[0-9.]+ .* a busy thread");
            List<Double> percents = text.lines()
                    .filter(line -> line.matches(" *\\d+ +(\\d+|-) +\\d+\\.\\d .*")) // "-" is a group of threads
                    .map(line -> Double.valueOf(line.trim().split(" +", -1)[2]))
                    .toList();
            assertThat(percents).hasSizeBetween(3, 8).isSortedAccordingTo(Collections.reverseOrder());

            List<String> rows = runSuccessfully("top", "--json", "500ms", "1", "--limit", "3", "-p", pids)
                    .out()
                    .lines()
                    .toList();
            assertThat(rows).hasSize(3);
        }
    }

    @Test
    void shouldStartAndStopTheDemo() throws Exception {
        CliResult child = CliResult.run("top", "--demo", "0.5", "1");
        assertThat(child.exitCode()).isEqualTo(Main.OK);
        assertThat(child.out()).contains("Demo", "yielder");
        Matcher message = Pattern.compile("taskclock: watching a demo program, process (\\d+)\n")
                .matcher(child.err());
        assertThat(message.matches()).isTrue();
        assertThat(ProcessHandle.of(Long.parseLong(message.group(1))).filter(ProcessHandle::isAlive))
                .isEmpty();
    }

    @ParameterizedTest
    @CsvSource({
        "top 999999999, 4, there is no process 999999999",
        "top no-such-program, 4, no JVM has \"no-such-program\" in its name",
        "top 1 x, 2, interval \"x\" is not a duration such as 500ms",
        "top 1 0, 2, interval \"0\" is not a duration",
        "top 1 1 0, 2, count 0",
        "top 1 1 1.9, 2, count \"1.9\" is not a whole number",
        "top 1 -n 1.9, 2, 1.9",
        "top 1 1 1 1, 2, --help",
        "top --json --csv 1, 2, cannot be combined",
        "top --filter ( 1, 2, --filter (",
        "top --sort x 1, 2, --sort",
        "'top -p ,', 2, '-p ,: an entry of the list is empty'",
        "'top -p 1,,2', 2, '-p 1,,2: an entry of the list is empty'",
        "top -p no-such-program, 4, no JVM has \"no-such-program\" in its name",
        "top --match no-such-option, 4, no JVM has \"no-such-option\" in its command line",
        "top --match x -p 1, 2, --match cannot be combined with -p",
        "top -o file 1, 2, Unknown option",
        "top --top 1 1, 2, Unknown option",
        "record 1 10ms, 2, must be from 100ms",
        "record 1 1 0, 2, count 0",
        "attach, 2, PID|NAME",
        "attach no-such-program, 4, no JVM has \"no-such-program\" in its name",
        "detach no-such-program, 4, no JVM has \"no-such-program\" in its name",
        "status no-such-program, 4, no JVM has \"no-such-program\" in its name",
        "yields 1 --match x, 2, PID|NAME and --match cannot be combined",
        "diff --threshold x a b, 2, is not a percentage such as 5%",
        "top 0.01 5, 2, interval 0.01 s: must be from 50ms to 1d",
        "check 1, 2, nothing to check",
        "check --cpu 5%, 2, PID|NAME",
        "check 1 --cpu many, 2, is not a threshold such as 50%",
        "check 1 --cpu 5% --for 0, 2, is not a duration",
        "check 1 --yields 5/s --no-attach, 2, --yields requires attaching",
        "check 1 --yields 5/m, 2, is not a rate such as 1000/s",
        "check 1 --cpu 5% --account acme, 2, --account acme: must be TYPE=NAME",
        "check 1 --cpu 5% --account tenant=acme --pool x, 2, --account cannot be combined",
        "check 1 --account tenant=acme --yields 5/s, 2, --account cannot be combined",
        "check 1 --cpu 5% --account tenant=acme --no-attach, 2, --account requires attaching",
        "check 1 --account tenant=acme, 2, nothing to check",
        "top 1 --accounts --no-attach, 2, --accounts requires attaching",
        "check 999999999 --cpu 50%, 4, there is no process 999999999"
    })
    void shouldReportErrorsInOneLine(String arguments, int exitCode, String message) throws Exception {
        String output = runAndReturnErrors(exitCode, arguments.split(" ", -1));
        assertThat(output).startsWith("taskclock: ").contains(message);
        assertThat(output.lines()).hasSize(1);
    }

    @ParameterizedTest
    @ValueSource(strings = {"top", "check"})
    void shouldPrintHelp(String command) {
        CliResult help = CliResult.runHere(command, "--help");
        assertThat(help).isEqualTo(new CliResult(Main.OK, help.out(), ""));
        assertThat(help.out()).contains("Usage: taskclock " + command, "Examples:", "Exit codes");
    }

    @Test
    void shouldRejectAProcessThatIsNotAJvm() throws Exception {
        Process sleep = new ProcessBuilder("sleep", "60").start();
        String output = runAndReturnErrors(Main.FAILED, "top", Long.toString(sleep.pid()));
        sleep.destroy();
        assertThat(output)
                .isEqualTo(
                        "taskclock: process " + sleep.pid() + " is not a JVM: taskclock list shows the running JVMs\n");
    }

    @Test
    void shouldReportTheExceededThreshold() throws Exception {
        assertThat(runSuccessfully("check", pid, "--cpu", "1000%", "--system", "100% of limit", "--for", "300ms")
                        .out())
                .matches("""
                        cpu [0-9.]+ % of one core, within 1000.0 %
                        system [0-9.]+ % of the (limit of|machine, which has) [0-9.]+ .*, within 100.0 %
                        """);

        CliResult exceeded = CliResult.runHere(
                "check", pid, "--cpu", "1000%", "--system", "0%", "--pool", "kernel-calls", "--for", "500ms");
        assertThat(exceeded.exitCode()).isEqualTo(Main.THRESHOLD);
        assertThat(exceeded.out())
                .contains("cpu ", "within 1000.0 %", "system ", "exceeds 0.0 %", "% by \"kernel-calls\"")
                .doesNotContain("busy");

        assertThat(runAndReturnErrors(Main.FAILED, "check", pid, "--cpu", "1%", "--pool", "nonesuch", "--for", "100ms"))
                .isEqualTo("taskclock: process " + pid + " has no threads in pool \"nonesuch\"\n");
    }

    /** The last second of the check shows nothing of it. */
    @Test
    void shouldReportWhatEndedDuringTheCheck() throws Exception {
        try (LoadJvm load = LoadJvm.start("system")) {
            String target = Long.toString(load.pid());
            Process check = CliResult.builder("check", target, "--no-attach", "--cpu", "0%", "--for", "8s")
                    .start();
            while (check.isAlive() && !hasOpened(check.pid(), "/proc/" + target + "/")) Thread.sleep(50);
            Thread.sleep(4_000);
            signal("STOP", target);
            try {
                assertThat(CliResult.exitCode(check)).isEqualTo(Main.THRESHOLD);
            } finally {
                signal("CONT", target);
            }
            assertThat(new String(check.getInputStream().readAllBytes(), StandardCharsets.UTF_8))
                    .containsPattern("(?m)^! [a-z-]+: thread \"system-time\" .*, [0-9:]{8} to [0-9:]{8}");
        }
    }

    private static boolean hasOpened(long pid, String prefix) throws IOException {
        try (Stream<Path> files = Files.list(Path.of("/proc/" + pid + "/fd"))) {
            for (Path file : files.toList())
                if (Files.readSymbolicLink(file).toString().startsWith(prefix)) return true;
        } catch (NoSuchFileException e) {
            // It has just been closed.
        }
        return false;
    }

    private static void signal(String name, String pid) throws Exception {
        assertThat(new ProcessBuilder("kill", "-" + name, pid).start().waitFor())
                .isZero();
    }

    @Test
    void shouldCountYieldsAndRestoreTheJvm() throws Exception {
        // On a busy machine, a yield may take as long as a time slice of another thread.
        try (LoadJvm yielding = LoadJvm.start("yield")) {
            String target = Long.toString(yielding.pid());
            CliResult child = CliResult.runHere("check", target, "--yields", "1/s", "--for", "1s");
            assertThat(child.exitCode()).describedAs(child.toString()).isEqualTo(Main.THRESHOLD);
            assertThat(child.out()).matches("(?s)yields [0-9,]+/s, exceeds 1/s\n.*");
            CliResult ofPool =
                    CliResult.runHere("check", target, "--yields", "1/s", "--for", "1s", "--pool", "yielder");
            assertThat(ofPool.exitCode()).describedAs(ofPool.toString()).isEqualTo(Main.THRESHOLD);
            CliResult others = CliResult.runHere("check", target, "--yields", "100/s", "--for", "1s", "--pool", "main");
            assertThat(others).isEqualTo(new CliResult(Main.OK, "yields 0/s, within 100/s\n", ""));
            assertThat(runSuccessfully("attach", target).out()).contains("yield=pass");
        }
    }

    @Test
    void shouldRejectAPoolOfVirtualThreadsForYields() throws Exception {
        assumeThat(Runtime.version().feature())
                .describedAs("virtual threads")
                .isGreaterThanOrEqualTo(JdkVersions.VIRTUAL_THREADS);
        try (LoadJvm yielding = LoadJvm.start("virtual-yield")) {
            String target = Long.toString(yielding.pid());
            CliResult byCarrier = CliResult.runHere(
                    "check", target, "--yields", "100/s", "--for", "1s", "--pool", "virtual-yielder-#");
            assertThat(byCarrier)
                    .isEqualTo(new CliResult(
                            Main.FAILED,
                            "",
                            "taskclock: process " + target
                                    + ": yields of virtual threads are counted by carrier:"
                                    + " specify the carriers' pool\n"));
            assertThat(TargetJvm.of(yielding.pid()).yieldMode()).isNull();
        }
    }

    @Test
    void shouldWatchAnotherUsersJvmWithoutAttaching() throws Exception {
        assumeThat(System.getProperty("user.name"))
                .describedAs("only root can become another user")
                .isEqualTo("root");
        assumeThat(Path.of("/usr/bin/setpriv")).describedAs("util-linux").exists();
        List<String> asNobody =
                List.of("setpriv", "--reuid=65534", "--regid=65534", "--clear-groups", "--inh-caps=-all");
        Path jar = Files.createTempFile("taskclock-cli", ".jar");
        try {
            Files.copy(Path.of(System.getProperty("cli.jar")), jar, StandardCopyOption.REPLACE_EXISTING);
            jar.toFile().setReadable(true, false);
            List<String> command = new ArrayList<>(asNobody);
            command.addAll(CliResult.java());
            command.addAll(List.of("-jar", jar.toString(), "top", pid, "0.3", "1"));
            Process process =
                    new ProcessBuilder(command).redirectErrorStream(true).start();
            String output = new String(process.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
            assertThat(CliResult.exitCode(process)).describedAs(output).isZero();
            assertThat(output).contains("another user", " kernel-calls").doesNotContain("number 1");
        } finally {
            Files.delete(jar);
        }
    }

    @Test
    void shouldWorkWithFewFileDescriptors() throws Exception {
        ProcessBuilder limited = CliResult.builder("top", pid, "0.3", "2", "--json");
        limited.command().addAll(0, List.of("sh", "-c", "ulimit -n 80; exec \"$@\"", "sh"));
        Process process = limited.redirectErrorStream(true).start();
        String output = new String(process.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
        assertThat(CliResult.exitCode(process)).describedAs(output).isZero();
        assertThat(output.lines().filter(l -> l.contains("\"kernel-calls\"")).count())
                .isGreaterThanOrEqualTo(2);
    }
}
