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
import java.util.Map;
import java.util.concurrent.Callable;
import org.taskclock.report.Result;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.Spec;

/** The base class of all experiments, which handles selection of JDKs, progress, interruption, and output. */
abstract class ExperimentCommand implements Callable<Integer> {
    static final int OK = 0;
    static final int FAILED = 1;

    @Option(
            names = "--jdk",
            paramLabel = "PATH",
            description = "JDK to measure, 17 or later; repeatable (default: all JDKs in /usr/lib/jvm).")
    private List<Path> named = new ArrayList<>();

    @Option(names = "--json", description = "Print only the result, as JSON.")
    private boolean json;

    @Option(
            names = {"-o", "--output"},
            paramLabel = "FILE",
            description = "Write the result to FILE, for taskclock report.")
    private Path output;

    @Spec
    private CommandSpec spec;

    private final LoadMonitor load = new LoadMonitor();
    private InterruptHandler interruption;
    private int step;
    private int steps;

    /** Runs the measurements. Those completed before an exception are kept. */
    abstract void measure(List<Jdk> homes)
            throws LabException, MeasurementInterruptedException, IOException, InterruptedException;

    /** Adds the measurements so far, possibly none, to a result. */
    abstract void report(ResultBuilder report);

    /** Returns how often {@link #measure} calls {@link #progress}. */
    abstract int steps(List<Jdk> homes);

    @Override
    public Integer call() throws IOException, InterruptedException {
        interruption = new InterruptHandler();
        String started = now();
        boolean complete = false;
        try {
            List<Jdk> homes = Jdk.find(named);
            Path directory = output == null ? null : output.toAbsolutePath().getParent();
            if (directory != null && !Files.isDirectory(directory)) {
                throw new LabException("-o " + output + ": no directory " + directory + ": create it first");
            }
            steps = steps(homes);
            Map<String, String> machine = MachineDescription.read();
            try {
                measure(homes);
                load.end();
                complete = true;
            } catch (MeasurementInterruptedException e) {
                log("interrupted: the measurements so far are kept");
            } catch (LabException e) {
                if (step == 0) throw e;
                report(e);
            }
            ResultBuilder report = new ResultBuilder();
            report(report);
            Result result =
                    report.result(spec.name(), started, now(), complete, command(homes), machine, load.steps(), homes);
            write(result);
            return complete ? OK : FAILED;
        } catch (LabException e) {
            report(e);
            return FAILED;
        } finally {
            interruption.allowExit();
        }
    }

    private void report(LabException e) {
        log("experiment " + spec.name() + ": " + e.getMessage());
    }

    private void write(Result result) throws IOException {
        if (output != null) result.write(output);
        if (json) {
            JsonOutput.print(result);
        } else {
            System.out.print(ResultText.of(result, liveTableTitle()));
        }
        if (output != null) log("result written to " + output);
    }

    final Path output() {
        return output;
    }

    final InterruptHandler interruption() {
        return interruption;
    }

    /** Prints the next step to standard error. */
    final void progress(String text) throws MeasurementInterruptedException {
        interruption.check();
        step++;
        log("[" + step + "/" + steps + "] " + text);
        load.begin(text);
    }

    private static void log(String text) {
        System.err.println("taskclock: " + text);
    }

    static void checkSeconds(double min, double seconds) throws LabException {
        if (!(seconds >= min)) throw new LabException("--for " + seconds + "s: must be at least " + min + "s");
    }

    /** Returns the JDKs with virtual threads. Throws if there are none. */
    static List<Jdk> withVirtualThreads(List<Jdk> homes) throws LabException {
        List<Jdk> supported = homes.stream().filter(Jdk::hasVirtualThreads).toList();
        if (!supported.isEmpty()) return supported;
        throw new LabException(homes.get(homes.size() - 1) + ": no virtual threads: specify JDK "
                + VirtualThreadSupport.SINCE + " or later with --jdk");
    }

    /** Prints a line of a running measurement, unless only JSON is requested. */
    final void printLive(String line) {
        if (!json) System.out.println(line);
    }

    private static String now() {
        return Instant.now().truncatedTo(ChronoUnit.SECONDS).toString();
    }

    /** Returns the command that repeats this run, with versions instead of paths of this machine. */
    private List<String> command(List<Jdk> homes) {
        List<String> command = new ArrayList<>(List.of("taskclock", "experiment", spec.name()));
        command.addAll(options());
        for (Jdk home : homes) command.addAll(List.of("--jdk", "jdk-" + home.version()));
        return command;
    }

    /** Returns the options of the experiment that affect the measurements. */
    List<String> options() {
        return List.of();
    }

    /** Returns the title of the table that {@link #printLive} has printed, or null if there is none. */
    String liveTableTitle() {
        return null;
    }
}
