// SPDX-License-Identifier: Apache-2.0
// Copyright the TaskClock authors
package org.taskclock.monitor.finding;

import com.google.gson.TypeAdapter;
import com.google.gson.annotations.JsonAdapter;
import com.google.gson.stream.JsonReader;
import com.google.gson.stream.JsonWriter;
import java.io.IOException;
import java.util.List;
import java.util.Locale;
import org.taskclock.metrics.ThreadKind;

/**
 * A kind of finding: its condition, its texts, and the alerts that Prometheus raises for it. Each kind is one public
 * final class of this package; the build lists them for {@link FindingKinds}. Kinds have no state, and are equal if
 * their identifiers are.
 */
@JsonAdapter(FindingKind.Json.class)
public abstract class FindingKind {
    /** A thread or a group of threads that uses less is of no interest. */
    static final double MIN_PROCESSORS = 0.1;

    /** What it takes to find it. */
    public enum Source {
        /** The figures of threads or pools. */
        FIGURES,
        /** Thread dumps, the agent, or all threads. serve looks at these only for a JVM that it watches. */
        DUMPS,
        /** The figures of all JVMs of the host. */
        HOST,
        /** Prometheus. */
        METRICS
    }

    /** The color of the mark in a timeline. */
    public enum Color {
        RED,
        YELLOW,
        BLUE,
        MAGENTA,
        CYAN
    }

    private final String id;
    private final int rank;
    private final Color color;
    private final Source source;
    private final String meaning;
    private final String action;

    /** @param rank the lower, the more severe: findings that affect all threads or waste CPU time come first */
    FindingKind(String id, int rank, Color color, Source source, String meaning, String action) {
        this.id = id;
        this.rank = rank;
        this.color = color;
        this.source = source;
        this.meaning = meaning;
        this.action = action;
    }

    /** Returns this finding about a thread or a pool; null if the condition is not met. */
    Finding find(Suspect suspect, Observation observation) {
        return null;
    }

    /** Returns this finding about the JVM as a whole, considering those that were found before. */
    List<Finding> find(Observation observation, List<Finding> found) {
        return List.of();
    }

    /** Returns the alerts for it. If no other metric shows it, Prometheus relies on serve, which finds it. */
    public List<Alert> alerts() {
        return List.of(Alert.ofFinding(this));
    }

    /** Returns the kind of the threads that it is about; null if it is not about one kind. */
    public ThreadKind threads() {
        return null;
    }

    /** Returns the number of intervals of a second in which it must be found to count as a problem. */
    public int minIntervals() {
        return 3;
    }

    /** Returns whether top shows it only if it has lasted that long, because shorter ones are normal. */
    boolean mustLast() {
        return false;
    }

    /** Returns whether a finding of this kind may turn out to be one of another kind when more is known. */
    public boolean mayBe(FindingKind other) {
        return equals(other);
    }

    /** Returns the identifier for programs, such as yield-storm. */
    public final String id() {
        return id;
    }

    final int rank() {
        return rank;
    }

    public final Color color() {
        return color;
    }

    public final Source source() {
        return source;
    }

    /** Returns whether it can be found by looking at one JVM. */
    public final boolean isOfOneJvm() {
        return source == Source.FIGURES || source == Source.DUMPS;
    }

    /** Returns what the finding means; empty if a recording was written by a version that knows other kinds. */
    public final String meaning() {
        return meaning;
    }

    /** Returns what to do about it; empty if unknown. */
    public final String action() {
        return action;
    }

    @Override
    public final boolean equals(Object other) {
        return other instanceof FindingKind kind && id.equals(kind.id);
    }

    @Override
    public final int hashCode() {
        return id.hashCode();
    }

    @Override
    public final String toString() {
        return id;
    }

    static boolean isBusy(long cpuNanos, long intervalNanos) {
        return cpuNanos >= MIN_PROCESSORS * intervalNanos;
    }

    static String percent(long nanos, long ofNanos) {
        return number(100.0 * nanos / ofNanos) + " %";
    }

    static String number(double value) {
        return String.format(Locale.ROOT, value < 10 && value != Math.rint(value) ? "%.1f" : "%,.0f", value);
    }

    /** Writes only the identifier. */
    static final class Json extends TypeAdapter<FindingKind> {
        @Override
        public void write(JsonWriter out, FindingKind kind) throws IOException {
            out.value(kind.id);
        }

        @Override
        public FindingKind read(JsonReader in) throws IOException {
            return FindingKinds.of(in.nextString());
        }
    }
}
