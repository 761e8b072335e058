// SPDX-License-Identifier: Apache-2.0
// Copyright the TaskClock authors
package org.taskclock.lab;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Instant;
import java.time.temporal.ChronoUnit;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.Callable;
import org.taskclock.report.Result;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.Spec;

/** What all experiments share: the JDKs, progress, interruption, and where the result goes. */
abstract class ExperimentCommand implements Callable<Integer> {
    static final int OK = 0;
    static final int FAILED = 1;

    @Option(
            names = "--jdk",
            paramLabel = "PATH",
            description =
                    "A JDK to measure, 17 or later; may be given more than once. Otherwise those in /usr/lib/jvm.")
    private List<Path> named = new ArrayList<>();

    @Option(names = "--json", description = "Print the result as JSON and nothing else.")
    private boolean json;

    @Option(
            names = {"-o", "--output"},
            paramLabel = "FILE",
            description = "Write the result to a file, for taskclock report.")
    private Path output;

    @Spec
    private CommandSpec spec;

    private Interruption interruption;
    private int step;
    private int steps;

    /** Measures; what was measured until it throws is kept. */
    abstract void measure(List<Jdk> homes) throws LabException, Interruption.Cut, IOException, InterruptedException;

    /** Adds what was measured, which may be nothing. */
    abstract void report(Report report);

    /** How many times {@link #progress} will be called. */
    abstract int steps(List<Jdk> homes);

    @Override
    public Integer call() throws IOException, InterruptedException {
        interruption = new Interruption();
        String started = now();
        boolean complete = false;
        try {
            List<Jdk> homes = Jdk.find(named);
            Path folder = output == null ? null : output.toAbsolutePath().getParent();
            if (folder != null && !Files.isDirectory(folder)) {
                throw new LabException("-o " + output + ": no folder " + folder + ": make it first");
            }
            steps = steps(homes);
            try {
                measure(homes);
                complete = true;
            } catch (Interruption.Cut e) {
                note("interrupted: what was measured until now is kept");
            } catch (LabException e) {
                if (step == 0) throw e;
                complain(e);
            }
            Report report = new Report();
            report(report);
            Result result = report.result(spec.name(), started, now(), complete, command(homes), homes);
            write(result);
            return complete ? OK : FAILED;
        } catch (LabException e) {
            complain(e);
            return FAILED;
        } finally {
            interruption.over();
        }
    }

    private void complain(LabException e) {
        note("experiment " + spec.name() + ": " + e.getMessage());
    }

    private void write(Result result) throws IOException {
        if (output != null) result.write(output);
        if (json) {
            System.out.println(result.text());
        } else {
            System.out.print(Text.of(result, shownAlready()));
        }
        if (output != null) note("written to " + output);
    }

    final Path output() {
        return output;
    }

    final Interruption interruption() {
        return interruption;
    }

    /** Says what comes next, on standard error. */
    final void progress(String what) throws Interruption.Cut {
        interruption.check();
        step++;
        note("[" + step + "/" + steps + "] " + what);
    }

    private static void note(String text) {
        System.err.println("taskclock: " + text);
    }

    static void atLeast(double least, double seconds) throws LabException {
        if (!(seconds >= least)) throw new LabException("--seconds " + seconds + ": too short: at least " + least);
    }

    /** Those that have virtual threads. */
    static List<Jdk> withVirtual(List<Jdk> homes) throws LabException {
        List<Jdk> able = homes.stream().filter(Jdk::hasVirtual).toList();
        if (!able.isEmpty()) return able;
        throw new LabException(homes.get(homes.size() - 1) + ": too old for virtual threads: name a JDK "
                + Virtual.SINCE + " or later by --jdk");
    }

    /** A line of what is being measured, as it comes; none where only JSON is wanted. */
    final void live(String line) {
        if (!json) System.out.println(line);
    }

    private static String now() {
        return Instant.now().truncatedTo(ChronoUnit.SECONDS).toString();
    }

    /** The options that were given, with versions instead of paths, which are of no interest elsewhere. */
    private List<String> command(List<Jdk> homes) {
        List<String> command = new ArrayList<>(List.of("taskclock", "experiment", spec.name()));
        command.addAll(options());
        for (Jdk home : homes) command.addAll(List.of("--jdk", "jdk-" + home.version()));
        return command;
    }

    /** Those of the experiment itself that make a difference. */
    List<String> options() {
        return List.of();
    }

    /** The title of a table that {@link #live} has shown already; null if there is none. */
    String shownAlready() {
        return null;
    }
}
