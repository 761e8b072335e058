// SPDX-License-Identifier: Apache-2.0
// Copyright the TaskClock authors
package org.taskclock.benchmarks;

import com.google.gson.Gson;
import com.google.gson.JsonSyntaxException;
import java.util.List;
import java.util.Map;
import org.taskclock.ClockStatus;
import org.taskclock.TaskClock;

/**
 * The measurement of one row in one fork. One of the last four components is set, depending on the row; the others are
 * null.
 *
 * @param row the name of the row
 * @param fork counted from 1
 * @param cost of readings after work or after a switch
 * @param cpuNanos the CPU time per reading by contender, when several threads read at the same time
 * @param firstNanos the time of the first reading in each of several JVMs
 * @param engine the cost of readings in a program shaped like a query engine
 */
public record CadenceResult(
        String row,
        int fork,
        Environment environment,
        ReadingCost cost,
        Map<String, Double> cpuNanos,
        List<Long> firstNanos,
        EngineCost engine) {
    private static final Gson GSON = new Gson();

    /** The JVM and machine of a measurement. {@code binding} is {@link ClockStatus#binding()}. */
    public record Environment(String jdk, String backend, String binding, int processors) {
        static Environment current() {
            ClockStatus status = TaskClock.status();
            return new Environment(
                    Runtime.version().toString(),
                    status.backend().toString(),
                    status.binding(),
                    Runtime.getRuntime().availableProcessors());
        }

        /** Returns whether most readings make no system call. */
        boolean isCounting() {
            return backend.startsWith("rseq");
        }
    }

    /**
     * The cost of one reading in ns, by contender.
     *
     * @param middle the mean of the middle half of the brackets
     * @param askedPercent the share of TaskClock's readings that made a system call
     * @param switches context switches of the thread per bracket
     */
    public record ReadingCost(
            Map<String, Double> mean, Map<String, Double> middle, double askedPercent, double switches) {}

    /**
     * The cost of readings for an engine, and the errors of TaskClock.
     *
     * @param calls operator calls per block, with two readings each
     * @param cpuNanos the CPU time of each block, by contender
     */
    public record EngineCost(int calls, Map<String, List<Long>> cpuNanos, ReadingErrors.Summary errors) {}

    static CadenceResult of(CadenceRow row, int fork, Environment environment, ReadingCost cost) {
        return new CadenceResult(row.name(), fork, environment, cost, null, null, null);
    }

    static CadenceResult of(CadenceRow row, int fork, Environment environment, Map<String, Double> cpuNanos) {
        return new CadenceResult(row.name(), fork, environment, null, cpuNanos, null, null);
    }

    static CadenceResult of(CadenceRow row, int fork, Environment environment, List<Long> firstNanos) {
        return new CadenceResult(row.name(), fork, environment, null, null, firstNanos, null);
    }

    static CadenceResult of(CadenceRow row, int fork, Environment environment, EngineCost engine) {
        return new CadenceResult(row.name(), fork, environment, null, null, null, engine);
    }

    String json() {
        return GSON.toJson(this);
    }

    /**
     * Parses a line of {@link #json}.
     *
     * @throws IllegalArgumentException if it is not a result
     */
    public static CadenceResult parse(String line) {
        CadenceResult result;
        try {
            result = GSON.fromJson(line, CadenceResult.class);
        } catch (JsonSyntaxException e) {
            throw new IllegalArgumentException("not a result of CadenceBenchmark: " + line, e);
        }
        if (result == null
                || result.environment == null
                || CadenceRow.named(String.valueOf(result.row)).isEmpty())
            throw new IllegalArgumentException("not a result of CadenceBenchmark: " + line);
        return result;
    }
}
