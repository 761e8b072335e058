// SPDX-License-Identifier: Apache-2.0
// Copyright the TaskClock authors
package org.taskclock.benchmarks;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.within;

import com.google.gson.JsonArray;
import com.google.gson.JsonElement;
import com.google.gson.JsonParser;
import java.util.List;
import java.util.Locale;
import java.util.StringJoiner;
import org.junit.jupiter.api.Test;

class GoalsTest {
    /** Returns a run as JMH writes it, starting with additional properties. */
    private static String run(String properties, String jdk, String backend, String benchmark, String metric) {
        return String.format(
                Locale.ROOT,
                "{%1$s 'jdkVersion': '%2$s', 'vmName': 'VM', 'vmVersion': '%2$s', 'jvmArgs': ['-ea', "
                        + "'-Dtaskclock.backend=%3$s'], 'benchmark': 'org.taskclock.benchmarks.%4$s', "
                        + "'primaryMetric': {'scoreUnit': 'ns/op', %5$s}, 'secondaryMetrics': {'gc.alloc.rate.norm': "
                        + "{'score': 0.25}}}",
                properties,
                jdk,
                backend,
                benchmark,
                metric);
    }

    private static String average(String jdk, String backend, String benchmark, String forks) {
        return run("'mode': 'avgt',", jdk, backend, benchmark, "'rawData': " + forks);
    }

    private static String file(String jdk, String cpuForks) {
        return "["
                + average(jdk, "syscall", "CurrentThreadBenchmark.floor", "[[500], [500]]") + ","
                + average(jdk, "syscall", "CurrentThreadBenchmark.cpuNanos", cpuForks) + ","
                + run(
                        "'mode': 'avgt', 'params': {'thread': 'parked'},",
                        jdk,
                        "syscall",
                        "OtherThreadBenchmark.now",
                        "'rawData': [[1]]")
                + "]";
    }

    private static JmhResults results(String jdk, String cpuForks) {
        return JmhResults.parse(List.of(file(jdk, cpuForks))).get(0);
    }

    /** Formats goals for benchmarks of the current thread on backend rseq, given their names and ns. */
    private static String counting(String jdk, Object... namesAndNanos) {
        StringJoiner runs = new StringJoiner(",", "[", "]");
        for (int i = 0; i < namesAndNanos.length; i += 2) {
            runs.add(average(
                    jdk, "rseq", "CurrentThreadBenchmark." + namesAndNanos[i], "[[" + namesAndNanos[i + 1] + "]]"));
        }
        return Goals.markdown(JmhResults.parse(List.of(runs.toString())));
    }

    private static String line(String markdown, String start) {
        return markdown.lines()
                .filter(line -> line.startsWith("| " + start))
                .findFirst()
                .orElseThrow();
    }

    private static void assertMet(String markdown, String start) {
        assertThat(line(markdown, start)).endsWith("| yes |");
    }

    private static void assertMissed(String markdown, String start) {
        assertThat(line(markdown, start)).endsWith("| **no** |");
    }

    @Test
    void shouldMergeAllForksAndFilesOfOneJvm() {
        List<JmhResults> all = JmhResults.parse(List.of(
                file("17.0.15", "[[510, 9999], [505]]"), file("25.0.3", "[[1]]"), file("17.0.15", "[[520, 521]]")));
        assertThat(all).hasSize(2);
        JmhResults results = all.get(0);
        assertThat(results.nanos("CurrentThreadBenchmark.cpuNanos")).isEqualTo(520);
        assertThat(results.quantile("CurrentThreadBenchmark.cpuNanos", 0.1)).isEqualTo(507, within(1e-9));
        assertThat(results.bytes("CurrentThreadBenchmark.cpuNanos")).isEqualTo(0.25);
    }

    @Test
    void shouldSeparateBackendsOfOneJvm() {
        List<JmhResults> all = JmhResults.parse(List.of(
                file("17.0.15", "[[520]]"), file("17.0.15", "[[11]]").replace("backend=syscall", "backend=rseq-own")));
        assertThat(all).extracting(JmhResults::backend).containsExactly("syscall", "rseq-own");
        assertThat(all).extracting(JmhResults::isCounting).containsExactly(false, true);
        String goals = Goals.markdown(all);
        assertThat(goals).contains("JDK 17.0.15 (JNI), syscall", "JDK 17.0.15 (JNI), rseq-own");
        assertThat(line(goals, "CurrentThreadBenchmark.cpuNanos at most 12 ns |"))
                .endsWith("|  | not applicable | 11.0 ns | yes |");
        assertThat(line(goals, "CurrentThreadBenchmark.cpuNanos at most 12 ns (FFM)"))
                .endsWith("| yes |  | not applicable |");
    }

    @Test
    void shouldThrowIfTheBackendIsUnknown() {
        String text = file("17", "[[1]]").replace("'-Dtaskclock.backend=syscall'", "'-Dx=y'");
        assertThatThrownBy(() -> JmhResults.parse(List.of(text)))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessageContaining("CurrentThreadBenchmark.floor", "-Dtaskclock.backend=");
    }

    @Test
    void shouldNameParametersInKey() {
        assertThat(results("17", "[[1]]").keys()).contains("OtherThreadBenchmark.now parked");
    }

    @Test
    void shouldAllowMoreOverTheFloorWithJni() {
        String over15 = "[[515]]";
        assertThat(floorLine(results("17.0.15", over15)))
                .contains("500 +15.0 ns")
                .contains("yes");
        assertThat(floorLine(results("25.0.3", over15)))
                .contains("500 +15.0 ns")
                .contains("**no**");
    }

    @Test
    void shouldDetectADisturbedFloor() {
        assertThat(floorLine(results("17.0.15", "[[400]]"))).contains("floor disturbed");
    }

    private static String floorLine(JmhResults results) {
        return line(Goals.markdown(List.of(results)), "CurrentThreadBenchmark.cpuNanos at most 12 ns (FFM)");
    }

    @Test
    void shouldNotCompareACountingBackendWithASystemCall() {
        assertThat(counting("25.0.3", "cpuNanos", 11)).doesNotContain("over a bare system call", "at least 15 x");
        assertThat(Goals.markdown(List.of(results("17", "[[1]]")))).doesNotContain("at most 20 ns", "99 %");
    }

    @Test
    void shouldLimitTheCostOnACountingBackend() {
        String good = counting("25.0.3", "cpuNanos", 12, "userNanos", 20, "systemNanos", 20, "now", 30, "nanoTime", 12);
        assertMet(good, "CurrentThreadBenchmark.cpuNanos at most 12 ns");
        assertMet(good, "CurrentThreadBenchmark.cpuNanos at most CurrentThreadBenchmark.nanoTime");
        assertMet(good, "CurrentThreadBenchmark.userNanos at most 20 ns");
        assertMet(good, "CurrentThreadBenchmark.systemNanos at most 20 ns");
        assertMet(good, "CurrentThreadBenchmark.now at most 30 ns");
        String bad = counting(
                "25.0.3", "cpuNanos", 12.1, "userNanos", 20.1, "systemNanos", 20.1, "now", 30.1, "nanoTime", 12);
        assertMissed(bad, "CurrentThreadBenchmark.cpuNanos at most 12 ns");
        assertMissed(bad, "CurrentThreadBenchmark.cpuNanos at most CurrentThreadBenchmark.nanoTime");
        assertMissed(bad, "CurrentThreadBenchmark.userNanos at most 20 ns");
        assertMissed(bad, "CurrentThreadBenchmark.systemNanos at most 20 ns");
        assertMissed(bad, "CurrentThreadBenchmark.now at most 30 ns");
    }

    @Test
    void shouldLimitTheCostOfAnAccount() {
        for (String name : List.of("AccountBenchmark.enterAndClose", "AccountBenchmark.named")) {
            assertMet(account(name, 40), name + " at most 40 ns");
            assertMissed(account(name, 40.1), name + " at most 40 ns");
        }
        String name = "AccountBenchmark.enterAndClose";
        assertThat(line(account(name, 40), name + " allocates nothing")).contains("0.25 bytes");
    }

    private static String account(String name, double nanos) {
        return Goals.markdown(JmhResults.parse(List.of("[" + average("17", "rseq", name, "[[" + nanos + "]]") + "]")));
    }

    @Test
    void shouldRequireThatACountingBackendIsMuchCheaperThanStock() {
        assertMet(counting("25.0.3", "cpuNanos", 10, "stockCpu", 300), "CurrentThreadBenchmark.cpuNanos at least 30 x");
        assertMissed(
                counting("25.0.3", "cpuNanos", 10, "stockCpu", 299), "CurrentThreadBenchmark.cpuNanos at least 30 x");
        String user =
                "CurrentThreadBenchmark.userNanos at least 400 x cheaper than CurrentThreadBenchmark.stockUser up to "
                        + "JDK 25.0.4, 10 x after that";
        assertMet(counting("25.0.4", "userNanos", 10, "stockUser", 4000), user);
        assertMissed(counting("25.0.4", "userNanos", 10, "stockUser", 3999), user);
        assertMet(counting("25.0.5", "userNanos", 10, "stockUser", 100), user);
        assertMissed(counting("25.0.5", "userNanos", 10, "stockUser", 99), user);
        assertMissed(
                counting("26", "systemNanos", 10, "stockUser", 99),
                "CurrentThreadBenchmark.systemNanos at least 400 x cheaper");
    }

    @Test
    void shouldNotCompareWithStockThatReadsNoText() {
        String text = file("25.0.5", "[[500]]").replace("OtherThreadBenchmark.now", "CurrentThreadBenchmark.userNanos");
        text = text.replace("CurrentThreadBenchmark.floor", "CurrentThreadBenchmark.stockUser")
                .replace("'params': {'thread': 'parked'},", "");
        assertThat(line(
                        Goals.markdown(JmhResults.parse(List.of(text))),
                        "CurrentThreadBenchmark.userNanos at least 15 x"))
                .endsWith("|  | not applicable |");
    }

    @Test
    void shouldRequireTwiceTheThroughputOnTwoProcessors() {
        String start = "ConcurrencyBenchmark.onTwoProcessors with at least 1.9 x";
        assertMet(throughput(19, 20, 24), start);
        assertMissed(throughput(18.9, 20, 24), start);
        assertThat(line(throughput(20, 20, 24), start)).contains("2.00 x, System.nanoTime 2.00 x");
    }

    @Test
    void shouldDetectDisturbedProcessors() {
        String start = "ConcurrencyBenchmark.onTwoProcessors with at least 1.9 x";
        assertThat(line(throughput(18.9, 20, 30), start)).endsWith("| processors disturbed |");
        assertMet(throughput(19, 20, 30), start);
    }

    /** Formats goals if System.nanoTime takes 24 ns on one processor. */
    private static String throughput(double one, double two, double controlTwo) {
        return Goals.markdown(JmhResults.parse(List.of("["
                + average("17", "rseq", "ConcurrencyBenchmark.onOneProcessor", "[[" + one + "]]") + ","
                + average("17", "rseq", "ConcurrencyBenchmark.onTwoProcessors", "[[" + two + "]]") + ","
                + average("17", "rseq", "ConcurrencyBenchmark.nanoTimeOnOneProcessor", "[[24]]") + ","
                + average("17", "rseq", "ConcurrencyBenchmark.nanoTimeOnTwoProcessors", "[[" + controlTwo + "]]")
                + "]")));
    }

    @Test
    void shouldCompareTheSlowestReadingsOfManyThreads() {
        String start =
                "ConcurrencyBenchmark.tenBy16Threads 99 % at most 1.2 x ConcurrencyBenchmark.tenByOneThread " + "99 %";
        assertMet(sampled(100, 120), start);
        assertMissed(sampled(100, 121), start);
    }

    private static String sampled(int one, int sixteen) {
        String metric = "'rawDataHistogram': [[[[1, 5]]]], 'scorePercentiles': {'50.0': 1, '99.0': %d, '99.9': 9999}";
        return Goals.markdown(JmhResults.parse(List.of("["
                + run(
                        "'mode': 'sample',",
                        "17",
                        "rseq",
                        "ConcurrencyBenchmark.tenByOneThread",
                        String.format(metric, one))
                + ","
                + run(
                        "'mode': 'sample',",
                        "17",
                        "rseq",
                        "ConcurrencyBenchmark.tenBy16Threads",
                        String.format(metric, sixteen))
                + "]")));
    }

    @Test
    void shouldReadTheSameFromASummary() {
        String sampled =
                "'rawDataHistogram': [[[[1, 5]]]], 'scorePercentiles': {'99.0': 100}, 'scoreConfidence': [1, 2]";
        JsonArray runs =
                JsonParser.parseString(file("17", "[[500.25, 510], [520]]")).getAsJsonArray();
        runs.add(JsonParser.parseString(
                run("'mode': 'sample',", "17", "syscall", "CurrentThreadBenchmark.now", sampled)));
        String before = Goals.markdown(JmhResults.parse(List.of(runs.toString())));
        for (JsonElement run : runs) JmhSummary.reduce(run.getAsJsonObject());
        assertThat(runs.toString())
                .contains("\"iterations\":{\"samples\":5,\"means\":[[1.0]],\"medians\":[[1.0]],\"maxima\":[[1.0]]}")
                .doesNotContain("rawDataHistogram", "scoreConfidence");
        assertThat(Goals.markdown(JmhResults.parse(List.of(runs.toString())))).isEqualTo(before);
    }

    @Test
    void shouldKnowWhetherStockUserTimeIsText() {
        assertThat(results("25.0.3", "[[1]]").readsUserTimeAsText()).isTrue();
        assertThat(results("25.0.5", "[[1]]").readsUserTimeAsText()).isFalse();
        assertThat(results("26-ea", "[[1]]").readsUserTimeAsText()).isFalse();
    }

    @Test
    void shouldShowWhatWasNotMeasured() {
        assertThat(Goals.markdown(List.of(results("17", "[[1]]"))))
                .contains("AllThreadsBenchmark.floor 10000 |  | not measured |");
    }

    @Test
    void shouldThrowIfTheUnitIsNotNanoseconds() {
        String text = file("17", "[[1]]").replace("ns/op", "us/op");
        assertThatThrownBy(() -> JmhResults.parse(List.of(text))).hasMessageContaining("us/op");
    }
}
