// SPDX-License-Identifier: Apache-2.0
// Copyright the TaskClock authors
package org.taskclock.soak;

import com.google.gson.GsonBuilder;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.Callable;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;
import javax.management.JMException;
import javax.management.MBeanAttributeInfo;
import picocli.CommandLine;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;

/** Runs an engine under load without and with the agent, disturbs it, and reports what changed. */
@Command(
        name = "soak",
        mixinStandardHelpOptions = true,
        sortOptions = false,
        description = {
            "Soak the agent in an engine under load.",
            "First the engine runs without the agent, for its answers. Then it runs with all features of the agent, while "
                    + "the soak attaches and detaches copies, changes modes, takes thread and heap dumps, records with "
                    + "JFR and async-profiler, and reads the bean. Last, the agent is switched on and off in an "
                    + "undisturbed run, to compare throughput."
        },
        exitCodeListHeading = "%nExit codes:%n",
        exitCodeList = {"0:no failure", "1:a failure, in the result", "2:usage error"})
public final class EngineSoak implements Callable<Integer> {
    private static final int SAMPLE_SECONDS = 5;

    /** A shorter run does not warm up, so its growth is not judged. */
    private static final double LONG_MINUTES = 10;

    @Option(names = "--name", required = true, description = "Name of the engine, and of the result file.")
    private String name;

    @Option(names = "--java", required = true, description = "The java command that runs the engine.")
    private Path java;

    @Option(names = "--agent", required = true, description = "The agent's jar.")
    private Path agent;

    @Option(names = "--out", required = true, description = "Directory for NAME.json, NAME.md and the engine's logs.")
    private Path out;

    @Option(
            names = "--reference-seconds",
            defaultValue = "60",
            description = "Run without the agent (default: ${DEFAULT-VALUE}).")
    private int referenceSeconds;

    @Option(
            names = "--minutes",
            defaultValue = "30",
            description = "Disturbed run; 0 for none (default: ${DEFAULT-VALUE}).")
    private double minutes;

    @Option(
            names = "--recording-seconds",
            defaultValue = "8",
            description = "How long JFR and async-profiler record (default: ${DEFAULT-VALUE}).")
    private int recordingSeconds;

    @Option(
            names = "--groups",
            defaultValue = "30",
            description = "Groups of four windows to compare; 0 for none (default: ${DEFAULT-VALUE}).")
    private int groups;

    @Option(names = "--window", defaultValue = "2", description = "Seconds of a window (default: ${DEFAULT-VALUE}).")
    private double window;

    @Option(
            names = "--warm-up",
            defaultValue = "60",
            description = "Seconds before the first window (default: ${DEFAULT-VALUE}).")
    private int warmUp;

    @Parameters(
            arity = "1..*",
            paramLabel = "ARGUMENT",
            description = "JVM options, main class and arguments of the engine.")
    private List<String> command;

    private final List<String> failures = new ArrayList<>();
    private SoakResult.Machine machine;
    private String options;

    public static void main(String[] args) {
        System.exit(new CommandLine(new EngineSoak())
                .setStopAtPositional(true)
                .setOverwrittenOptionsAllowed(true)
                .execute(args));
    }

    @Override
    public Integer call() throws IOException, InterruptedException, JMException {
        Files.createDirectories(out);
        machine = SoakResult.Machine.of(java);
        options = Disturber.allFeatures(machine.feature());
        Map<String, String> expected = reference();
        SoakResult.Disturbed disturbed = minutes > 0 ? disturb(expected) : null;
        Comparison.Result comparison = groups > 0 ? compare(expected) : null;
        SoakResult result = new SoakResult(name, machine, expected, disturbed, comparison, failures);
        Files.writeString(
                out.resolve(name + ".json"),
                new GsonBuilder()
                                .setPrettyPrinting()
                                .serializeSpecialFloatingPointValues()
                                .create()
                                .toJson(result)
                        + '\n');
        String text = result.markdown();
        Files.writeString(out.resolve(name + ".md"), text);
        System.out.print(text);
        return failures.isEmpty() ? 0 : 1;
    }

    private void fail(String what) {
        failures.add(what);
        System.err.println("taskclock: soak: " + name + ": " + what);
    }

    private Map<String, String> reference() throws IOException, InterruptedException, JMException {
        Path log = out.resolve(name + "-reference.log");
        try (Engine engine = Engine.start(java, List.of(), command, log)) {
            TimeUnit.SECONDS.sleep(referenceSeconds);
            checkErrors(engine);
            return engine.answers();
        }
    }

    private void checkErrors(Engine engine) throws IOException, JMException {
        if (engine.errors() > 0) fail(engine.errors() + " errors of the engine, first: " + engine.firstError());
    }

    private List<String> withAgent(String agentOptions) {
        // Otherwise the JVM warns when an agent is loaded later.
        return List.of("-javaagent:" + agent + "=" + agentOptions, "-XX:+EnableDynamicAgentLoading");
    }

    private SoakResult.Disturbed disturb(Map<String, String> expected)
            throws IOException, InterruptedException, JMException {
        Path work = Files.createTempDirectory("taskclock-soak");
        Path log = out.resolve(name + "-disturbed.log");
        List<Vitals> samples = new ArrayList<>();
        Map<String, Integer> actions;
        long operations;
        long mounts;
        String withSummary = options + ",summary=" + work;
        List<String> jvmOptions = new ArrayList<>(withAgent(withSummary));
        jvmOptions.add("-Dsoak.paced=true"); // for an engine whose threads would otherwise grow with its throughput
        Engine engine = Engine.start(java, jvmOptions, command, log);
        try (engine) {
            Disturber disturber =
                    new Disturber(engine, machine.feature(), agent, withSummary, work, recordingSeconds * 1000L);
            long start = System.nanoTime();
            long end = start + (long) (minutes * 60e9);
            Thread sampler = new Thread(() -> sample(engine, start, end, samples), "sampler");
            sampler.start();
            for (int turn = 0; System.nanoTime() - end < 0 && engine.isAlive(); turn++) {
                try {
                    disturber.next(turn);
                } catch (IOException e) {
                    fail(e.getMessage());
                }
                TimeUnit.MILLISECONDS.sleep(500);
            }
            sampler.join();
            actions = disturber.counts();
            if (!engine.isAlive()) throw new IOException("the engine ended during the soak: see " + log);
            checkErrors(engine);
            compareAnswers(expected, engine.answers());
            operations = engine.operations();
            mounts = engine.bean(AgentMXBean.NAME, AgentMXBean.class).getMounts();
        }
        if (engine.exitCode() != 0) fail("the engine's exit code is " + engine.exitCode());
        for (String complaint : engine.complaints()) fail("in " + log.getFileName() + ": " + complaint);
        checkSummary(work);
        Map<String, Vitals.Growth> growth = Vitals.growth(samples);
        growth.forEach((what, change) -> {
            if (minutes >= LONG_MINUTES && !change.isGood())
                fail(what + " grew from " + change.early() + " to " + change.late());
        });
        actions.forEach((what, count) -> {
            if (count == 0) fail(what + ": never done");
        });
        return new SoakResult.Disturbed(minutes, operations, mounts, actions, growth, samples);
    }

    private void sample(Engine engine, long start, long end, List<Vitals> samples) {
        AgentMXBean agentBean = engine.bean(AgentMXBean.NAME, AgentMXBean.class);
        while (System.nanoTime() - end < 0 && engine.isAlive()) {
            try {
                TimeUnit.SECONDS.sleep(SAMPLE_SECONDS);
                // While it is detached there is no bean to read.
                boolean attached = engine.beans().isRegistered(Engine.name(AgentMXBean.NAME));
                long agentBytes = attached ? readAll(engine, agentBean) : 0;
                samples.add(Vitals.of(engine, (System.nanoTime() - start) / 1e9, agentBytes));
            } catch (IOException | JMException | RuntimeException e) {
                if (!isDetached(engine)) fail("reading beans: " + e);
            } catch (InterruptedException e) {
                Thread.currentThread().interrupt();
                return;
            }
        }
    }

    private static boolean isDetached(Engine engine) {
        try {
            return !engine.beans().isRegistered(Engine.name(AgentMXBean.NAME));
        } catch (IOException e) {
            return false;
        }
    }

    /** Reads all attributes of the agent's bean, as a second JVM's client does. Returns the memory that the agent uses. */
    private static long readAll(Engine engine, AgentMXBean agentBean) throws IOException, JMException {
        for (MBeanAttributeInfo attribute :
                engine.beans().getMBeanInfo(Engine.name(AgentMXBean.NAME)).getAttributes()) {
            engine.beans().getAttribute(Engine.name(AgentMXBean.NAME), attribute.getName());
        }
        return agentBean.getMemoryBytes();
    }

    private void compareAnswers(Map<String, String> expected, Map<String, String> answers) {
        if (expected.isEmpty()) fail("no answers without the agent");
        if (!expected.equals(answers))
            fail("answers differ: " + expected + " without the agent, " + answers + " with it");
    }

    private void checkSummary(Path directory) throws IOException {
        try (Stream<Path> files = Files.list(directory)) {
            List<Path> summaries =
                    files.filter(f -> f.toString().endsWith(".json")).toList();
            if (summaries.size() != 1) fail("summaries at exit: " + summaries);
        }
    }

    private Comparison.Result compare(Map<String, String> expected)
            throws IOException, InterruptedException, JMException {
        Path log = out.resolve(name + "-compared.log");
        try (Engine engine = Engine.start(java, withAgent(options), command, log)) {
            TimeUnit.SECONDS.sleep(warmUp);
            Comparison.Result result = new Comparison(engine, (long) (window * 1000)).run(groups);
            checkErrors(engine);
            compareAnswers(expected, engine.answers());
            return result;
        }
    }
}
