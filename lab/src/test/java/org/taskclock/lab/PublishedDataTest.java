// SPDX-License-Identifier: Apache-2.0
// Copyright the TaskClock authors
package org.taskclock.lab;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.within;

import com.google.gson.JsonElement;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.taskclock.report.Result;

class PublishedDataTest {
    private final PublishedData published = PublishedData.read();

    private static List<String> rows() {
        List<String> rows = new ArrayList<>(List.of("mean"));
        rows.addAll(Measurement.percentileRows());
        return rows;
    }

    /** Checksums computed from the sources, so that no figure can change unnoticed. */
    @ParameterizedTest
    @CsvSource({
        "post-us-before, us, 16, 1405.951, 0, 8912714",
        "post-us-after, us, 16, 1237.205, 0, 11037102",
        "post-ns-own-id, ns, 1, 656022.746, 0, 4347067",
        "post-ns-id-0, ns, 1, 427891.813, 0, 5081223",
        "pr-ms-before, ms, 1, 1.118, 0, 7506555",
        "pr-ms-after, ms, 1, 0.062, 5, 8984189"
    })
    void shouldContainEveryPublishedRow(String id, String unit, int threads, double sum, int texts, long samples) {
        PublishedData.Figures figures = published.tables().stream()
                .filter(table -> table.id().equals(id))
                .findFirst()
                .orElseThrow();
        assertThat(figures.rows().keySet()).containsExactlyElementsOf(rows());
        assertThat(figures.unit()).isEqualTo(unit);
        assertThat(figures.threads()).isEqualTo(threads);
        assertThat(figures.samples()).isEqualTo(samples);
        List<Double> values = rows().stream()
                .map(figures::value)
                .filter(value -> value != null)
                .toList();
        assertThat(values.stream().mapToDouble(Double::doubleValue).sum()).isCloseTo(sum, within(1e-6));
        assertThat(rows()).hasSize(values.size() + texts);
        assertThat(published.tables()).hasSize(6);
    }

    @Test
    void shouldNameTheSourceOfEachFigure() {
        assertThat(published.tables()).allSatisfy(table -> {
            assertThat(published.source(table.source()).url()).startsWith("https://");
            assertThat(Contender.named(List.of(table.reads()))).hasSize(1);
        });
        assertThat(published.claims()).extracting(PublishedData.Claim::id).doesNotHaveDuplicates();
        assertThat(published.claims()).allSatisfy(claim -> assertThat(published.source(claim.source()))
                .isNotNull());
    }

    /** The table before a change precedes the one after it. */
    @Test
    void shouldKeepTablesInPairs() {
        for (int i = 0; i < published.tables().size(); i += 2) {
            assertThat(published.tables().get(i + 1).pair())
                    .isEqualTo(published.tables().get(i).pair());
        }
    }

    @ParameterizedTest
    @CsvSource({
        "17.0.15, proc, STOCK_USER",
        "25.0.3, proc, STOCK_USER",
        "25.0.5, proc, PROC",
        "26, proc, PROC",
        "25.0.3, own-id, OWN_ID",
        "25.0.5, own-id, STOCK_USER",
        "27-ea, own-id, STOCK_USER",
        "17.0.15, id-0, ID_0",
        "26.0.2.1, id-0, ID_0"
    })
    void shouldSelectTheContenderForEachFigure(String jdk, String reads, Contender contender) {
        PublishedData.Figures figures =
                new PublishedData.Figures("", "", "", "", reads, "us", 1, 0, null, Map.<String, JsonElement>of());
        assertThat(figures.contender(jdk)).isEqualTo(contender);
    }

    @Test
    void shouldShowEveryRowAndClaimWithoutMeasurements() {
        Measurements nothing = new Measurements(List.of());
        List<Result.Table> tables = new PublishedComparison(published, nothing, Map.of()).tables();
        assertThat(tables).hasSize(9);
        assertThat(tables.subList(0, 6)).allSatisfy(table -> {
            assertThat(table.rows()).hasSize(9);
            assertThat(table.rows()).allSatisfy(row -> assertThat(row.get(1)).isNotNull());
        });
        assertThat(new ClaimChecker(published, nothing, List.of()).findings())
                .hasSameSizeAs(published.claims())
                .allSatisfy(finding -> assertThat(finding.verdict()).isEqualTo("not measured"));
    }
}
