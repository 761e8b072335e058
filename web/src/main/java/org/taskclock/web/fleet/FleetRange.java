// SPDX-License-Identifier: Apache-2.0
// Copyright the TaskClock authors
package org.taskclock.web.fleet;

import com.google.gson.stream.JsonWriter;
import java.io.IOException;
import java.time.Clock;
import java.time.Duration;
import java.time.Instant;
import java.util.Arrays;
import org.taskclock.web.http.ApiException;
import org.taskclock.web.http.Call;

/**
 * The time range of a request, in steps. Its ends are multiples of a step, so that equal requests are equal queries.
 */
record FleetRange(Instant from, Instant to, Duration step) {
    private static final Duration DEFAULT = Duration.ofDays(1);

    /** The window of the recorded rates. Steps of this length together contain all CPU time. */
    private static final Duration WINDOW = Duration.ofMinutes(5);

    private static final Duration HOUR = Duration.ofHours(1);
    private static final int HOURS = 24;
    private static final int STEPS = 300;
    private static final Duration MAX = Duration.ofDays(92);

    static FleetRange of(Call call, Clock clock) throws ApiException {
        Instant to = align(call.time("to", clock.instant()), PrometheusApi.FRESH);
        Instant from = call.time("from", to.minus(DEFAULT));
        Duration length = Duration.between(from, to);
        if (length.compareTo(PrometheusApi.FRESH) < 0 || length.compareTo(MAX) > 0)
            throw ApiException.badRequest("from: must be before to, by at most " + MAX.toDays() + " days");
        Duration step = align(length.dividedBy(STEPS).plus(PrometheusApi.FRESH).minusMillis(1), PrometheusApi.FRESH);
        return new FleetRange(align(from, step), to, step);
    }

    /** Returns the time of the queries that are sent now. */
    static Instant now(Clock clock) {
        return align(clock.instant(), PrometheusApi.FRESH);
    }

    private static Instant align(Instant time, Duration unit) {
        return Instant.ofEpochSecond(time.getEpochSecond() / unit.toSeconds() * unit.toSeconds());
    }

    private static Duration align(Duration length, Duration unit) {
        return unit.multipliedBy(Math.max(1, length.dividedBy(unit)));
    }

    /** Writes the range into an object. */
    void write(JsonWriter json) throws IOException {
        json.name("from").value(from.toEpochMilli());
        json.name("to").value(to.toEpochMilli());
        json.name("step").value(step.toMillis());
    }

    /** Returns the number of steps from the first to the last, both included. */
    int points() {
        return (int) (length().dividedBy(step) + 1);
    }

    /** Returns the values of a range query by step, NaN where there is none. */
    double[] values(Answer.Series series) {
        double[] values = new double[points()];
        Arrays.fill(values, Double.NaN);
        for (int i = 0; i < series.times().length; i++) {
            long at = Math.round((series.times()[i] - from.toEpochMilli()) / (double) step.toMillis());
            if (at >= 0 && at < values.length) values[(int) at] = series.values()[i];
        }
        return values;
    }

    private Duration length() {
        return Duration.between(from, to);
    }

    /** Whether sums read the recorded means of hours, so that they read no more than a day of them has. */
    boolean isLong() {
        return length().compareTo(HOUR) > 0;
    }

    /** Returns the range as a subquery of means of hours. */
    String hourlySubquery() {
        return "[" + length().toSeconds() + "s:" + hourlySampling().toSeconds() + "s]";
    }

    private Duration hourlySampling() {
        Duration day = length().dividedBy(HOURS);
        return day.compareTo(HOUR) < 0 ? HOUR : day;
    }

    /** Returns what a sum over {@link #hourlySubquery}, in processors, is multiplied by to give hours. */
    double hoursPerHourlySample() {
        return hourlySampling().toSeconds() / 3600.0;
    }

    /** Returns the distance of the samples of a sum over the range. */
    private Duration sampling() {
        return step.compareTo(WINDOW) < 0 && length().compareTo(WINDOW) > 0 ? WINDOW : step;
    }

    /** Returns the range as a subquery. */
    String subquery() {
        return "[" + length().toSeconds() + "s:" + sampling().toSeconds() + "s]";
    }

    /** Returns the time from now to the beginning. */
    String offset() {
        return " offset " + length().toSeconds() + "s";
    }

    String selector() {
        return "[" + length().toSeconds() + "s]";
    }

    /** Returns what a sum over {@link #subquery}, in processors, is multiplied by to give hours. */
    double hoursPerSample() {
        return sampling().toSeconds() / 3600.0;
    }
}
