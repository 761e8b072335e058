// SPDX-License-Identifier: Apache-2.0
// Copyright the TaskClock authors
package org.taskclock.benchmarks;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.within;

import java.util.List;
import java.util.Locale;
import org.junit.jupiter.api.Test;

class GoalsTest {
    private static String run(String jdk, String benchmark, String params, String forks) {
        return String.format(
                Locale.ROOT,
                "{'jdkVersion': '%1$s', 'vmName': 'VM', 'vmVersion': '%1$s', 'benchmark': 'org.taskclock.benchmarks.%2$s', %3$s 'primaryMetric': {'scoreUnit': 'ns/op',"
                        + " 'rawData': %4$s}, 'secondaryMetrics': {'gc.alloc.rate.norm': {'score': 0.25}}}",
                jdk,
                benchmark,
                params,
                forks);
    }

    private static String file(String jdk, String cpuForks) {
        return "["
                + run(jdk, "CurrentThread.floor", "", "[[500], [500]]") + ","
                + run(jdk, "CurrentThread.cpuNanos", "", cpuForks) + ","
                + run(jdk, "OtherThread.now", "'params': {'thread': 'parked'},", "[[1]]") + "]";
    }

    private static Results results(String jdk, String cpuForks) {
        return Results.parse(List.of(file(jdk, cpuForks))).get(0);
    }

    @Test
    void shouldTakeAllForksAndFilesOfOneJvmTogether() {
        List<Results> all = Results.parse(List.of(
                file("17.0.15", "[[510, 9999], [505]]"), file("25.0.3", "[[1]]"), file("17.0.15", "[[520, 521]]")));
        assertThat(all).hasSize(2);
        Results results = all.get(0);
        assertThat(results.nanos("CurrentThread.cpuNanos")).isEqualTo(520);
        assertThat(results.quantile("CurrentThread.cpuNanos", 0.1)).isEqualTo(507, within(1e-9));
        assertThat(results.bytes("CurrentThread.cpuNanos")).isEqualTo(0.25);
    }

    @Test
    void shouldNameParametersInKey() {
        assertThat(results("17", "[[1]]").keys()).contains("OtherThread.now parked");
    }

    @Test
    void shouldAllowMoreOverTheFloorByJni() {
        String over15 = "[[515]]";
        assertThat(goalLine(results("17.0.15", over15)))
                .contains("500 +15.0 ns")
                .contains("yes");
        assertThat(goalLine(results("25.0.3", over15))).contains("500 +15.0 ns").contains("**no**");
    }

    @Test
    void shouldNotTrustAFloorThatIsAboveWhatStandsOnIt() {
        assertThat(goalLine(results("17.0.15", "[[400]]"))).contains("floor disturbed");
    }

    private static String goalLine(Results results) {
        return Goals.markdown(List.of(results))
                .lines()
                .filter(line -> line.contains("over a bare system call"))
                .findFirst()
                .orElseThrow();
    }

    @Test
    void shouldCompareWithStockUserTimeOnlyWhereItIsText() {
        assertThat(results("25.0.3", "[[1]]").readsUserTimeAsText()).isTrue();
        assertThat(results("25.0.5", "[[1]]").readsUserTimeAsText()).isFalse();
        assertThat(results("26-ea", "[[1]]").readsUserTimeAsText()).isFalse();
    }

    @Test
    void shouldSayWhatWasNotMeasured() {
        assertThat(Goals.markdown(List.of(results("17", "[[1]]"))))
                .contains("AllThreads.floor 10000 |  | not measured |");
    }

    @Test
    void shouldThrowWhenUnitIsNotNanoseconds() {
        String text = "[" + run("17", "CurrentThread.floor", "", "[[1]]") + "]";
        assertThatThrownBy(() -> Results.parse(List.of(text.replace("ns/op", "us/op"))))
                .hasMessageContaining("us/op");
    }
}
