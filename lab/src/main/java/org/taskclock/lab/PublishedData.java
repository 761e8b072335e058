// SPDX-License-Identifier: Apache-2.0
// Copyright the TaskClock authors
package org.taskclock.lab;

import com.google.gson.Gson;
import com.google.gson.JsonElement;
import java.io.IOException;
import java.io.InputStreamReader;
import java.io.Reader;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.Map;

/** The published figures and claims, from published.json. */
record PublishedData(List<Source> sources, List<Figures> tables, List<Claim> claims) {
    record Source(String id, String title, String url, String machine) {}

    /**
     * A table as JMH printed it.
     *
     * @param pair shared by the tables before and after a change
     * @param reads the id of the contender
     * @param error of the mean; null if JMH printed none
     * @param rows by name as in JMH's output, with "mean" for the first; a value is a string if the source has no
     *     number
     */
    record Figures(
            String id,
            String pair,
            String source,
            String title,
            String reads,
            String unit,
            int threads,
            long samples,
            Double error,
            Map<String, JsonElement> rows) {

        /** Returns a value in the table's unit, or null if the source has no number. */
        Double value(String row) {
            JsonElement value = rows.get(row);
            return value.getAsJsonPrimitive().isNumber() ? (Double) value.getAsDouble() : null;
        }

        /** Returns the contender to compare with on a JDK: its own ThreadMXBean if that reads in the same way. */
        Contender contender(String jdkVersion) {
            boolean stock = reads.equals("proc")
                    ? Jdk.readsUserTimeAsText(jdkVersion)
                    : reads.equals("own-id") && !Jdk.readsUserTimeAsText(jdkVersion);
            return stock
                    ? Contender.STOCK_USER
                    : Contender.named(List.of(reads)).get(0);
        }
    }

    /**
     * A claim that measurements can confirm.
     *
     * @param from lower limit of the measured value, in the unit of the published figure; null if there is no range
     * @param to upper limit
     * @param published the published figure, as text
     */
    record Claim(String id, String source, Double from, Double to, String published, String text) {}

    static PublishedData read() {
        try (Reader in = new InputStreamReader(
                PublishedData.class.getResourceAsStream("published.json"), StandardCharsets.UTF_8)) {
            return new Gson().fromJson(in, PublishedData.class);
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    Source source(String id) {
        return sources.stream()
                .filter(source -> source.id.equals(id))
                .findFirst()
                .orElseThrow(() -> new IllegalArgumentException("source " + id));
    }

    Claim claim(String id) {
        return claims.stream()
                .filter(claim -> claim.id.equals(id))
                .findFirst()
                .orElseThrow(() -> new IllegalArgumentException("claim " + id));
    }
}
