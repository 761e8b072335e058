// SPDX-License-Identifier: Apache-2.0
// Copyright the TaskClock authors
package org.taskclock.benchmarks;

import java.io.IOException;
import java.util.concurrent.Callable;
import org.taskclock.Backend;
import org.taskclock.ClockStatus;
import org.taskclock.TaskClock;
import picocli.CommandLine;
import picocli.CommandLine.ITypeConverter;
import picocli.CommandLine.Option;
import picocli.CommandLine.TypeConversionException;

/** A program that measures and prints a table, whose options are fields with picocli's annotations. */
abstract class MeasuringProgram implements Callable<Integer> {
    private static final int FAILED = 1;
    private static final int USAGE_ERROR = 2;

    @Option(names = "--markdown", description = "Print tables as Markdown.")
    boolean markdown;

    /** A number of threads, rounds, or seconds. */
    private static final class Count implements ITypeConverter<Integer> {
        @Override
        public Integer convert(String value) {
            if (!value.matches("[1-9][0-9]{0,5}")) throw new TypeConversionException("not a number from 1 to 999999");
            return Integer.valueOf(value);
        }
    }

    final CommandLine commandLine() {
        return new CommandLine(this)
                .registerConverter(int.class, new Count())
                .registerConverter(Integer.class, new Count());
    }

    /** Runs this program and exits with its result, with 1 after an exception, or with 2 after a usage error. */
    final void run(String... args) {
        System.exit(commandLine()
                .setParameterExceptionHandler((e, unused) ->
                        fail(e.getCommandLine().getCommandName(), e.getMessage() + ": see --help", USAGE_ERROR))
                .setExecutionExceptionHandler((e, line, unused) -> {
                    if (!(e instanceof IOException)) throw e;
                    return fail(line.getCommandName(), e.getMessage(), FAILED);
                })
                .execute(args));
    }

    /** Returns TaskClock's status. Exits if the native library is not in use. */
    static ClockStatus requireNativeLibrary(String program) {
        ClockStatus status = TaskClock.status();
        if (status.backend() == Backend.MXBEAN)
            System.exit(fail(program, "needs the native library: " + status.backends(), USAGE_ERROR));
        return status;
    }

    private static int fail(String program, String message, int exitCode) {
        System.err.println("taskclock: " + program + ": " + message);
        return exitCode;
    }
}
