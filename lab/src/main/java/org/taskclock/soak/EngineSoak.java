// SPDX-License-Identifier: Apache-2.0
// Copyright the TaskClock authors
package org.taskclock.soak;

import com.google.gson.GsonBuilder;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Collections;
import java.util.Comparator;
import java.util.List;
import java.util.Map;
import java.util.concurrent.Callable;
import java.util.concurrent.TimeUnit;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import javax.management.JMException;
import javax.management.MBeanAttributeInfo;
import picocli.CommandLine;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;

/** Runs an engine under load, first without the agent and then with it, disturbs it, and reports what changed. */
@Command(
        name = "soak",
        mixinStandardHelpOptions = true,
        sortOptions = false,
        description = {
            "Soak-test the agent in an engine under load.",
            "First, the engine runs without the agent to record its answers. Then it runs with all features of the "
                    + "agent, while the soak test attaches and detaches copies, changes modes, takes thread and heap "
                    + "dumps, records with JFR and async-profiler, and reads the bean. Finally, the agent is "
                    + "switched on and off in an undisturbed run to compare throughput."
        },
        exitCodeListHeading = "%nExit codes:%n",
        exitCodeList = {"0:success", "1:failure (see the result)", "2:usage error"})
public final class EngineSoak implements Callable<Integer> {
    private static final int SAMPLE_SECONDS = 5;

    /** Longer than any pause for a heap dump. */
    private static final double MAX_PAUSE_SECONDS = 60;

    /** Shorter runs are not checked for growth, because the engine is still warming up. */
    private static final double MIN_MINUTES_FOR_GROWTH = 10;

    @Option(names = "--name", required = true, description = "Name of the engine, and of the result file.")
    private String name;

    @Option(names = "--java", required = true, description = "The java command that runs the engine.")
    private Path java;

    @Option(names = "--agent", required = true, description = "The agent's jar.")
    private Path agent;

    @Option(
            names = "--commit",
            defaultValue = "unknown",
            description = "The commit from which the agent was built, for the result (default: ${DEFAULT-VALUE}).")
    private String commit;

    @Option(names = "--out", required = true, description = "Directory for NAME.json, NAME.md, and the engine's logs.")
    private Path out;

    @Option(
            names = "--reference-seconds",
            defaultValue = "60",
            description = "Length of the run without the agent, in seconds (default: ${DEFAULT-VALUE}).")
    private int referenceSeconds;

    @Option(
            names = "--minutes",
            defaultValue = "30",
            description =
                    "Length of the disturbed run, in minutes; 0 skips it. Runs of 10 minutes or more are checked for "
                            + "growth (default: ${DEFAULT-VALUE}).")
    private double minutes;

    @Option(
            names = "--recording-seconds",
            defaultValue = "8",
            description = "Length of each JFR and async-profiler recording, in seconds (default: ${DEFAULT-VALUE}).")
    private int recordingSeconds;

    @Option(
            names = "--control",
            description = "Do not load the agent. Only perform the actions that do not need it, to see which growth is "
                    + "not the agent's. Implies --groups 0 and --pairs 0.")
    private boolean control;

    @Option(
            names = "--groups",
            defaultValue = "30",
            description = "Groups of four windows to compare; 0 for none (default: ${DEFAULT-VALUE}).")
    private int groups;

    @Option(
            names = "--window",
            defaultValue = "2",
            description = "Length of a window, in seconds (default: ${DEFAULT-VALUE}).")
    private double window;

    @Option(
            names = "--warm-up",
            defaultValue = "60",
            description = "Seconds before the first window (default: ${DEFAULT-VALUE}).")
    private int warmUp;

    @Option(
            names = "--pairs",
            defaultValue = "0",
            description = "Pairs of JVMs to compare, one with the agent and one without; 0 for none (default: "
                    + "${DEFAULT-VALUE}).")
    private int pairs;

    @Option(
            names = "--pair-window",
            defaultValue = "20",
            description = "Length of the window of each of these JVMs, in seconds (default: ${DEFAULT-VALUE}).")
    private double pairWindow;

    @Option(
            names = "--other-agent",
            description = "Load this agent into the JVMs without TaskClock's, such as taskclock-lab.jar, which does "
                    + "nothing.")
    private Path otherAgent;

    @Option(names = "--options", description = "All options of the agent (default: all features on).")
    private String options;

    @Parameters(
            arity = "1..*",
            paramLabel = "ARGUMENT",
            description = "JVM options, main class, and arguments of the engine.")
    private List<String> command;

    private final List<String> failures = Collections.synchronizedList(new ArrayList<>());
    private EngineSoakResult.Machine machine;

    public static void main(String[] args) {
        System.exit(new CommandLine(new EngineSoak())
                .setStopAtPositional(true)
                .setOverwrittenOptionsAllowed(true)
                .execute(args));
    }

    @Override
    public Integer call() throws IOException, InterruptedException {
        Files.createDirectories(out);
        // If the soak test fails, an earlier result must not be mistaken for this one.
        Files.deleteIfExists(out.resolve(name + ".json"));
        Files.deleteIfExists(out.resolve(name + ".md"));
        machine = EngineSoakResult.Machine.of(java);
        if (options == null) options = OperatorActions.allFeatures(machine.feature());
        Map<String, String> recorded = orFailure(this::reference);
        Map<String, String> expected = recorded == null ? Map.of() : recorded;
        EngineSoakResult.Disturbed disturbed = minutes > 0 ? orFailure(() -> runDisturbed(expected)) : null;
        AgentComparison.Result comparison = groups > 0 && !control ? orFailure(() -> compare(expected)) : null;
        AgentComparison.PairsResult pairResult = pairs > 0 && !control ? orFailure(this::comparePairs) : null;
        EngineSoakResult result = new EngineSoakResult(
                name, commit, machine, options, expected, disturbed, comparison, pairResult, failures);
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

    /** Runs a part of the soak test. Returns null and records the failure if it throws. */
    private <T> T orFailure(Callable<T> part) throws InterruptedException {
        try {
            return part.call();
        } catch (InterruptedException e) {
            throw e;
        } catch (Exception e) {
            fail(e.toString());
            return null;
        }
    }

    private void fail(String message) {
        failures.add(message);
        System.err.println("taskclock: soak: " + name + ": " + message);
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
        // Otherwise, the JVM prints a warning when an agent is loaded later.
        return List.of("-javaagent:" + agent + "=" + agentOptions, "-XX:+EnableDynamicAgentLoading");
    }

    private EngineSoakResult.Disturbed runDisturbed(Map<String, String> expected)
            throws IOException, InterruptedException, JMException {
        Path work = Files.createTempDirectory("taskclock-soak");
        try {
            return disturb(expected, work);
        } finally {
            delete(work);
        }
    }

    private EngineSoakResult.Disturbed disturb(Map<String, String> expected, Path work)
            throws IOException, InterruptedException, JMException {
        Path log = out.resolve(name + "-disturbed.log");
        List<EngineResources> samples = new ArrayList<>();
        Map<String, Integer> actions;
        long operations;
        long mounts;
        String withSummary = options + ",summary=" + work;
        List<String> jvmOptions = new ArrayList<>(control ? List.of() : withAgent(withSummary));
        jvmOptions.add("-Dsoak.paced=true"); // for engines whose number of threads follows throughput
        Engine engine = Engine.start(java, jvmOptions, command, log);
        try (engine) {
            OperatorActions operator =
                    new OperatorActions(engine, machine.feature(), agent, withSummary, work, recordingSeconds * 1000L);
            if (control) operator.omitAgent();
            long start = System.nanoTime();
            long end = start + (long) (minutes * 60e9);
            Thread sampler = new Thread(() -> sample(engine, start, end, samples), "sampler");
            sampler.start();
            for (int index = 0; System.nanoTime() - end < 0 && engine.isAlive(); index++) {
                try {
                    operator.perform(index);
                } catch (IOException e) {
                    fail(e.getMessage());
                }
                TimeUnit.MILLISECONDS.sleep(500);
            }
            sampler.join();
            actions = operator.counts();
            if (!engine.isAlive()) throw new IOException("the engine exited during the soak test: see " + log);
            checkErrors(engine);
            compareAnswers(expected, engine.answers());
            operations = engine.operations();
            mounts = control
                    ? 0
                    : engine.bean(AgentMXBean.NAME, AgentMXBean.class).getMounts();
        }
        checkEnd(engine, log);
        if (!control) checkSummary(work);
        double pause = EngineResources.longestPause(samples);
        if (samples.isEmpty() || pause > MAX_PAUSE_SECONDS) fail("no operation for " + Math.round(pause) + " s");
        Map<String, EngineResources.Growth> growth = EngineResources.growth(samples);
        growth.forEach((resource, change) -> {
            if (minutes >= MIN_MINUTES_FOR_GROWTH && !change.isGood())
                fail(resource + " grew from " + change.early() + " to " + change.late());
        });
        actions.forEach((action, count) -> {
            if (count == 0) fail(action + ": never performed");
        });
        List<EngineResources> eachMinute = IntStream.range(0, samples.size())
                .filter(i -> i % (60 / SAMPLE_SECONDS) == 0)
                .mapToObj(samples::get)
                .toList();
        return new EngineSoakResult.Disturbed(!control, minutes, operations, mounts, actions, growth, eachMinute);
    }

    private static void delete(Path directory) throws IOException {
        try (Stream<Path> files = Files.walk(directory)) {
            for (Path file : files.sorted(Comparator.reverseOrder()).toList()) Files.delete(file);
        }
    }

    private void sample(Engine engine, long start, long end, List<EngineResources> samples) {
        AgentMXBean agentBean = engine.bean(AgentMXBean.NAME, AgentMXBean.class);
        int failed = 0;
        while (System.nanoTime() - end < 0 && engine.isAlive()) {
            try {
                TimeUnit.SECONDS.sleep(SAMPLE_SECONDS);
                // There is no bean while the agent is detached.
                boolean attached = engine.beans().isRegistered(Engine.name(AgentMXBean.NAME));
                long agentBytes = attached ? readAll(engine, agentBean) : 0;
                failed = 0;
                samples.add(EngineResources.of(engine, (System.nanoTime() - start) / 1e9, agentBytes));
            } catch (IOException | JMException | RuntimeException e) {
                // The agent may have been detached during the read and attached again since.
                if (++failed > 1 && !isDetached(engine)) fail("reading beans: " + e);
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

    /**
     * Reads all attributes of the agent's bean, as a monitoring client does. Returns the memory that the agent uses.
     */
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

    private AgentComparison.Result compare(Map<String, String> expected)
            throws IOException, InterruptedException, JMException {
        Path log = out.resolve(name + "-compared.log");
        AgentComparison.Result result;
        Engine engine = Engine.start(java, withAgent(options), command, log);
        try (engine) {
            TimeUnit.SECONDS.sleep(warmUp);
            engine.checkAgent();
            result = new AgentComparison(engine, (long) (window * 1000)).run(groups);
            checkErrors(engine);
            compareAnswers(expected, engine.answers());
        }
        checkEnd(engine, log);
        return result;
    }

    private AgentComparison.PairsResult comparePairs() throws IOException, InterruptedException, JMException {
        String other = otherAgent == null ? "without an agent" : "with " + otherAgent.getFileName();
        return AgentComparison.pairs(pairs, pairWindow, other, this::runOne);
    }

    private AgentComparison.Window runOne(boolean withAgent) throws IOException, InterruptedException, JMException {
        Path log = out.resolve(name + (withAgent ? "-pairs-with.log" : "-pairs-without.log"));
        List<String> without = otherAgent == null ? List.of() : List.of("-javaagent:" + otherAgent);
        AgentComparison.Window window;
        Engine engine = Engine.start(java, withAgent ? withAgent(options) : without, command, log);
        try (engine) {
            TimeUnit.SECONDS.sleep(warmUp);
            window = AgentComparison.Window.of(engine, (long) (pairWindow * 1e3));
            if (withAgent) engine.checkAgent();
            checkErrors(engine);
        }
        checkEnd(engine, log);
        return window;
    }

    private void checkEnd(Engine engine, Path log) throws IOException {
        if (engine.exitCode() != 0) fail("the engine's exit code is " + engine.exitCode());
        for (String complaint : engine.complaints()) fail("in " + log.getFileName() + ": " + complaint);
    }
}
