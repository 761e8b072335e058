// SPDX-License-Identifier: Apache-2.0
// Copyright the TaskClock authors
package org.taskclock.cli;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assumptions.assumeThat;

import com.google.gson.JsonObject;
import com.google.gson.JsonParser;
import java.io.ByteArrayOutputStream;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.util.ArrayList;
import java.util.List;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;
import org.taskclock.watch.Loaded;

/** {@code taskclock top} and {@code check}, on JVMs that run. */
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
            "involuntary");

    private static Loaded load;
    private static String pid;

    @BeforeAll
    static void start() throws Exception {
        load = Loaded.with("busy", "kernel", "idle=5", "yield");
        pid = Long.toString(load.pid());
    }

    @AfterAll
    static void end() {
        load.close();
    }

    private static Child done(String... arguments) throws Exception {
        Child child = Child.run(arguments);
        assertThat(child).isEqualTo(new Child(Main.OK, child.out(), ""));
        return child;
    }

    /** In this JVM: one for each would take most of this test's time. Returns what it printed to standard error. */
    private static String refused(int exitCode, String... arguments) {
        ByteArrayOutputStream err = new ByteArrayOutputStream();
        PrintStream before = System.err;
        System.setErr(new PrintStream(err, true, StandardCharsets.UTF_8));
        try {
            assertThat(Main.run(arguments)).isEqualTo(exitCode);
        } finally {
            System.setErr(before);
        }
        return err.toString(StandardCharsets.UTF_8);
    }

    @Test
    void shouldPrintOneObjectALine() throws Exception {
        List<JsonObject> rows = done("top", "-p", pid, "--json", "-d", "0.3", "-n", "2")
                .out()
                .lines()
                .map(line -> JsonParser.parseString(line).getAsJsonObject())
                .toList();
        assertThat(rows).allMatch(row -> row.keySet().stream().toList().equals(FIELDS));
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
    void shouldPrintValuesWithCommasBetween() throws Exception {
        List<String> lines = done(
                        "top", pid, "0.3", "1", "--csv", "--all", "--filter", "number 1|pool", "--sort", "name")
                .out()
                .lines()
                .toList();
        assertThat(lines.get(0)).isEqualTo(String.join(",", FIELDS));
        // Its name holds a comma.
        assertThat(lines.get(1)).contains(",\"a busy thread with a long name, number 1\",java,");
        assertThat(lines).hasSize(7);
        assertThat(lines.get(6)).contains(",pool-7-thread-5,java,pool-#-thread-#,0.0,");
    }

    @Test
    void shouldPrintATable() throws Exception {
        String text = done("top", "org.taskclock.watch.Load", "0.3", "1", "--top", "2", "--no-attach")
                .out();
        assertThat(text)
                .contains(
                        "Load (" + pid + ")",
                        "process ",
                        "machine ",
                        "rows not shown",
                        "taskclock itself used",
                        "names are the kernel's")
                .contains("TID   CPU%  USER%   SYS%  WAIT%")
                .doesNotContain("\u001b");
        assertThat(text.lines().filter(l -> l.matches(" *\\d+ +\\d+\\.\\d .*"))).hasSize(2);
    }

    @Test
    void shouldShowADemonstrationAndEndIt() throws Exception {
        Child child = Child.run("top", "--demo", "0.5", "1");
        assertThat(child.exitCode()).isEqualTo(Main.OK);
        assertThat(child.out()).contains("Demo", "yielder");
        Matcher said = Pattern.compile("taskclock: watching a demonstration, process (\\d+)\n")
                .matcher(child.err());
        assertThat(said.matches()).isTrue();
        assertThat(ProcessHandle.of(Long.parseLong(said.group(1))).filter(ProcessHandle::isAlive))
                .isEmpty();
    }

    @ParameterizedTest
    @CsvSource({
        "top 999999999, 4, there is no process 999999999",
        "top no-such-program, 4, no JVM has \"no-such-program\" in its name",
        "top 1 x, 2, interval \"x\" is no number",
        "top 1 0, 2, interval 0.0",
        "top 1 1 0, 2, count 0",
        "top 1 1 1 1, 2, --help",
        "top --json --csv 1, 2, not both",
        "top --filter ( 1, 2, --filter (",
        "top --sort x 1, 2, --sort",
        "top -p x, 2, -p",
        "top 0.01 5, 2, interval 0.01",
        "check 1, 2, nothing to check",
        "check, 2, PID|NAME",
        "check 1 --cpu many, 2, is not as 50%",
        "check 1 --cpu 5% --for 0, 2, is no time",
        "check 1 --yields 5/m, 2, is not as 1000/s",
        "check 999999999 --cpu 50%, 4, there is no process 999999999"
    })
    void shouldRefuseInOneLine(String arguments, int exitCode, String why) throws Exception {
        String said = refused(exitCode, arguments.split(" ", -1));
        assertThat(said).startsWith("taskclock: ").contains(why);
        assertThat(said.lines()).hasSize(1);
    }

    @ParameterizedTest
    @ValueSource(strings = {"top", "check"})
    void shouldHelp(String command) {
        PrintStream before = System.out;
        ByteArrayOutputStream out = new ByteArrayOutputStream();
        System.setOut(new PrintStream(out, true, StandardCharsets.UTF_8));
        try {
            assertThat(refused(Main.OK, command, "--help")).isEmpty();
        } finally {
            System.setOut(before);
        }
        assertThat(out.toString(StandardCharsets.UTF_8))
                .contains("Usage: taskclock " + command, "Examples:", "Exit codes");
    }

    @Test
    void shouldRefuseWhatIsNoJvm() throws Exception {
        Process sleep = new ProcessBuilder("sleep", "60").start();
        String said = refused(Main.FAILED, "top", Long.toString(sleep.pid()));
        sleep.destroy();
        assertThat(said).isEqualTo("taskclock: process " + sleep.pid() + " is not a JVM\n");
    }

    @Test
    void shouldTellWhichThresholdIsExceeded() throws Exception {
        assertThat(done("check", pid, "--cpu", "1000%", "--system", "100% of limit", "--for", "300ms")
                        .out())
                .matches(
                        "cpu [0-9.]+ % of a core, within 1000.0 %\nsystem [0-9.]+ % of a core, within 100.0 % of the limit of .*\n");

        Child exceeded =
                Child.run("check", pid, "--cpu", "1000%", "--system", "0%", "--pool", "kernel-calls", "--for", "500ms");
        assertThat(exceeded.exitCode()).isEqualTo(Main.THRESHOLD);
        assertThat(exceeded.out())
                .contains("cpu ", "within 1000.0 %", "system ", "exceeds 0.0 %", "% by \"kernel-calls\"")
                .doesNotContain("busy");

        assertThat(refused(Main.FAILED, "check", pid, "--cpu", "1%", "--pool", "nonesuch", "--for", "100ms"))
                .isEqualTo("taskclock: process " + pid + " has no thread of a pool \"nonesuch\"\n");
    }

    @Test
    void shouldCountYieldsAndPutAllBack() throws Exception {
        try (Loaded yielding = Loaded.with("yield")) {
            String target = Long.toString(yielding.pid());
            Child child = Child.run("check", target, "--yields", "100/s", "--for", "1s");
            assertThat(child.exitCode()).describedAs(child.toString()).isEqualTo(Main.THRESHOLD);
            assertThat(child.out()).matches("(?s)yields [0-9,]+ a second, exceeds 100\n.*");
            Child ofPool = Child.run("check", target, "--yields", "100/s", "--for", "1s", "--pool", "yielder");
            assertThat(ofPool.exitCode()).describedAs(ofPool.toString()).isEqualTo(Main.THRESHOLD);
            Child others = Child.run("check", target, "--yields", "100/s", "--for", "1s", "--pool", "main");
            assertThat(others).isEqualTo(new Child(Main.OK, "yields 0 a second, within 100\n", ""));
            assertThat(done("attach", target).out()).contains("yield=pass");
        }
    }

    @Test
    void shouldSayWhatIsKnownOfVirtualThreadsYields() throws Exception {
        assumeThat(Runtime.version().feature())
                .describedAs("virtual threads came with JDK 21")
                .isGreaterThanOrEqualTo(21);
        try (Loaded yielding = Loaded.with("virtual-yield")) {
            String target = Long.toString(yielding.pid());
            Child byCarrier =
                    Child.run("check", target, "--yields", "100/s", "--for", "1s", "--pool", "virtual-yielder-#");
            assertThat(byCarrier)
                    .isEqualTo(
                            new Child(
                                    Main.FAILED,
                                    "",
                                    "taskclock: process " + target
                                            + ": yields of virtual threads are known by carrier only: give the carriers' pool\n"));
            assertThat(Target.of(yielding.pid()).yieldMode()).isNull();
        }
    }

    @Test
    void shouldWatchAnotherUsersAsFarAsTheKernelAllows() throws Exception {
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
            command.addAll(List.of(
                    Path.of(System.getProperty("java.home"), "bin", "java").toString(),
                    "-jar",
                    jar.toString(),
                    "top",
                    pid,
                    "0.3",
                    "1"));
            Process process =
                    new ProcessBuilder(command).redirectErrorStream(true).start();
            String said = new String(process.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
            assertThat(Child.exitCode(process)).describedAs(said).isZero();
            assertThat(said)
                    .contains("it belongs to another user", " kernel-calls")
                    .doesNotContain("number 1");
        } finally {
            Files.delete(jar);
        }
    }

    @Test
    void shouldDoWithFewDescriptors() throws Exception {
        Process process = new ProcessBuilder(
                        "sh",
                        "-c",
                        "ulimit -n 80; exec " + Path.of(System.getProperty("java.home"), "bin", "java") + " -jar "
                                + System.getProperty("cli.jar") + " top " + pid + " 0.3 2 --json")
                .redirectErrorStream(true)
                .start();
        String said = new String(process.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
        assertThat(Child.exitCode(process)).describedAs(said).isZero();
        assertThat(said.lines().filter(l -> l.contains("\"kernel-calls\"")).count())
                .isGreaterThanOrEqualTo(2);
    }
}
