// SPDX-License-Identifier: Apache-2.0
// Copyright the TaskClock authors
package org.taskclock.benchmarks;

import java.util.concurrent.Callable;
import org.taskclock.Backend;
import org.taskclock.ClockStatus;
import org.taskclock.TaskClock;
import picocli.CommandLine;
import picocli.CommandLine.ITypeConverter;
import picocli.CommandLine.Option;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.TypeConversionException;

/** Runs programs whose options are fields with picocli's annotations. */
final class MeasuringProgram {
    private static final int USAGE_ERROR = 2;

    /** The options of programs whose results other programs can read. */
    static final class Format {
        @Option(names = "--markdown", description = "Print tables as Markdown.")
        boolean markdown;

        @Option(names = "--json", description = "Print only the results, as JSON.")
        boolean json;
    }

    /** A number of threads, rounds, or seconds. */
    static final class Count implements ITypeConverter<Integer> {
        @Override
        public Integer convert(String value) {
            if (!value.matches("[1-9][0-9]{0,5}")) throw new TypeConversionException("not a number from 1 to 999999");
            return Integer.valueOf(value);
        }
    }

    private MeasuringProgram() {}

    /** Runs a program and exits with its result, with 1 after an exception, or with 2 after a usage error. */
    static void run(Callable<Integer> program, String... args) {
        System.exit(new CommandLine(program)
                .setParameterExceptionHandler(MeasuringProgram::failUsage)
                .execute(args));
    }

    /** Returns TaskClock's status. Exits if the native library is not in use. */
    static ClockStatus requireNativeLibrary(String program) {
        ClockStatus status = TaskClock.status();
        if (status.backend() != Backend.MXBEAN) return status;
        System.err.println("taskclock: " + program + ": needs the native library: " + status.backends());
        System.exit(USAGE_ERROR);
        return null;
    }

    private static int failUsage(ParameterException e, String... args) {
        CommandLine line = e.getCommandLine();
        line.getErr().println("taskclock: " + line.getCommandName() + ": " + e.getMessage() + ": see --help");
        return USAGE_ERROR;
    }
}
