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

/** What others have published, from published.json, and from nowhere else. */
record Published(List<Source> sources, List<Figures> tables, List<Claim> claims) {
    record Source(String id, String title, String url, String machine) {}

    /**
     * A table as JMH printed it.
     *
     * @param pair what is before and what is after have the same
     * @param reads the contender
     * @param error of the mean; null where JMH printed none
     * @param rows by name as in JMH's text, with "mean" for the first; a text where the source has no more than that
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

        /** In the table's unit; null where the source has but a text. */
        Double value(String row) {
            JsonElement value = rows.get(row);
            return value.getAsJsonPrimitive().isNumber() ? (Double) value.getAsDouble() : null;
        }

        /** Which of ours is to stand beside it on that JDK: its own ThreadMXBean where that reads in the same way. */
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
     * A sentence that can be tried.
     *
     * @param from what is measured must lie from here, in the unit of the published figure
     * @param to to here for the sentence to be confirmed; null where it is no matter of a range
     * @param published its figure, in words
     */
    record Claim(String id, String source, Double from, Double to, String published, String text) {}

    static Published read() {
        try (Reader in =
                new InputStreamReader(Published.class.getResourceAsStream("published.json"), StandardCharsets.UTF_8)) {
            return new Gson().fromJson(in, Published.class);
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
