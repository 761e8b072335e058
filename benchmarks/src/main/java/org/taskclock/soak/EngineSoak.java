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
            "First, the engine runs without the agent to record its answers. Then it runs with all features of the agent, while "
                    + "the soak attaches and detaches copies, changes modes, takes thread and heap dumps, records with "
                    + "JFR and async-profiler, and reads the bean. Last, the agent is switched on and off in an "
                    + "undisturbed run, to compare throughput."
        },
        exitCodeListHeading = "%nExit codes:%n",
        exitCodeList = {"0:success", "1:failure (see the result)", "2:usage error"})
public final class EngineSoak implements Callable<Integer> {
    private static final int SAMPLE_SECONDS = 5;

    /** A heap dump stops an engine for less. */
    private static final double LONGEST_PAUSE_SECONDS = 60;

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
            description = "Length of the run without the agent, in seconds (default: ${DEFAULT-VALUE}).")
    private int referenceSeconds;

    @Option(
            names = "--minutes",
            defaultValue = "30",
            description =
                    "Length of the disturbed run, in minutes; 0 skips it. Growth is judged in runs of 10 minutes or more (default: ${DEFAULT-VALUE}).")
    private double minutes;

    @Option(
            names = "--recording-seconds",
            defaultValue = "8",
            description = "Length of each JFR and async-profiler recording, in seconds (default: ${DEFAULT-VALUE}).")
    private int recordingSeconds;

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

    @Parameters(
            arity = "1..*",
            paramLabel = "ARGUMENT",
            description = "JVM options, main class and arguments of the engine.")
    private List<String> command;

    private final List<String> failures = Collections.synchronizedList(new ArrayList<>());
    private SoakResult.Machine machine;
    private String options;

    public static void main(String[] args) {
        System.exit(new CommandLine(new EngineSoak())
                .setStopAtPositional(true)
                .setOverwrittenOptionsAllowed(true)
                .execute(args));
    }

    @Override
    public Integer call() throws IOException, InterruptedException {
        Files.createDirectories(out);
        // So that no earlier result is taken for this one's.
        Files.deleteIfExists(out.resolve(name + ".json"));
        Files.deleteIfExists(out.resolve(name + ".md"));
        machine = SoakResult.Machine.of(java);
        options = Disturber.allFeatures(machine.feature());
        Map<String, String> recorded = orFailure(this::reference);
        Map<String, String> expected = recorded == null ? Map.of() : recorded;
        SoakResult.Disturbed disturbed = minutes > 0 ? orFailure(() -> disturb(expected)) : null;
        Comparison.Result comparison = groups > 0 ? orFailure(() -> compare(expected)) : null;
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

    /** Returns what the part of the soak found; null if it failed, which is then in the result. */
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
        checkEnd(engine, log);
        checkSummary(work);
        delete(work);
        double pause = Vitals.longestPause(samples);
        if (samples.isEmpty() || pause > LONGEST_PAUSE_SECONDS) fail("no operation for " + Math.round(pause) + " s");
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

    private static void delete(Path directory) throws IOException {
        try (Stream<Path> files = Files.walk(directory)) {
            for (Path file : files.sorted(Comparator.reverseOrder()).toList()) Files.delete(file);
        }
    }

    private void sample(Engine engine, long start, long end, List<Vitals> samples) {
        AgentMXBean agentBean = engine.bean(AgentMXBean.NAME, AgentMXBean.class);
        int failed = 0;
        while (System.nanoTime() - end < 0 && engine.isAlive()) {
            try {
                TimeUnit.SECONDS.sleep(SAMPLE_SECONDS);
                // While it is detached there is no bean to read.
                boolean attached = engine.beans().isRegistered(Engine.name(AgentMXBean.NAME));
                long agentBytes = attached ? readAll(engine, agentBean) : 0;
                failed = 0;
                samples.add(Vitals.of(engine, (System.nanoTime() - start) / 1e9, agentBytes));
            } catch (IOException | JMException | RuntimeException e) {
                // It may have been detached when it was read, and attached again since.
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
        Comparison.Result result;
        Engine engine = Engine.start(java, withAgent(options), command, log);
        try (engine) {
            TimeUnit.SECONDS.sleep(warmUp);
            engine.checkAgent();
            result = new Comparison(engine, (long) (window * 1000)).run(groups);
            checkErrors(engine);
            compareAnswers(expected, engine.answers());
        }
        checkEnd(engine, log);
        return result;
    }

    private void checkEnd(Engine engine, Path log) throws IOException {
        if (engine.exitCode() != 0) fail("the engine's exit code is " + engine.exitCode());
        for (String complaint : engine.complaints()) fail("in " + log.getFileName() + ": " + complaint);
    }
}
