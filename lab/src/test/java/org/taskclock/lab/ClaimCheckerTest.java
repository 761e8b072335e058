// SPDX-License-Identifier: Apache-2.0
// Copyright the TaskClock authors
package org.taskclock.lab;

import static org.assertj.core.api.Assertions.assertThat;
import static org.taskclock.lab.TestMeasurements.sampled;

import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.taskclock.report.Result;

class ClaimCheckerTest {
    private static final PublishedData PUBLISHED = PublishedData.read();

    private static Result.Finding finding(String id, List<FlameGraphs.Shares> flames, Measurement... measured) {
        String claim = PUBLISHED.claim(id).text();
        return new ClaimChecker(PUBLISHED, new Measurements(List.of(measured)), flames)
                .findings().stream()
                        .filter(finding -> finding.claim().equals(claim))
                        .findFirst()
                        .orElseThrow();
    }

    private static Result.Finding finding(String id, Measurement... measured) {
        return finding(id, List.of(), measured);
    }

    @ParameterizedTest
    @CsvSource({
        "82, 71, confirmed", // the published figures
        "82, 82, contradicted",
        "82, 40, contradicted",
        "71, 82, contradicted"
    })
    void shouldCheckTheSavingsOfId0(double own, double zero, String verdict) {
        Result.Finding finding =
                finding("13-percent", sampled(Contender.OWN_ID, 1, own), sampled(Contender.ID_0, 1, zero));
        assertThat(finding.verdict()).isEqualTo(verdict);
        assertThat(finding.text()).contains("published: 13 %", "JDK 25.0.3");
    }

    @Test
    void shouldBeInconclusiveIfTheRangeCrossesTheLimit() {
        Result.Finding finding = finding(
                "13-percent",
                sampled(Contender.OWN_ID, 1, 90.0, 100.0, 110.0),
                sampled(Contender.ID_0, 1, 85.0, 95.0, 105.0));
        assertThat(finding.verdict()).isEqualTo("inconclusive");
        assertThat(finding.text()).contains("5.0 %", "crosses the limit");
        assertThat(ResultText.finding(finding, "")).startsWith("INCONCLUSIVE: ");
        assertThat(ResultText.finding(finding, "The machine was busy."))
                .startsWith("INCONCLUSIVE (MACHINE WAS BUSY): ");
    }

    @Test
    void shouldBeInconclusiveIfTheRangeIncludesNoEffect() {
        Result.Finding finding = finding(
                "13-percent",
                sampled(Contender.OWN_ID, 1, 80.0, 100.0, 120.0),
                sampled(Contender.ID_0, 1, 87.0, 87.0, 87.0));
        assertThat(finding.verdict()).isEqualTo("inconclusive");
        assertThat(finding.text()).contains("13.0 %", "no effect at all");
    }

    @Test
    void shouldBeInconclusiveIfMeansAndMediansDisagree() {
        List<List<Double>> medians = List.of(List.of(71.0));
        Measurement zero = sampled(Contender.ID_0, 1, 200.0);
        Measurement disturbed = new Measurement(
                zero.jdk(),
                zero.version(),
                zero.contender(),
                zero.backend(),
                true,
                1,
                100,
                200,
                0,
                zero.percentiles(),
                zero.means(),
                medians,
                zero.maxima());
        Result.Finding finding = finding("13-percent", sampled(Contender.OWN_ID, 1, 82.0), disturbed);
        assertThat(finding.verdict()).isEqualTo("inconclusive");
        assertThat(finding.text()).contains("means -143.9 %", "medians 13.4 %", "disagree");
    }

    @ParameterizedTest
    @CsvSource({"1000, 50, confirmed", "1000, 500, contradicted", "1000, 10, contradicted"})
    void shouldCheckTheSlowestReading(double before, double after, String verdict) {
        Result.Finding finding =
                finding("max-ms", sampled(Contender.STOCK_USER, 1, before), sampled(Contender.OWN_ID, 1, after));
        assertThat(finding.verdict()).isEqualTo(verdict);
    }

    @ParameterizedTest
    @CsvSource({"15000, contradicted", "40000, confirmed", "500000, contradicted"})
    void shouldCheckTheGapBetweenUserAndCpu(double user, String verdict) {
        Result.Finding finding =
                finding("30-to-400", sampled(Contender.STOCK_USER, 1, user), sampled(Contender.STOCK_CPU, 1, 1000.0));
        assertThat(finding.verdict()).isEqualTo(verdict);
    }

    @ParameterizedTest
    @CsvSource({"20, 40, confirmed", "40, 20, contradicted", "20, 20, inconclusive"})
    void shouldCheckWhetherTheGapWidens(double byOne, double bySixteen, String verdict) {
        Result.Finding finding = finding(
                "widens",
                sampled(Contender.STOCK_USER, 1, 10 * byOne),
                sampled(Contender.STOCK_CPU, 1, 10.0),
                sampled(Contender.STOCK_USER, 16, 10 * bySixteen),
                sampled(Contender.STOCK_CPU, 16, 10.0));
        assertThat(finding.verdict()).isEqualTo(verdict);
    }

    @Test
    void shouldListHigherPercentiles() {
        assertThat(finding("all-percentiles", sampled(Contender.OWN_ID, 1, 8.0), sampled(Contender.ID_0, 1, 8.0))
                        .verdict())
                .isEqualTo("confirmed");
        Result.Finding worse =
                finding("all-percentiles", sampled(Contender.OWN_ID, 1, 8.0), sampled(Contender.ID_0, 1, 9.0));
        assertThat(worse.verdict()).isEqualTo("contradicted");
        assertThat(worse.text()).contains("p0.00 (9 ns, own id 8)", "p1.00");
    }

    @Test
    void shouldAddTheSamplesOfNarrowFramesToTheirCallers() {
        assertThat(FlameGraphs.withoutNarrowFrames("a;b;c 1\na;b;d 1\na;b 6\nr;s 1\na;e 3991\n"))
                .as("c, d, and s have less than 0.2 % of the samples; r also, but it has no caller")
                .isEqualTo("a;b 8\nr 1\na;e 3991\n");
    }

    @Test
    void shouldComputeSharesFromStacks() {
        String stacks = "read;call;entry_[k];find_vpid_[k];idr_find_[k] 2\nread;call;entry_[k];other_[k] 6\nread 2\n";
        FlameGraphs.Shares shares = FlameGraphs.Shares.of("25.0.3", FlameGraphs.AFTER, stacks);
        assertThat(shares.samples()).isEqualTo(10);
        assertThat(shares.kernel()).isEqualTo(0.8);
        assertThat(shares.lookUp()).isEqualTo(0.25);
        assertThat(finding("look-up", List.of(shares)).verdict()).isEqualTo("confirmed");
        assertThat(finding("after-in-jvm", List.of(shares)).verdict()).isEqualTo("contradicted");
        FlameGraphs.Shares without = FlameGraphs.Shares.of("25.0.3", FlameGraphs.AFTER, "read;call 7\n");
        assertThat(without.text()).contains("no kernel frames");
        assertThat(finding("look-up", List.of(without)).verdict()).isEqualTo("not measured");
    }
}
