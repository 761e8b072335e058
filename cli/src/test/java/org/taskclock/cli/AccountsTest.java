// SPDX-License-Identifier: Apache-2.0
// Copyright the TaskClock authors
package org.taskclock.cli;

import static org.assertj.core.api.Assertions.assertThat;

import com.google.gson.JsonObject;
import com.google.gson.JsonParser;
import java.io.BufferedReader;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.List;
import java.util.stream.Collectors;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import org.taskclock.AccountType;
import org.taskclock.CpuAccounts;
import org.taskclock.CpuSection;
import org.taskclock.TaskClock;
import org.taskclock.monitor.attach.TargetJvm;
import org.taskclock.monitor.fleet.LiveJvm;
import org.taskclock.monitor.sampling.Interval;
import org.taskclock.monitor.usage.ThreadUsage;
import org.taskclock.testing.LoadJvm;

/** The named accounts of a program that has only the library, seen by the command line. */
class AccountsTest {
    /** A program with accounts: acme uses as much CPU time as globex and initech together. */
    static final class Program {
        private Program() {}

        public static void main(String[] args) throws IOException {
            AccountType tenant = CpuAccounts.type("tenant");
            AccountType endpoint = CpuAccounts.type("endpoint");
            start("requests", () -> {
                while (true) {
                    work(tenant, "acme", endpoint, 2);
                    work(tenant, "globex", endpoint, 1);
                    work(tenant, "initech", endpoint, 1);
                    sleep(6);
                }
            });
            start("long-query", () -> {
                try (CpuSection section = tenant.of("batch").enter()) {
                    while (section != null) sleep(50);
                }
            });
            System.out.println("ready");
            System.in.read(); // until killed
        }

        private static void start(String name, Runnable load) {
            Thread thread = new Thread(load, name);
            thread.setDaemon(true);
            thread.start();
        }

        private static void work(AccountType tenant, String name, AccountType endpoint, int millis) {
            try (CpuSection ofTenant = tenant.of(name).enter();
                    CpuSection ofEndpoint = endpoint.of("/orders").enter()) {
                long end = TaskClock.cpuNanos() + millis * 1_000_000L;
                while (ofTenant != ofEndpoint && TaskClock.cpuNanos() < end) Thread.onSpinWait();
            }
        }

        private static void sleep(long millis) {
            try {
                Thread.sleep(millis);
            } catch (InterruptedException e) {
                throw new IllegalStateException(e);
            }
        }
    }

    private static Process program;
    private static String pid;

    @TempDir
    private Path directory;

    @BeforeAll
    static void start() throws IOException {
        program = new ProcessBuilder(
                        Path.of(System.getProperty("java.home"), "bin", "java").toString(),
                        "-cp",
                        System.getProperty("java.class.path"),
                        Program.class.getName())
                .redirectError(ProcessBuilder.Redirect.DISCARD)
                .start();
        assertThat(program.inputReader().readLine()).isEqualTo("ready");
        pid = Long.toString(program.pid());
    }

    @AfterAll
    static void end() {
        program.destroyForcibly();
    }

    private static CliResult run(int exitCode, String... arguments) throws IOException {
        CliResult result = CliResult.runHere(arguments);
        assertThat(result.exitCode()).as(result.toString()).isEqualTo(exitCode);
        assertAgentIsNotLoaded();
        return result;
    }

    private static void assertAgentIsNotLoaded() throws IOException {
        assertThat(TargetJvm.of(program.pid()).yieldMode())
                .as("mode of the agent")
                .isNull();
    }

    private static double percent(String out, String account) {
        return out.lines()
                .filter(line -> line.endsWith(" " + account))
                .mapToDouble(line -> Double.parseDouble(line.strip().split(" +", 2)[0]))
                .findFirst()
                .orElseThrow();
    }

    @Test
    void shouldShowAccountsOfAProgramWithoutTheAgent() throws Exception {
        String out = run(Main.OK, "top", pid, "2", "1", "--accounts", "-b").out();
        double acme = percent(out, "tenant=acme");
        double others = percent(out, "tenant=globex") + percent(out, "tenant=initech");
        // Each does a fixed amount of work by its own clock, and a reading may divide one round.
        assertThat(acme).as(out).isPositive().isBetween(0.75 * others, 1.25 * others);
        assertThat(percent(out, "endpoint=/orders")).as(out).isBetween(0.9 * (acme + others), 1.1 * (acme + others));
        assertThat(percent(out, "tenant=(unaccounted)")).as(out).isNotNegative();
        assertThat(out)
                .containsPattern(
                        "OPEN s +CPU s  ACCOUNT.*\n +[0-9.:]+ +0\\.[0-9]  tenant=batch +long-query \\(\\d+\\)\n")
                .contains(" accounts", "with the agent")
                .doesNotContain("TID");
        assertThat(out.indexOf("endpoint=(unaccounted)")).isLessThan(out.indexOf("tenant=acme"));
    }

    @Test
    void shouldPrintAccountsAsJson() throws Exception {
        List<JsonObject> rows = run(Main.OK, "top", pid, "1", "1", "--accounts", "--all", "--json")
                .out()
                .lines()
                .map(line -> JsonParser.parseString(line).getAsJsonObject())
                .toList();
        JsonObject section = rows.get(rows.size() - 1);
        assertThat(section.get("kind").getAsString()).isEqualTo("section");
        assertThat(section.get("pool").getAsString()).isEqualTo("tenant=batch");
        assertThat(section.get("name").getAsString()).isEqualTo("long-query");
        assertThat(section.get("openNanos").getAsLong())
                .isGreaterThan(section.get("totalNanos").getAsLong());
        assertThat(rows)
                .filteredOn(row -> !row.get("kind").getAsString().equals("section"))
                .allMatch(row -> row.get("kind").getAsString().equals("account"));
        assertThat(rows)
                .extracting(row -> row.get("name").getAsString())
                .contains("tenant=acme", "tenant=batch", "tenant=(unaccounted)", "endpoint=/orders");
        JsonObject acme = rows.stream()
                .filter(row -> row.get("name").getAsString().equals("tenant=acme"))
                .findFirst()
                .orElseThrow();
        assertThat(acme.get("cpuNanos").getAsLong())
                .isPositive()
                .isEqualTo(acme.get("userNanos").getAsLong()
                        + acme.get("systemNanos").getAsLong())
                .isLessThan(acme.get("totalNanos").getAsLong());
        assertThat(acme.get("tid").isJsonNull()).isTrue();
    }

    @Test
    void shouldRecordAccountsOfAProgramWithoutTheAgent() throws Exception {
        String file = directory.resolve("recording.gz").toString();
        run(Main.OK, "record", pid, "500ms", "-o", file, "--for", "3s", "--accounts");
        String out = run(Main.OK, "replay", file, "--accounts").out();
        assertThat(out).contains(" tenant=acme\n", " endpoint=/orders\n", "SECT/s");
        List<String> lines = run(Main.OK, "replay", file, "--accounts", "--csv", "--filter", "tenant=acme")
                .out()
                .lines()
                .toList();
        int sections = List.of(lines.get(0).split(",", -1)).indexOf("sections");
        assertThat(lines.subList(1, lines.size())).isNotEmpty().anySatisfy(line -> assertThat(
                        Integer.parseInt(line.split(",", -1)[sections]))
                .isPositive());
        assertThat(run(Main.USAGE, "record", pid, "--accounts", "--no-attach").err())
                .contains("--accounts requires attaching: remove --no-attach");
    }

    @Test
    void shouldCheckAnAccount() throws Exception {
        String account = "tenant=acme";
        assertThat(run(Main.OK, "check", pid, "--account", account, "--cpu", "90%", "--for", "1s")
                        .out())
                .matches("cpu [0-9.]+ % of one core, within 90.0 %\n");
        CliResult exceeded = run(
                Main.THRESHOLD, "check", pid, "--account", account, "--cpu", "0%", "--system", "90%", "--for", "1s");
        assertThat(exceeded.out())
                .matches("(?s)cpu [0-9.]+ % of one core, exceeds 0.0 %\nsystem [0-9.]+ .*within 90.0 %\n.*");
        String unknown = "tenant=nobody";
        assertThat(run(Main.FAILED, "check", pid, "--account", unknown, "--cpu", "1%", "--for", "500ms"))
                .isEqualTo(new CliResult(
                        Main.FAILED,
                        "",
                        "taskclock: process " + pid + " has no account \"" + unknown + "\": taskclock top " + pid
                                + " --accounts shows those that it has\n"));
    }

    @Test
    void shouldSayThatAProgramHasNoAccounts() throws Exception {
        try (LoadJvm load = LoadJvm.start("lightly")) {
            String other = Long.toString(load.pid());
            String reason = "process " + other + ": no named accounts yet: use CpuAccounts in the program,"
                    + " or run taskclock attach --accounts endpoint\n";
            assertThat(CliResult.runHere("top", other, "500ms", "1", "--accounts", "-b")
                            .out())
                    .contains("* " + reason);
            assertThat(CliResult.runHere("check", other, "--account", "tenant=acme", "--cpu", "1%", "--for", "500ms"))
                    .isEqualTo(new CliResult(Main.FAILED, "", "taskclock: " + reason));
            assertThat(TargetJvm.of(load.pid()).yieldMode()).isNull();
        }
    }

    @ParameterizedTest
    @ValueSource(strings = {"top PID 200ms -b --accounts", "check PID --account tenant=acme --cpu 90% --for 1m"})
    void shouldRestoreTheJvmWhenTerminated(String command) throws Exception {
        Process process =
                CliResult.builder(command.replace("PID", pid).split(" ", -1)).start();
        while (TargetJvm.of(program.pid()).yieldMode() == null && process.isAlive()) Thread.sleep(50);
        if (command.startsWith("top")) {
            BufferedReader out = process.inputReader(StandardCharsets.UTF_8);
            String seen = out.lines()
                    .takeWhile(line -> !line.endsWith(" tenant=acme"))
                    .collect(Collectors.joining("\n"));
            assertThat(process.isAlive()).as(seen).isTrue();
        }
        process.toHandle().destroy(); // Process.destroy would close our end of its output
        assertThat(CliResult.exitCode(process)).isEqualTo(command.startsWith("top") ? Main.OK : 128 + 15);
        assertAgentIsNotLoaded();
    }

    /** As the key A does in the view of accounts, also on a JDK without virtual threads. */
    @Test
    void shouldLoadTheAgentOnRequest() throws Exception {
        try (LiveJvm source = LiveJvm.of(program.pid(), true)) {
            assertThat(source.next().accounts()).isEmpty();
            AgentOffer.load((int) program.pid(), source, true);
            Interval next;
            do {
                Thread.sleep(100);
                next = source.next();
            } while (next.accounts().isEmpty());
            assertThat(next.accounts()).extracting(ThreadUsage::pool).contains("tenant=acme", "endpoint=/orders");
            assertThat(source.openSections()).anyMatch(section -> section.name().equals("batch"));
        } finally {
            assertThat(CliResult.runHere("detach", pid).exitCode()).isEqualTo(Main.OK);
        }
    }

    @Test
    void shouldKeepAnAgentThatIsLoaded() throws Exception {
        String file = directory.resolve("accounts.gz").toString();
        assertThat(CliResult.runHere("attach", pid, "--yield", "count").exitCode())
                .isEqualTo(Main.OK);
        try {
            assertThat(CliResult.runHere("top", pid, "500ms", "1", "--accounts").out())
                    .contains(" tenant=acme\n");
            assertThat(TargetJvm.of(program.pid()).yieldMode()).isEqualTo("count");
            assertThat(CliResult.runHere("record", pid, "500ms", "-o", file, "--for", "3s")
                            .exitCode())
                    .isEqualTo(Main.OK);
        } finally {
            assertThat(CliResult.runHere("detach", pid).exitCode()).isEqualTo(Main.OK);
        }
        assertThat(run(Main.OK, "replay", file, "--accounts").out()).contains(" tenant=acme\n", " endpoint=/orders\n");
        assertThat(run(Main.OK, "replay", file).out()).contains(" requests\n").doesNotContain("tenant=");
        assertThat(run(Main.OK, "replay", file, "--accounts", "--csv", "--filter", "tenant=acme")
                        .out()
                        .lines()
                        .skip(1))
                .hasSizeGreaterThan(1)
                .allMatch(line -> line.contains(",tenant=acme,account,tenant=acme,"));
        assertThat(run(Main.OK, "diff", file, file, "--all").out()).contains("~ account tenant=acme\n");
        assertThat(run(
                                Main.OK,
                                "report",
                                file,
                                "-o",
                                directory.resolve("a.html").toString())
                        .exitCode())
                .isEqualTo(Main.OK);
    }
}
