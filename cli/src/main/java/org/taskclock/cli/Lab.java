// SPDX-License-Identifier: Apache-2.0
// Copyright the TaskClock authors
package org.taskclock.cli;

import java.io.File;
import java.io.IOException;
import java.lang.management.ManagementFactory;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Map;
import java.util.Stack;
import java.util.concurrent.Callable;
import picocli.CommandLine.Command;
import picocli.CommandLine.IParameterPreprocessor;
import picocli.CommandLine.Model.ArgSpec;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Spec;

/**
 * Commands that another jar holds, as they need JMH: started in a JVM of its own, which gets every argument, --help too, and
 * our input and output.
 */
@SuppressWarnings("JdkObsolete") // picocli hands out a Stack
abstract class Lab implements Callable<Integer> {
    private static final String JAR = "benchmarks.jar";
    private static final String MAIN = "org.taskclock.lab.Lab";

    private final List<String> arguments = new ArrayList<>();

    @Spec
    private CommandSpec spec;

    @Command(
            name = "bench",
            description = "Runs the published benchmarks here and compares; needs benchmarks.jar.",
            preprocessor = TakesAll.class)
    static final class Bench extends Lab {}

    @Command(
            name = "experiment",
            description = "Runs an experiment on threads' CPU time; needs benchmarks.jar.",
            preprocessor = TakesAll.class)
    static final class Experiment extends Lab {}

    /** So that picocli looks at none of the arguments. */
    static final class TakesAll implements IParameterPreprocessor {
        @Override
        public boolean preprocess(
                Stack<String> arguments, CommandSpec command, ArgSpec none, Map<String, Object> info) {
            List<String> taken = new ArrayList<>(arguments);
            Collections.reverse(taken);
            ((Lab) command.userObject()).arguments.addAll(taken);
            arguments.clear();
            return true;
        }
    }

    @Override
    public Integer call() throws IOException, InterruptedException {
        Path own = ownJar();
        List<Path> places = List.of(
                own.resolveSibling(JAR),
                own.resolveSibling("../../benchmarks/target/" + JAR).normalize());
        Path jar = places.stream().filter(Files::isRegularFile).findFirst().orElse(null);
        if (jar == null) {
            return Main.complain(
                    spec.name() + ": " + JAR + ": neither " + places.get(0) + " nor " + places.get(1)
                            + ": in a checkout, ./taskclock " + spec.name() + " builds it",
                    Main.FAILED);
        }
        Process process = new ProcessBuilder(command(jar)).inheritIO().start();
        // Ctrl-C reaches both of us; it writes down what it has, and we must not end before.
        Runtime.getRuntime().addShutdownHook(new Thread(() -> end(process)));
        return process.waitFor();
    }

    private List<String> command(Path jar) {
        List<String> command = new ArrayList<>();
        command.add(Path.of(System.getProperty("java.home"), "bin", "java").toString());
        // Those of TASKCLOCK_JAVA_OPTS.
        command.addAll(ManagementFactory.getRuntimeMXBean().getInputArguments());
        command.addAll(List.of("--enable-native-access=ALL-UNNAMED", "-cp", jar.toString(), MAIN, spec.name()));
        command.addAll(arguments);
        return command;
    }

    private static Path ownJar() {
        // The one entry, as we are started by -jar; the location of a class is a URL, which would have to be taken
        // apart.
        String classPath = System.getProperty("java.class.path");
        return Path.of(classPath.split(File.pathSeparator, 2)[0]).toAbsolutePath();
    }

    private static void end(Process process) {
        process.destroy();
        try {
            process.waitFor();
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }
}
