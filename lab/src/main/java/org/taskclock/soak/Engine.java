// SPDX-License-Identifier: Apache-2.0
// Copyright the TaskClock authors
package org.taskclock.soak;

import com.sun.tools.attach.AgentInitializationException;
import com.sun.tools.attach.AgentLoadException;
import com.sun.tools.attach.AttachNotSupportedException;
import com.sun.tools.attach.VirtualMachine;
import java.io.IOException;
import java.lang.ProcessBuilder.Redirect;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.concurrent.TimeUnit;
import java.util.regex.Pattern;
import javax.management.JMException;
import javax.management.JMX;
import javax.management.MBeanServerConnection;
import javax.management.ObjectName;
import javax.management.openmbean.CompositeData;
import javax.management.openmbean.TabularData;
import javax.management.remote.JMXConnector;
import javax.management.remote.JMXConnectorFactory;
import javax.management.remote.JMXServiceURL;
import org.taskclock.ProcessClock;

/**
 * An engine under load in its own JVM, and a connection to its beans. The engine exits when its standard input is
 * closed.
 */
final class Engine implements AutoCloseable {
    private static final long READY_WITHIN_SECONDS = 180;
    private static final long END_WITHIN_SECONDS = 60;
    /** The last two are of Kafka's tools, which continue after them. */
    private static final Pattern COMPLAINT =
            Pattern.compile("^taskclock:|org\\.taskclock\\.agent|java\\.lang\\.TaskClock"
                    + "|ASSERTION FAILED|OutOfMemoryError|StackOverflowError|fatal error"
                    + "|Exiting before consuming|^org\\.apache\\.kafka\\.common\\.errors\\.");

    private static final ObjectName LOAD = name("org.taskclock.integration:type=Load");

    private final Process process;
    private final Path log;
    private final ProcessClock clock;
    private JMXConnector connector;
    private MBeanServerConnection beans;

    private Engine(Process process, Path log) {
        this.process = process;
        this.log = log;
        this.clock = ProcessClock.of(process.pid());
    }

    /** Starts an engine and waits for its first operation. */
    static Engine start(Path java, List<String> options, List<String> command, Path log)
            throws IOException, InterruptedException {
        List<String> all = new ArrayList<>(List.of(java.toString()));
        all.addAll(options);
        all.addAll(command);
        Process process = new ProcessBuilder(all)
                .redirectErrorStream(true)
                .redirectOutput(Redirect.to(log.toFile()))
                .start();
        Engine engine = new Engine(process, log);
        try {
            engine.awaitOperation();
            return engine;
        } catch (IOException | InterruptedException | RuntimeException e) {
            engine.close();
            throw e;
        }
    }

    private void awaitOperation() throws IOException, InterruptedException {
        for (int i = 0; i < READY_WITHIN_SECONDS; i++) {
            TimeUnit.SECONDS.sleep(1);
            if (!process.isAlive()) break;
            try {
                if (connector == null) connect();
                if (operations() > 0) return;
            } catch (IOException | JMException | AttachNotSupportedException e) {
                // Not ready yet.
            }
        }
        throw new IOException("the engine completed no operation: see " + log);
    }

    @SuppressWarnings("BanJNDI") // the address comes from the engine on this machine
    private void connect() throws IOException, AttachNotSupportedException {
        VirtualMachine vm = VirtualMachine.attach(String.valueOf(process.pid()));
        try {
            String address = vm.startLocalManagementAgent();
            if (address == null) throw new IllegalStateException("the engine has no connector address");
            connector = JMXConnectorFactory.connect(new JMXServiceURL(address));
        } finally {
            vm.detach();
        }
        beans = connector.getMBeanServerConnection();
    }

    long pid() {
        return process.pid();
    }

    boolean isAlive() {
        return process.isAlive();
    }

    MBeanServerConnection beans() {
        return beans;
    }

    <T> T bean(String name, Class<T> type) {
        return JMX.newMXBeanProxy(beans, name(name), type);
    }

    long operations() throws IOException, JMException {
        return (long) beans.getAttribute(LOAD, "Operations");
    }

    long errors() throws IOException, JMException {
        return (long) beans.getAttribute(LOAD, "Errors");
    }

    String firstError() throws IOException, JMException {
        return (String) beans.getAttribute(LOAD, "FirstError");
    }

    /** Returns a digest of the answer to each question. */
    Map<String, String> answers() throws IOException, JMException {
        Map<String, String> answers = new TreeMap<>();
        for (Object row : ((TabularData) beans.getAttribute(LOAD, "Answers")).values()) {
            CompositeData entry = (CompositeData) row;
            answers.put((String) entry.get("key"), (String) entry.get("value"));
        }
        return answers;
    }

    /** Throws if a feature of the agent is missing or the agent has failed. */
    void checkAgent() throws IOException {
        AgentMXBean agent = bean(AgentMXBean.NAME, AgentMXBean.class);
        for (AgentMXBean.Feature feature : agent.getFeatures()) {
            if (feature.getProblem() != null)
                throw new IOException("the agent's " + feature.getName() + ": " + feature.getProblem());
        }
        if (agent.getFailures() > 0) throw new IOException("the agent failed: " + agent.getLastFailure());
    }

    /** Returns the CPU time of the whole process. */
    long cpuNanos() {
        return clock.cpuNanos();
    }

    private interface Loading {
        void load(VirtualMachine vm) throws IOException, AgentLoadException, AgentInitializationException;
    }

    /** Loads a Java agent, which must report success. */
    void loadAgent(Path jar, String options) throws IOException, AttachNotSupportedException {
        load(jar, options, vm -> vm.loadAgent(jar.toString(), options));
    }

    /** Loads a native agent, which must report success. */
    void loadLibrary(Path library, String options) throws IOException, AttachNotSupportedException {
        load(library, options, vm -> vm.loadAgentPath(library.toString(), options));
    }

    private void load(Path file, String options, Loading loading) throws IOException, AttachNotSupportedException {
        VirtualMachine vm = VirtualMachine.attach(String.valueOf(process.pid()));
        try {
            loading.load(vm);
        } catch (AgentLoadException | AgentInitializationException e) {
            throw new IOException(file.getFileName() + "=" + options + ": " + e, e);
        } finally {
            vm.detach();
        }
    }

    /** Returns lines in the engine's log that indicate problems of the agent or the JVM. */
    List<String> complaints() throws IOException {
        try (var lines = Files.lines(log, StandardCharsets.ISO_8859_1)) {
            return lines.filter(COMPLAINT.asPredicate()).limit(20).toList();
        }
    }

    /** Shuts the engine down. Kills it if it does not exit, or if this thread is interrupted. */
    @Override
    public void close() throws IOException {
        try {
            if (connector != null) connector.close();
        } catch (IOException e) {
            // The engine has already exited.
        }
        process.getOutputStream().close();
        try {
            if (!process.waitFor(END_WITHIN_SECONDS, TimeUnit.SECONDS))
                process.destroyForcibly().waitFor();
        } catch (InterruptedException e) {
            process.destroyForcibly();
            Thread.currentThread().interrupt();
        }
    }

    /** Returns the exit code of the engine, which must have exited. */
    int exitCode() {
        return process.exitValue();
    }

    static ObjectName name(String name) {
        try {
            return new ObjectName(name);
        } catch (JMException e) {
            throw new IllegalArgumentException(name, e);
        }
    }
}
