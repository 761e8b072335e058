// SPDX-License-Identifier: Apache-2.0
// Copyright the TaskClock authors
package org.taskclock.cli;

import static org.assertj.core.api.Assertions.assertThat;

import com.google.gson.JsonArray;
import com.google.gson.JsonObject;
import com.google.gson.JsonParser;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Instant;
import java.time.temporal.ChronoUnit;
import java.util.List;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import org.taskclock.CpuTime;
import org.taskclock.history.DuckDbHistory;
import org.taskclock.history.History;
import org.taskclock.history.HistoryOptions;
import org.taskclock.history.HistorySample;
import org.taskclock.history.JvmKey;
import org.taskclock.metrics.ThreadKind;
import org.taskclock.monitor.usage.ThreadUsage;

/** {@code taskclock query} reads a history, whether a process writes it or not. */
@Tag("slow17")
class QueryTest {
    private static final String SUM =
            "SELECT pool, sum(cpu_ns)::BIGINT AS cpu, min(wait_ns) AS wait FROM pool_cpu GROUP BY pool ORDER BY pool";

    @TempDir
    Path temporary;

    private Path data() {
        return temporary.resolve("data");
    }

    private CliResult query(String... arguments) throws IOException, InterruptedException {
        String[] all = new String[arguments.length + 3];
        all[0] = "query";
        all[1] = "--data";
        all[2] = data().toString();
        System.arraycopy(arguments, 0, all, 3, arguments.length);
        return CliResult.runHere(all);
    }

    private History open() throws IOException {
        return DuckDbHistory.open(data(), HistoryOptions.DEFAULT);
    }

    private void writeHistory() throws IOException {
        Instant start = Instant.now().truncatedTo(ChronoUnit.SECONDS).minusSeconds(60);
        JvmKey jvm = new JvmKey("7-1", "host-a", 7, "shop", "Main", null, null, start);
        try (History history = open()) {
            for (int i = 1; i <= 10; i++)
                history.add(new HistorySample(
                        jvm,
                        start.plusSeconds(i),
                        1_000_000_000,
                        List.of(pool("http-#", 100), pool("a|\"b\", <c>\\\u001b[2J", 3)),
                        List.of(),
                        new CpuTime(103, 103, 0),
                        null));
        }
    }

    private static ThreadUsage pool(String name, long nanos) {
        return ThreadUsage.of(7, 0, name, ThreadKind.JAVA)
                .pool(name)
                .cpu(nanos, nanos)
                .switches(0, 0)
                .state('S')
                .build();
    }

    @Test
    void shouldPrintEachFormat() throws IOException, InterruptedException {
        writeHistory();
        CliResult table = query(SUM);
        assertThat(table.exitCode()).as(table.err()).isZero();
        assertThat(table.err()).isEmpty();
        assertThat(table.out()).doesNotContain("\u001b");
        List<String> lines = table.out().lines().toList();
        assertThat(lines).hasSize(3);
        assertThat(lines.get(0)).matches("pool +cpu +wait");
        assertThat(lines.get(1)).startsWith("a|\"b\", <c>\\").matches(".* 30 +-");
        assertThat(lines.get(2)).matches("http-# +1000 +-");

        assertThat(query("--format", "csv", SUM).out())
                .isEqualTo("pool,cpu,wait\n\"a|\"\"b\"\", <c>\\\u001b[2J\",30,\nhttp-#,1000,\n");

        JsonArray json =
                JsonParser.parseString(query("--format", "JSON", SUM).out()).getAsJsonArray();
        assertThat(json).hasSize(2);
        JsonObject row = json.get(0).getAsJsonObject();
        assertThat(row.get("pool").getAsString()).isEqualTo("a|\"b\", <c>\\\u001b[2J");
        assertThat(row.get("cpu").getAsLong()).isEqualTo(30);
        assertThat(row.get("wait").isJsonNull()).isTrue();

        List<String> markdown = query("--format", "markdown", SUM).out().lines().toList();
        assertThat(markdown.get(0)).isEqualTo("| pool | cpu | wait |");
        assertThat(markdown.get(1)).startsWith("| --- | ---: |");
        assertThat(markdown.get(2)).startsWith("| a\\|\"b\", &lt;c>\\\\").endsWith(" | 30 | - |");
        assertThat(markdown.get(3)).isEqualTo("| http-# | 1000 | - |");

        CliResult limited = query("--limit", "1", "--format", "csv", SUM);
        assertThat(limited.exitCode()).isZero();
        assertThat(limited.out().lines()).hasSize(2);
        assertThat(limited.err()).isEqualTo("taskclock: only the first 1 rows are shown: see --limit\n");
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "DELETE FROM mark_row",
                "DROP VIEW pool_cpu",
                "COPY (SELECT 1) TO 'TEMP/out.csv'",
                "FROM read_text('TEMP/secret')",
                "ATTACH 'TEMP/other.duckdb'",
                "SET memory_limit = '1GB'",
                "SELECT 1; SELECT 2",
                "SELECT * FROM missing",
                "SELEC 1"
            })
    void shouldRefuse(String sql) throws IOException, InterruptedException {
        writeHistory();
        Path secret = Files.writeString(temporary.resolve("secret"), "secret");
        CliResult result = query(sql.replace("TEMP", temporary.toString()));
        assertThat(result.exitCode()).isEqualTo(1);
        assertThat(result.out()).isEmpty();
        assertThat(result.err()).startsWith("taskclock: ").hasLineCount(1).doesNotContain("Exception", "\tat ");
        assertThat(secret).hasContent("secret");
        try (var files = Files.list(temporary)) {
            assertThat(files).containsExactlyInAnyOrder(secret, data());
        }
    }

    @Test
    void shouldNameWrongUsage() throws IOException, InterruptedException {
        String[][] commands = {
            {"give SQL, or --export DIR"},
            {"exclude each other", "--export", "x", "SELECT 1"},
            {"--limit: 0 is not between", "--limit", "0", "SELECT 1"},
            {"--timeout", "--timeout", "10ms", "SELECT 1"},
            {"is not table, csv, json, or markdown", "--format", "xml", "SELECT 1"},
            {"--since, --until, and --host need --from", "--since", "2026-11-20", "SELECT 1"},
            {"--from needs SQL, and excludes --data", "--from", "s3://bucket/x", "SELECT 1"},
            {"--unknown", "--unknown"}
        };
        writeHistory();
        for (String[] command : commands) {
            String[] arguments = new String[command.length - 1];
            System.arraycopy(command, 1, arguments, 0, arguments.length);
            CliResult result = query(arguments);
            assertThat(result.exitCode()).as(command[0]).isEqualTo(2);
            assertThat(result.err()).contains(command[0]).doesNotContain("\tat ");
            assertThat(result.out()).isEmpty();
        }
    }

    @Test
    void shouldFailIfThereIsNoHistory() throws IOException, InterruptedException {
        CliResult result = query("SELECT 1");
        assertThat(result.exitCode()).isEqualTo(1);
        assertThat(result.err())
                .startsWith("taskclock: " + data() + ": no history here: ")
                .hasLineCount(1);
        assertThat(data()).doesNotExist();
    }

    @Test
    void shouldExport() throws IOException, InterruptedException {
        writeHistory();
        CliResult result = query("--export", temporary.resolve("out").toString());
        assertThat(result.exitCode()).as(result.err()).isZero();
        assertThat(result.out()).matches("[0-9]+ files in .*/out\n");
        assertThat(temporary.resolve("out/jvm/host=host-a/part.parquet")).isNotEmptyFile();
    }

    @Test
    void shouldAnswerWhileServeRuns() throws Exception {
        writeHistory();
        Process serve = CliResult.builder("serve", "--listen", "127.0.0.1:0", "--data", data().toString())
                .redirectOutput(ProcessBuilder.Redirect.DISCARD)
                .redirectError(temporary.resolve("serve.log").toFile())
                .start();
        try {
            String sql = "SELECT count(*) AS n FROM process_cpu WHERE pid = "
                    + ProcessHandle.current().pid();
            long end = System.nanoTime() + TimeUnit.SECONDS.toNanos(CliResult.TIMEOUT_SECONDS);
            for (String out = ""; !out.matches("n\n[1-9][0-9]*\n"); ) {
                assertThat(System.nanoTime())
                        .as("%s", Files.readString(temporary.resolve("serve.log")))
                        .isLessThan(end);
                // Also while serve has locked the file but cannot answer yet.
                CliResult result = query("--format", "csv", sql);
                assertThat(result.exitCode()).as(result.err()).isZero();
                out = result.out();
            }
            assertThat(data().resolve("query.sock")).exists();
            assertThat(query("--format", "csv", SUM).out()).contains("\nhttp-#,1000,\n");
            CliResult refused = query("DELETE FROM mark_row");
            assertThat(refused.exitCode()).isEqualTo(1);
            assertThat(refused.err()).startsWith("taskclock: ").hasLineCount(1);
        } finally {
            serve.destroy();
            if (!serve.waitFor(CliResult.TIMEOUT_SECONDS, TimeUnit.SECONDS)) serve.destroyForcibly();
        }
        assertThat(query("--format", "csv", SUM).out()).contains("\nhttp-#,1000,\n");
    }
}
