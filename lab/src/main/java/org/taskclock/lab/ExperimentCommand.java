// SPDX-License-Identifier: Apache-2.0
// Copyright the TaskClock authors
package org.taskclock.lab;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.Callable;
import org.taskclock.internal.JdkVersions;
import org.taskclock.lab.options.ExperimentOptions;
import org.taskclock.report.Result;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Spec;

/** The base class of all experiments, which handles selection of JDKs, progress, interruption, and output. */
abstract class ExperimentCommand<O extends ExperimentOptions> implements Callable<Integer> {
    private static final int OK = 0;
    private static final int FAILED = 1;
    private static final double MIN_SECONDS = 0.1;

    interface Measuring {
        void run() throws IOException, InterruptedException;
    }

    /** A step of an experiment. The text is for the user and for the result. */
    record Step(String text, Measuring measuring) {}

    @Mixin
    final O options;

    @Spec
    private CommandSpec spec;

    private final LoadMonitor load = new LoadMonitor();
    private InterruptHandler interruption;

    ExperimentCommand(O options) {
        this.options = options;
    }

    /** Checks the options, and returns the steps to measure. */
    abstract List<Step> plan(List<Jdk> homes) throws IOException;

    /** Adds the measurements so far, possibly none, to a result. */
    abstract void report(ResultBuilder report);

    /** Called after the last step. */
    void measured() throws IOException {}

    /** Returns the title of the table that {@link #printLive} has printed, or null if there is none. */
    String liveTableTitle() {
        return null;
    }

    @Override
    public Integer call() throws IOException {
        interruption = new InterruptHandler();
        try {
            return run();
        } catch (LabException e) {
            report(e);
            return FAILED;
        } finally {
            interruption.allowExit();
        }
    }

    private int run() throws IOException {
        String started = ResultBuilder.now();
        List<Jdk> homes = Jdk.find(options.jdks);
        Path output = options.output;
        Path directory = output == null ? null : output.toAbsolutePath().getParent();
        if (directory != null && !Files.isDirectory(directory)) {
            throw new LabException("-o " + output + ": no directory " + directory + ": create it first");
        }
        if (!(options.seconds() >= MIN_SECONDS))
            throw new LabException("--for " + options.seconds() + "s: must be at least " + MIN_SECONDS + "s");
        List<Step> steps = plan(homes);
        Map<String, String> machine = MachineDescription.read();
        boolean complete = measure(steps);
        ResultBuilder report = new ResultBuilder();
        report(report);
        Result result = report.result(spec.name(), started, complete, command(homes), machine, load.steps(), homes);
        if (output != null) result.write(output);
        if (options.json) {
            ResultText.printJson(result);
        } else {
            System.out.print(ResultText.of(result, liveTableTitle()));
        }
        if (output != null) log("result written to " + output);
        return complete ? OK : FAILED;
    }

    private boolean measure(List<Step> steps) throws IOException {
        try {
            for (int i = 0; i < steps.size(); i++) {
                interruption.check();
                String text = steps.get(i).text;
                log("[" + (i + 1) + "/" + steps.size() + "] " + text);
                load.begin(text);
                steps.get(i).measuring.run();
            }
            measured();
            load.end();
            return true;
        } catch (InterruptedException e) {
            log("interrupted: the measurements so far are kept");
        } catch (LabException e) {
            report(e);
        }
        return false;
    }

    private void report(LabException e) {
        log("experiment " + spec.name() + ": " + e.getMessage());
    }

    private static void log(String text) {
        System.err.println("taskclock: " + text);
    }

    final ExperimentJvm jvm(Jdk home) {
        return new ExperimentJvm(home, interruption);
    }

    /** Returns the JDKs with virtual threads. Throws if there are none. */
    static List<Jdk> withVirtualThreads(List<Jdk> homes) throws LabException {
        List<Jdk> supported = homes.stream().filter(Jdk::hasVirtualThreads).toList();
        if (!supported.isEmpty()) return supported;
        throw new LabException(homes.get(homes.size() - 1) + ": no virtual threads: specify JDK "
                + JdkVersions.VIRTUAL_THREADS + " or later with --jdk");
    }

    /** Prints a line of a running measurement, unless only JSON is requested. */
    final void printLive(String line) {
        if (!options.json) System.out.println(line);
    }

    /** Returns the command that repeats this run, with versions instead of paths of this machine. */
    private List<String> command(List<Jdk> homes) {
        List<String> command = new ArrayList<>(List.of("taskclock", "experiment", spec.name()));
        command.addAll(options.arguments());
        for (Jdk home : homes) command.addAll(List.of("--jdk", "jdk-" + home.version()));
        return command;
    }
}
