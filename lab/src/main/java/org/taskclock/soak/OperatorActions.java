// SPDX-License-Identifier: Apache-2.0
// Copyright the TaskClock authors
package org.taskclock.soak;

import com.sun.management.HotSpotDiagnosticMXBean;
import com.sun.tools.attach.AttachNotSupportedException;
import java.io.IOException;
import java.io.InputStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.Set;
import java.util.SplittableRandom;
import java.util.concurrent.TimeUnit;
import java.util.regex.Pattern;
import javax.management.JMException;
import javax.management.ObjectName;
import jdk.jfr.consumer.RecordedEvent;
import jdk.jfr.consumer.RecordingFile;
import one.profiler.AsyncProfiler;
import org.taskclock.internal.JdkVersions;

/** Actions of operators on an engine with the agent. Each action leaves all features of the agent enabled. */
final class OperatorActions {
    private static final ObjectName COMMANDS = Engine.name("com.sun.management:type=DiagnosticCommand");
    private static final String PROFILER = "/linux-x64/libasyncProfiler.so";
    private static final Pattern SAMPLES = Pattern.compile("(?m)^Total samples *: *[1-9]");
    private static final int PAUSE_MILLIS = 2_000;

    private static final Set<String> AGENT_ACTIONS = Set.of(
            "attached a copy",
            "detached and attached",
            "kill switch thrown",
            "thread times off and on",
            "yield modes changed",
            "accounts off and on");

    private interface Action {
        void run() throws IOException, InterruptedException, JMException, AttachNotSupportedException;
    }

    private final Engine engine;
    private final int jdk;
    private final Path agentJar;
    private final String options;
    private final Path directory;
    private final long recordingMillis;
    private final SplittableRandom random = new SplittableRandom(42);
    private final AgentMXBean agent;
    private final HotSpotDiagnosticMXBean hotspot;
    private final Map<String, Action> actions = new LinkedHashMap<>();
    private final Map<String, Integer> counts = new LinkedHashMap<>();
    private final Path profiler;
    private boolean hasAgent = true;
    private int copies;

    /**
     * Prepares the actions.
     *
     * @param options the options with which the agent was started
     * @param directory for temporary files
     * @param recordingMillis the length of JFR and async-profiler recordings
     */
    OperatorActions(Engine engine, int jdk, Path agentJar, String options, Path directory, long recordingMillis)
            throws IOException {
        this.engine = engine;
        this.jdk = jdk;
        this.agentJar = agentJar;
        this.options = options;
        this.directory = directory;
        this.recordingMillis = recordingMillis;
        agent = engine.bean(AgentMXBean.NAME, AgentMXBean.class);
        hotspot = engine.bean("com.sun.management:type=HotSpotDiagnostic", HotSpotDiagnosticMXBean.class);
        profiler = directory.resolve("libasyncProfiler.so");
        try (InputStream library = AsyncProfiler.class.getResourceAsStream(PROFILER)) {
            Files.copy(library, profiler, StandardCopyOption.REPLACE_EXISTING);
        }
        actions.put("attached a copy", this::attachCopy);
        actions.put("detached and attached", this::reattach);
        actions.put("kill switch thrown", () -> toggle(agent::setEnabled));
        actions.put("thread times off and on", () -> toggle(agent::setThreadMXBeanReplaced));
        actions.put("yield modes changed", this::changeYields);
        actions.put("thread dump", () -> execute("threadPrint"));
        if (jdk >= JdkVersions.VIRTUAL_THREADS) {
            actions.put("accounts off and on", () -> toggle(agent::setVirtualThreadAccounting));
            actions.put("thread dump as JSON", this::dumpThreads);
        }
        actions.put("heap dump", this::dumpHeap);
        actions.put("flight recording", this::record);
        actions.put("async-profiler", this::profile);
        actions.keySet().forEach(name -> counts.put(name, 0));
    }

    /** Omits the actions that need the agent, for an engine without it. */
    void omitAgent() {
        actions.keySet().removeAll(AGENT_ACTIONS);
        counts.keySet().removeAll(AGENT_ACTIONS);
        hasAgent = false;
    }

    /** Returns the options that enable every feature that a JDK supports, without changing {@code Thread.yield}. */
    static String allFeatures(int jdk) {
        String all = "threadmxbean=on,yield=count,bean=on,jfr=on";
        return jdk < JdkVersions.VIRTUAL_THREADS ? all : all + ",virtual-yield=count,vthreads=on,virtual=mxbean";
    }

    Map<String, Integer> counts() {
        return counts;
    }

    /**
     * Performs one action. Consecutive indexes cycle through all actions.
     *
     * @throws IOException if the action fails or a feature of the agent is missing afterward; the message names the
     *     action
     */
    void perform(int index) throws IOException, InterruptedException {
        String name = actions.keySet().stream()
                .skip(index % actions.size())
                .findFirst()
                .orElseThrow();
        try {
            actions.get(name).run();
            if (hasAgent) engine.checkAgent();
        } catch (IOException | JMException | AttachNotSupportedException | RuntimeException e) {
            throw new IOException(name + ": " + e, e);
        }
        counts.merge(name, 1, Integer::sum);
    }

    private void attachCopy() throws IOException, AttachNotSupportedException {
        Path copy = Files.copy(agentJar, directory.resolve("agent-" + copies++ + ".jar"));
        engine.loadAgent(copy, options);
        // Safe: the JVM keeps only the first jar open, which it has added to its class path.
        Files.delete(copy);
    }

    private void reattach() throws IOException, InterruptedException, AttachNotSupportedException {
        engine.loadAgent(agentJar, "detach");
        TimeUnit.MILLISECONDS.sleep(random.nextInt(PAUSE_MILLIS));
        engine.loadAgent(agentJar, options);
    }

    private interface Setting {
        void set(boolean value);
    }

    private void toggle(Setting setting) throws InterruptedException {
        setting.set(false);
        TimeUnit.MILLISECONDS.sleep(random.nextInt(PAUSE_MILLIS));
        setting.set(true);
    }

    private void changeYields() throws InterruptedException {
        agent.setYieldMode(random.nextBoolean() ? "off" : "pass");
        if (jdk >= JdkVersions.VIRTUAL_THREADS) agent.setVirtualYieldMode("pass");
        TimeUnit.MILLISECONDS.sleep(random.nextInt(PAUSE_MILLIS));
        agent.setYieldMode("count");
        if (jdk >= JdkVersions.VIRTUAL_THREADS) agent.setVirtualYieldMode("count");
    }

    private String execute(String command, String... arguments) throws IOException, JMException {
        Object[] parameters = {arguments};
        String[] signature = {String[].class.getName()};
        return (String) engine.beans().invoke(COMMANDS, command, parameters, signature);
    }

    private void dumpThreads() throws IOException, JMException {
        Path file = directory.resolve("threads.json");
        execute("threadDumpToFile", "-overwrite", "-format=json", file.toString());
        if (Files.size(file) == 0) throw new IOException(file + " is empty");
        Files.delete(file);
    }

    private void dumpHeap() throws IOException {
        Path file = directory.resolve("heap.hprof");
        Files.deleteIfExists(file);
        hotspot.dumpHeap(file.toString(), true);
        Files.delete(file);
    }

    private void record() throws IOException, InterruptedException, JMException {
        Path file = directory.resolve("recording.jfr");
        execute(
                "jfrStart",
                "name=soak",
                "settings=profile",
                "+org.taskclock.ThreadCpu#enabled=true",
                "+org.taskclock.VirtualThreadCpu#enabled=true",
                "+org.taskclock.YieldSite#enabled=true");
        TimeUnit.MILLISECONDS.sleep(recordingMillis);
        execute("jfrStop", "name=soak", "filename=" + file);
        long events = 0;
        try (RecordingFile recording = new RecordingFile(file)) {
            while (recording.hasMoreEvents()) {
                RecordedEvent event = recording.readEvent();
                if (event.getEventType().getName().equals("org.taskclock.ThreadCpu")) events++;
            }
        }
        Files.delete(file);
        if (hasAgent && events == 0) throw new IOException("no event org.taskclock.ThreadCpu");
    }

    private void profile() throws IOException, InterruptedException, AttachNotSupportedException {
        Path file = directory.resolve("profile.txt");
        engine.loadLibrary(profiler, "start,event=ctimer,interval=5ms");
        TimeUnit.MILLISECONDS.sleep(recordingMillis);
        engine.loadLibrary(profiler, "stop,flat,file=" + file);
        if (!SAMPLES.matcher(Files.readString(file)).find()) throw new IOException("no samples in " + file);
        Files.delete(file);
    }
}
