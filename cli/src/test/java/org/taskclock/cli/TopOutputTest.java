// SPDX-License-Identifier: Apache-2.0
// Copyright the TaskClock authors
package org.taskclock.cli;

import static org.assertj.core.api.Assertions.assertThat;

import com.google.gson.JsonObject;
import com.google.gson.JsonParser;
import com.networknt.schema.InputFormat;
import com.networknt.schema.JsonSchema;
import com.networknt.schema.JsonSchemaFactory;
import com.networknt.schema.SchemaValidatorsConfig;
import com.networknt.schema.SpecVersion;
import java.io.BufferedReader;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.List;
import java.util.Set;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.assertj.core.data.Offset;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.taskclock.internal.JdkVersions;
import org.taskclock.metrics.PoolKey;
import org.taskclock.metrics.ThreadKind;
import org.taskclock.monitor.attach.AgentReport;
import org.taskclock.monitor.finding.Finding;
import org.taskclock.monitor.finding.GarbageCollection;
import org.taskclock.monitor.sampling.Interval;
import org.taskclock.monitor.sampling.ThreadColumn;
import org.taskclock.monitor.usage.SectionUsage;
import org.taskclock.monitor.usage.ThreadUsage;
import org.taskclock.testing.LoadJvm;

/** What {@code top} and {@code replay} print for programs, and the averages at the end of text output. */
@Tag("slow17")
class TopOutputTest {
    private static final Pattern AVERAGE = Pattern.compile(
            "Average: {2}org\\.taskclock\\.testing\\.LoadProgram \\((\\d+)\\), ([0-9.]+) s, (\\d+) intervals\n");

    private static LoadJvm load;
    private static String pid;
    private static JsonSchema schema;

    @TempDir
    private Path directory;

    @BeforeAll
    static void start() throws Exception {
        boolean hasVirtualThreads = Runtime.version().feature() >= JdkVersions.VIRTUAL_THREADS;
        load = hasVirtualThreads
                ? LoadJvm.start("busy", "kernel", "idle=3", "virtual=3")
                : LoadJvm.start("busy", "kernel", "idle=3");
        pid = Long.toString(load.pid());
        CliResult printed = CliResult.runHere("top", "--json-schema");
        assertThat(printed).isEqualTo(new CliResult(Main.OK, printed.out(), ""));
        schema = JsonSchemaFactory.getInstance(SpecVersion.VersionFlag.V202012)
                .getSchema(
                        printed.out(),
                        SchemaValidatorsConfig.builder()
                                .formatAssertionsEnabled(true)
                                .build());
    }

    @AfterAll
    static void end() {
        load.close();
    }

    private static List<JsonObject> runAndValidate(String... arguments) throws Exception {
        CliResult result = CliResult.runHere(arguments);
        assertThat(result.exitCode()).as(result.err()).isEqualTo(Main.OK);
        assertThat(result.out()).isNotEmpty();
        return result.out().lines().map(TopOutputTest::validate).toList();
    }

    private static JsonObject validate(String line) {
        assertThat(schema.validate(line, InputFormat.JSON)).as(line).isEmpty();
        JsonObject row = JsonParser.parseString(line).getAsJsonObject();
        // The schema allows more members, for later versions, but describes all that there are.
        assertThat(row.keySet()).isEqualTo(describedMembers());
        return row;
    }

    private static Set<String> describedMembers() {
        return JsonParser.parseString(schema.getSchemaNode().get("properties").toString())
                .getAsJsonObject()
                .keySet();
    }

    @Test
    void shouldPrintJsonThatMatchesItsSchema() throws Exception {
        List<JsonObject> rows = runAndValidate("top", pid, "0.3", "2", "--json", "--all");
        assertThat(rows).filteredOn(row -> has(row, "name", "pool-7-thread-1")).hasSize(2);
        for (JsonObject row : rows) {
            double interval = row.get("intervalNanos").getAsDouble();
            assertThat(row.get("cpuPercent").getAsDouble())
                    .isCloseTo(100 * row.get("cpuNanos").getAsLong() / interval, Offset.offset(0.001));
            if (!row.get("userNanos").isJsonNull())
                assertThat(row.get("userNanos").getAsLong()
                                + row.get("systemNanos").getAsLong())
                        .isEqualTo(row.get("cpuNanos").getAsLong());
            if (row.get("tid").isJsonNull()) continue;
            assertThat(row.get("watchedNanos").getAsLong())
                    .isBetween(
                            row.get("cpuNanos").getAsLong(),
                            row.get("totalNanos").getAsLong());
        }
        runAndValidate("top", pid, "0.3", "1", "--json", "--all", "--no-attach");
    }

    @Test
    void shouldPrintGroupsOfVirtualThreadsThatMatchTheSchema() throws Exception {
        assertThat(CliResult.runHere("attach", pid).exitCode()).isEqualTo(Main.OK);
        try {
            List<JsonObject> rows = runAndValidate("top", pid, "0.5", "3", "--json", "--all");
            if (Runtime.version().feature() < JdkVersions.VIRTUAL_THREADS) return;
            assertThat(rows)
                    .filteredOn(row -> has(row, "kind", "virtual") && has(row, "name", "request-#"))
                    .isNotEmpty()
                    .allMatch(row -> row.get("tid").isJsonNull()
                            && row.get("waitNanos").isJsonNull()
                            && row.get("waitPercent").isJsonNull()
                            && row.get("totalNanos").getAsLong()
                                    >= row.get("watchedNanos").getAsLong());
        } finally {
            assertThat(CliResult.runHere("detach", pid).exitCode()).isEqualTo(Main.OK);
        }
    }

    @Test
    void shouldPrintAccountsAndOpenSectionsThatMatchTheSchema() throws Exception {
        String type = "tenant";
        Interval interval = SyntheticJvm.interval(4711, 1);
        AgentReport.Section open = new AgentReport.Section(type, "acme", "worker-2", 31, 102, 3_000, 2_000);
        JsonObject row = validate(RowFormat.json(RowFormat.row(interval, open)));
        assertThat(has(row, "kind", "section")).isTrue();
        assertThat(has(row, "pool", "tenant=acme")).isTrue();
        assertThat(row.get("tid").getAsInt()).isEqualTo(102);
        assertThat(row.get("openNanos").getAsLong()).isEqualTo(3_000);
        assertThat(row.get("totalNanos").getAsLong()).isEqualTo(2_000);
        AgentReport.Section virtual = new AgentReport.Section(type, "acme", "", 31, -1, 3_000, -1);
        row = validate(RowFormat.json(RowFormat.row(interval, virtual)));
        assertThat(row.get("tid").isJsonNull()).isTrue();
        assertThat(row.get("totalNanos").isJsonNull()).isTrue();
        ThreadUsage account = ThreadUsage.ofGroup(4711, new PoolKey("tenant=acme", ThreadKind.ACCOUNT), 0)
                .cpu(5_000, 4_000)
                .sections(new SectionUsage(7, 600, 900))
                .build();
        row = validate(RowFormat.json(RowFormat.row(interval, account)));
        assertThat(row.get("sections").getAsLong()).isEqualTo(7);
        assertThat(row.get("p50Nanos").getAsLong()).isEqualTo(600);
        assertThat(row.get("p99Nanos").getAsLong()).isEqualTo(900);
        assertThat(row.get("openNanos").isJsonNull()).isTrue();
    }

    private static boolean has(JsonObject row, String member, String value) {
        return row.get(member).getAsString().equals(value);
    }

    @Test
    void shouldRecordAllThatTopPrints() throws Exception {
        String file = directory.resolve("recording.gz").toString();
        assertThat(CliResult.runHere("record", pid, "300ms", "-o", file, "--for", "1s")
                        .exitCode())
                .isEqualTo(Main.OK);
        List<JsonObject> rows = runAndValidate("replay", file, "--json", "--filter", "kernel-calls");
        assertThat(rows).hasSizeGreaterThanOrEqualTo(3);
        long watched = 0;
        long total = rows.get(0).get("totalNanos").getAsLong()
                - rows.get(0).get("cpuNanos").getAsLong();
        for (JsonObject row : rows) {
            watched += row.get("cpuNanos").getAsLong();
            assertThat(row.get("watchedNanos").getAsLong()).isEqualTo(watched);
            assertThat(row.get("totalNanos").getAsLong()).isEqualTo(total + watched);
        }
        assertThat(total).isPositive();
    }

    @Test
    void shouldRejectOtherLines() {
        assertThat(schema.validate("{\"format\":\"taskclock-top/1\"}", InputFormat.JSON))
                .hasSizeGreaterThan(20);
    }

    @Test
    void shouldLeaveUnknownValuesEmptyInCsv() throws Exception {
        List<String> lines = CliResult.runHere("top", pid, "0.3", "1", "--csv", "--all", "--filter", "VM Thread")
                .out()
                .lines()
                .toList();
        assertThat(lines.get(0))
                .isEqualTo(describedMembers().stream()
                        .skip(1)
                        .reduce((a, b) -> a + "," + b)
                        .orElseThrow());
        // It has no Java id.
        assertThat(lines.get(1)).matches("[^,]+," + pid + ",\\d+,,VM Thread,vm,VM Thread,.*");
    }

    private static double cpuPercent(String block, String name) {
        Matcher row = Pattern.compile("\n +\\d+ +([0-9.]+) .* " + name + "\n").matcher(block);
        return row.find() ? Double.parseDouble(row.group(1)) : 0;
    }

    @Test
    void shouldEndWithAverages() throws Exception {
        CliResult result = CliResult.runHere("top", "-b", pid, "0.4", "3", "--limit", "0", "--all");
        assertThat(result).isEqualTo(new CliResult(Main.OK, result.out(), ""));
        List<String> blocks = Stream.of(result.out().split("\n\n", -1))
                .filter(block -> !block.isEmpty())
                .toList();
        assertThat(blocks).hasSize(4);
        String average = blocks.get(3);
        Matcher title = AVERAGE.matcher(average);
        assertThat(title.lookingAt()).as(average).isTrue();
        assertThat(title.group(1)).isEqualTo(pid);
        assertThat(title.group(3)).isEqualTo("3");
        assertThat(average).contains("process ", "   TID   CPU%", "; taskclock used ");
        double[] percents = blocks.stream()
                .mapToDouble(block -> cpuPercent(block + "\n", "kernel-calls"))
                .toArray();
        // The intervals may differ in length on a busy machine.
        assertThat(percents[3])
                .isPositive()
                .isBetween(
                        Math.min(percents[0], Math.min(percents[1], percents[2])) - 0.1,
                        Math.max(percents[0], Math.max(percents[1], percents[2])) + 0.1);
        assertThat(CliResult.runHere("top", "-b", pid, "0.3", "1").out()).doesNotContain("Average:");
        assertThat(CliResult.runHere("top", "--csv", pid, "0.1", "2").out()).doesNotContain("Average:");
    }

    @Test
    void shouldPrintAveragesWhenItIsTerminatedOrTheJvmExits() throws Exception {
        for (boolean terminate : new boolean[] {true, false}) {
            try (LoadJvm other = LoadJvm.start("busy")) {
                Process top = CliResult.builder("top", "-b", Long.toString(other.pid()), "0.2")
                        .start();
                BufferedReader in = top.inputReader(StandardCharsets.UTF_8);
                awaitIntervals(in, 2);
                if (terminate) top.toHandle().destroy(); // Process.destroy would close our end of its output.
                else other.end();
                String out = in.lines().map(line -> line + "\n").collect(Collectors.joining());
                assertThat(CliResult.exitCode(top)).as(out).isEqualTo(terminate ? Main.OK : Main.NO_PROCESS);
                Matcher title = AVERAGE.matcher(out);
                assertThat(title.find()).as(out).isTrue();
                assertThat(Integer.parseInt(title.group(3))).isGreaterThanOrEqualTo(2);
            }
        }
    }

    @Test
    void shouldPrintAveragesOnCtrlC() throws Exception {
        try (Tmux tmux = new Tmux(120, 200)) {
            tmux.type(String.join(
                            " ",
                            CliResult.builder("top", "-b", "--limit", "1", pid, "0.2")
                                    .command()) + "; echo status-$?");
            tmux.await("two intervals", screen -> screen.split("; taskclock used ", -1).length > 3);
            tmux.press("C-c");
            assertThat(tmux.await("status-0")).containsPattern(AVERAGE);
        }
    }

    private static void awaitIntervals(BufferedReader in, int count) throws IOException {
        for (int seen = 0; seen < count; ) {
            String line = in.readLine();
            assertThat(line).isNotNull();
            if (line.contains("; taskclock used ")) seen++;
        }
    }

    @Test
    void shouldNotPrintEscapeSequencesOfNames() {
        Interval interval = SyntheticJvm.interval(4711, 1);
        String evil = SyntheticJvm.EVIL + "\n";
        Interval hostile = new Interval(
                interval.end(),
                interval.intervalNanos(),
                interval.pid(),
                evil,
                "proc",
                interval.threads(),
                interval.totals(),
                List.of(new Finding(new GarbageCollection(), 0, evil, List.of(evil))),
                List.of(evil));
        String text =
                new TopText(false, ThreadColumn.CPU, false).format(List.of(hostile), hostile.threads(), List.of());
        assertThat(text).doesNotContain("\u001b", "\u202e").contains("! gc: evil?[2J?name?\n");
    }

    @Test
    void shouldShowWhatItSortsBy() throws Exception {
        try (LoadJvm allocating = LoadJvm.start("allocate", "garbage", "idle")) {
            String other = Long.toString(allocating.pid());
            String out = CliResult.runHere("top", "-b", other, "1", "3", "-s", "allocation")
                    .out();
            assertThat(out).contains("   INV/s  ALLOC/s  ~BLK% S KIND");
            String average = out.substring(out.indexOf("Average:"));
            assertThat(average).containsPattern("NAME\n.* [0-9.]+[MG] .*(garbage|allocator)\n");
            assertThat(CliResult.runHere("top", "-b", other, "0.1", "1").out()).doesNotContain("ALLOC/s");
        }
    }

    @Test
    void shouldFilterAsTheInteractiveView() throws Exception {
        assertThat(CliResult.runHere("top", "-b", pid, "0.3", "1", "-a", "-f", "POOL-#")
                        .out())
                .contains("pool-7-thread-1")
                .doesNotContain(" java     kernel-calls"); // a finding may name it
    }
}
