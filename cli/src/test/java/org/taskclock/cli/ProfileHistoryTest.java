// SPDX-License-Identifier: Apache-2.0
// Copyright the TaskClock authors
package org.taskclock.cli;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.within;

import com.google.gson.JsonObject;
import com.google.gson.JsonParser;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Instant;
import java.time.ZoneId;
import java.util.List;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.taskclock.CpuTime;
import org.taskclock.history.DuckDbHistory;
import org.taskclock.history.History;
import org.taskclock.history.HistoryOptions;
import org.taskclock.history.HistoryProfile;
import org.taskclock.history.HistorySample;
import org.taskclock.history.JvmKey;
import org.taskclock.metrics.ThreadKind;
import org.taskclock.monitor.usage.ThreadUsage;

/** {@code taskclock profile --from} reads the profiles that {@code serve --profile} has recorded. */
@Tag("slow17")
class ProfileHistoryTest {
    private static final long SECOND = 1_000_000_000;

    /** The start of the first of two minutes. */
    private static final Instant START = Instant.parse("2026-11-24T09:00:00Z");

    private static final List<String> FAST = List.of("Main.run", "Main.fast");
    private static final List<String> SLOW = List.of("Main.run", "Main.slow\u001b[2J");

    @TempDir
    Path data;

    private static ThreadUsage pool(String name, long nanos) {
        return ThreadUsage.of(7, 0, name, ThreadKind.JAVA)
                .pool(name)
                .cpu(nanos, nanos)
                .switches(0, 0)
                .state('S')
                .build();
    }

    private static HistoryProfile profile(JvmKey jvm, Instant from, long fast, long slow) {
        return new HistoryProfile(
                jvm,
                from,
                from.plusSeconds(60),
                List.of(
                        new HistoryProfile.Stack("http-#", false, FAST, 10, fast),
                        new HistoryProfile.Stack("http-#", false, SLOW, 10, slow)));
    }

    /** Writes two runs of a program, a minute each, and another program. */
    private void write() throws IOException {
        JvmKey first = new JvmKey("7-1", "host-a", 7, "shop", "Main", null, null, START);
        JvmKey second = new JvmKey("8-1", "host-a", 8, "shop", "Main", null, null, START);
        JvmKey other = new JvmKey("9-1", "host-a", 9, "shopping", "Main", null, null, START);
        try (History history = DuckDbHistory.open(data, HistoryOptions.DEFAULT)) {
            for (int i = 1; i <= 122; i++) {
                for (JvmKey jvm : List.of(i <= 60 ? first : second, other))
                    history.add(new HistorySample(
                            jvm,
                            START.plusSeconds(i),
                            SECOND,
                            List.of(pool("http-#", SECOND / 10), pool("GC", SECOND / 100)),
                            List.of(),
                            new CpuTime(1, 1, 0),
                            null));
            }
            history.add(profile(first, START, 3, 1));
            history.add(profile(second, START.plusSeconds(60), 1, 4));
        }
    }

    private CliResult profile(String... arguments) {
        String[] all = new String[arguments.length + 3];
        all[0] = "profile";
        System.arraycopy(arguments, 0, all, 1, arguments.length);
        all[arguments.length + 1] = "--data";
        all[arguments.length + 2] = data.toString();
        return CliResult.runHere(all);
    }

    @Test
    void shouldShowMethodsOfARange() throws IOException {
        write();
        CliResult all = profile("7", "--from", "2026-11-24T09:00:00Z", "--to", "2026-11-24T09:01:00Z");
        assertThat(all.exitCode()).as(all.err()).isZero();
        assertThat(all.out())
                .startsWith("shop, all threads, ")
                .contains("CPU 11.0 % of a core", "68.2     68.2  Main.fast", "[not sampled]")
                .doesNotContain("\u001b", "process 0", "user");
        CliResult both =
                profile("8", "--from", "2026-11-24T09:00:00Z", "--to", "2026-11-24T10:00:00Z", "--pool", "HTTP");
        assertThat(both.out()).contains("pool \"http-#\"").doesNotContain("[not sampled]");
        CliResult flame = profile("7", "--from", "2026-11-24T09:00:00Z", "--to", "2026-11-24T09:01:00Z", "--flame");
        assertThat(flame.out()).contains("http-#", "Main.run").doesNotContain("\u001b");
        Path page = data.resolve("flame.html");
        profile("7", "--from", "2026-11-24T09:00:00Z", "--to", "2026-11-24T09:01:00Z", "-o", page.toString());
        assertThat(Files.readString(page)).contains("Main.fast");
    }

    @Test
    void shouldCompareAcrossRunsOfTheProgram() throws IOException {
        write();
        String[] ranges = {
            "SHOPPING",
            "--from",
            "2026-11-24T09:01:00Z",
            "--to",
            "2026-11-24T09:02:00Z",
            "--against",
            "2026-11-24T09:00:00Z"
        };
        assertThat(profile(ranges).err()).contains("the history has no profiles of shopping");
        ranges[0] = "8";
        CliResult text = profile(ranges);
        assertThat(text.err()).contains("the history has no profiles of shop").contains("09:00");
        ranges[0] = "main";
        assertThat(profile(ranges).err()).contains("\"main\" matches 2 programs in the history: shop, shopping");
        ranges[0] = "shop";
        CliResult change = profile(ranges);
        assertThat(change.exitCode()).as(change.err()).isZero();
        assertThat(change.out())
                .startsWith("shop, all threads, CPU in % of one core\nA: ")
                .contains("1 min were profiled, CPU 11.0 %")
                .containsPattern(" 2\\.50 +8\\.00 +\\+5\\.50 .* Main\\.slow")
                .containsPattern(" 7\\.50 +2\\.00 +-5\\.50 .* Main\\.fast")
                .containsPattern(" 10\\.00 +10\\.00 +\\+0\\.00  Main\\.run");
        ranges = List.of(ranges).toArray(new String[ranges.length + 1]);
        ranges[ranges.length - 1] = "--json";
        JsonObject json = JsonParser.parseString(profile(ranges).out()).getAsJsonObject();
        assertThat(json.get("secondsA").getAsDouble()).isEqualTo(60);
        JsonObject first = json.getAsJsonArray("methods").get(0).getAsJsonObject();
        assertThat(Math.abs(first.get("selfPercentB").getAsDouble()
                        - first.get("selfPercentA").getAsDouble()))
                .isCloseTo(5.5, within(1e-6));
    }

    @ParameterizedTest
    @CsvSource(delimiter = '|', textBlock = """
                    profile shop --to 09:00                      | need --from
                    profile shop --from yesterday                | --from "yesterday" is not a time such as 14:30
                    profile shop --from 2h --to 3h               | --from 2h: must be before --to
                    profile shop --from 2h --thread x            | use --pool
                    profile --from 2h                            | add PID|NAME
                    profile shop --from 2h --against 3h --flame  | --against cannot be combined
                    serve --profile 6%                           | --profile 6.0: must be from 0.1% to 5%
                    serve --profile 1% --no-attach               | --profile: cannot be combined with --no-attach
                    """)
    void shouldReportWrongOptions(String arguments, String message) {
        CliResult result = CliResult.runHere(arguments.split(" +"));
        assertThat(result.exitCode()).isEqualTo(2);
        assertThat(result.err()).contains(message);
    }

    @ParameterizedTest
    @CsvSource({
        "2h, 2026-11-24T07:00:00Z",
        "90m, 2026-11-24T07:30:00Z",
        "2026-11-20, 2026-11-20T00:00:00Z",
        "2026-11-20T10:30, 2026-11-20T10:30:00Z",
        "2026-11-20 10:30:05, 2026-11-20T10:30:05Z",
        "2026-11-20T10:30:00Z, 2026-11-20T10:30:00Z",
        "08:59, 2026-11-24T08:59:00Z",
        "09:01, 2026-11-23T09:01:00Z"
    })
    void shouldReadTimesInThePast(String text, Instant expected) throws CommandException {
        assertThat(ProfileHistory.time("--from", text, START, ZoneId.of("UTC"))).isEqualTo(expected);
    }
}
