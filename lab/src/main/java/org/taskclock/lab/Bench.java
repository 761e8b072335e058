// SPDX-License-Identifier: Apache-2.0
// Copyright the TaskClock authors
package org.taskclock.lab;

import java.io.IOException;
import java.nio.file.Files;
import java.util.List;
import java.util.concurrent.Callable;
import org.taskclock.lab.options.BenchOptions;
import org.taskclock.report.Result;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.Spec;

@Command(name = "bench")
public final class Bench implements Callable<Integer> {
    private static final int OK = 0;
    private static final int THRESHOLD = 3;

    @Mixin
    private final BenchOptions options = new BenchOptions();

    @Spec
    private CommandSpec spec;

    @Override
    public Integer call() throws IOException, InterruptedException {
        try {
            return options.compared != null ? compare() : measure();
        } catch (IllegalArgumentException e) {
            throw new ParameterException(spec.commandLine(), e.getMessage(), e);
        }
    }

    private int measure() throws IOException, InterruptedException {
        if (!(options.scale > 0 && options.scale <= 100)) {
            throw new IllegalArgumentException("scale " + options.scale + ": must be greater than 0 and at most 100");
        }
        // Fail now rather than after hours.
        if (options.file != null
                && !Files.isWritable(options.file.toAbsolutePath().getParent())) {
            throw new IllegalArgumentException("-o " + options.file + ": cannot write to its directory");
        }
        try {
            return new BenchRun(options, Jdk.find(options.jdks)).run();
        } catch (LabException e) {
            throw new IllegalArgumentException(e.getMessage(), e);
        }
    }

    private int compare() throws IOException {
        List<ResultComparison.Row> rows = ResultComparison.compare(
                Measurements.of(Result.read(options.compared.get(0)).jmh()),
                Measurements.of(Result.read(options.compared.get(1)).jmh()));
        if (rows.isEmpty()) {
            throw new LabException(
                    "--compare: the results have no measurement in common: use two runs of the same profile on the "
                            + "same JDK");
        }
        System.out.print(ResultText.table(ResultComparison.table(rows)));
        for (String verdict :
                List.of(ResultComparison.FASTER, ResultComparison.SLOWER, ResultComparison.NO_DIFFERENCE)) {
            long count =
                    rows.stream().filter(row -> row.verdict().equals(verdict)).count();
            System.out.println(verdict + ": " + count + " of " + rows.size());
        }
        boolean slower = rows.stream().anyMatch(row -> row.verdict().equals(ResultComparison.SLOWER));
        return slower ? THRESHOLD : OK;
    }
}
