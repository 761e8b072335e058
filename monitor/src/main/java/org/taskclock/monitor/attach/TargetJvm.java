// SPDX-License-Identifier: Apache-2.0
// Copyright the TaskClock authors
package org.taskclock.monitor.attach;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.taskclock.internal.JdkVersions;
import org.taskclock.monitor.proc.JvmProcesses;
import org.taskclock.monitor.proc.MonitorException;
import org.taskclock.monitor.proc.TargetFiles;
import org.taskclock.monitor.proc.TemporaryFolderException;

/** A running JVM to which the agent is or will be attached. */
public final class TargetJvm {
    /** The system property in which the agent publishes its state. */
    private static final String STATE_PROPERTY = "taskclock.agent";

    /** Must match org.taskclock.agent.Agent. */
    private static final String REPLY = ";reply=";

    private static final Pattern YIELD_MODE = Pattern.compile("yield=([a-z]+)");

    /** In the agent's reply, if it cannot change how it treats Thread.yield. */
    private static final Pattern YIELD_REFUSAL = Pattern.compile("(?:^failed: |unavailable: (?=yield: ))([^;]+)");

    /** Options that disable the features of the agent that are not needed to see virtual threads. */
    private static final String VIRTUAL_THREADS_ONLY = "threadmxbean=off,bean=off,jfr=off";

    /** In the agent's reply, if it cannot show virtual threads. */
    private static final Pattern VIRTUAL_THREADS_REFUSAL =
            Pattern.compile("(?:^failed: |unavailable: (?=vthreads: ))([^;]+)");

    /** What the agent's reply begins with if it could not be loaded. */
    private static final String FAILED = "failed: ";

    private static final long TIMEOUT_MILLIS = 20_000;

    private final long pid;
    private final TargetFiles files;

    private TargetJvm(long pid) {
        this.pid = pid;
        files = TargetFiles.of(pid);
    }

    /** Returns the JVM, after checking that the process exists, is a JVM, and is accessible. */
    public static TargetJvm of(long pid) throws MonitorException {
        try {
            if (!JvmProcesses.hasLibjvm(pid)) {
                throw new MonitorException(MonitorException.Reason.FAILED, JvmProcesses.notAJvmMessage(pid));
            }
        } catch (NoSuchFileException e) {
            if (JvmProcesses.isHidden(pid))
                throw new MonitorException(MonitorException.Reason.NOT_PERMITTED, JvmProcesses.hiddenMessage(pid));
            throw new MonitorException(
                    MonitorException.Reason.GONE,
                    "there is no process " + pid + ": taskclock list shows the running JVMs");
        } catch (IOException e) {
            // The read fails with "No such process" if the process exits during it.
            if (ProcessHandle.of(pid).isEmpty())
                throw new MonitorException(MonitorException.Reason.GONE, "process " + pid + " has exited");
            if (!JvmProcesses.isJvm(pid))
                throw new MonitorException(MonitorException.Reason.FAILED, JvmProcesses.notAJvmMessage(pid));
            throw notPermitted(pid);
        }
        return new TargetJvm(pid);
    }

    private static MonitorException notPermitted(long pid) {
        String user = JvmProcesses.userOf(pid);
        String self = JvmProcesses.userOf(ProcessHandle.current().pid());
        // In a container, root lacks the capability. For the same user, a security policy forbids it.
        String remedy = self.equals("root") || self.equals(user)
                ? "the kernel denies " + self + " access to it: run this where the JVM runs, or with CAP_SYS_PTRACE"
                : "run this as that user or root";
        return new MonitorException(
                MonitorException.Reason.NOT_PERMITTED, "process " + pid + " belongs to " + user + ": " + remedy);
    }

    /** Loads the agent, or passes the options to the agent that is already loaded. Returns the agent's state. */
    public String configureAgent(String options) throws MonitorException {
        String copy = null;
        String reply = null;
        try {
            String state = AgentCommand.send(AttachClient.of(pid), options, TIMEOUT_MILLIS);
            if (state != null) return state;
            if (options.equals("detach") && state() == null) return "detached"; // it was never loaded
            Path jar = AgentJar.find();
            copy = copyIfHidden(jar);
            String path = copy == null ? jar.toString() : copy;
            AttachClient jvm = AttachClient.of(pid);
            reply = TargetFiles.TMP + ".taskclock_reply_"
                    + ProcessHandle.current().pid() + "_" + System.nanoTime();
            String argument = path + "=" + options + REPLY + reply;
            checkLoaded(jvm.execute(TIMEOUT_MILLIS, "load", "instrument", "false", argument));
            if (files.exists(reply))
                return new String(files.read(reply, TargetFiles.MAX_TEXT_BYTES), StandardCharsets.UTF_8);
            state = property(STATE_PROPERTY);
            return state == null ? "failed: the agent did not reply" : state;
        } catch (IOException e) {
            throw attachFailed(e);
        } finally {
            // The agent keeps the jar open.
            if (copy != null) delete(copy);
            if (reply != null) delete(reply);
        }
    }

    /**
     * Loads the agent for the CPU time of virtual threads. The options of an agent that is already loaded stay as they
     * are.
     *
     * @throws IOException if it cannot show virtual threads; the message is one line
     */
    public static void showVirtualThreads(long pid) throws IOException {
        String state;
        try {
            TargetJvm target = of(pid);
            int feature = target.feature();
            if (feature < JdkVersions.VIRTUAL_THREADS)
                throw new IOException(
                        "Agent not loaded: process " + pid + " runs JDK " + feature + ", which has no virtual threads");
            state = target.loadIfAbsent();
        } catch (MonitorException e) {
            throw new IOException("Agent not loaded: " + e.getMessage(), e);
        }
        Matcher problem = VIRTUAL_THREADS_REFUSAL.matcher(state);
        if (problem.find()) throw new IOException("Agent not loaded: process " + pid + ": " + problem.group(1));
        if (state.contains("vthreads=off")) {
            throw new IOException("The agent in process " + pid + " ignores virtual threads: run taskclock attach "
                    + pid + " --vthreads on");
        }
    }

    /**
     * Loads the agent for the named accounts of the program, and for virtual threads if there are any. An agent that is
     * already loaded stays as it is.
     *
     * @throws IOException if it cannot be loaded; the message is one line
     */
    public static void showAccounts(long pid) throws IOException {
        try {
            String state = of(pid).loadIfAbsent();
            if (state.startsWith(FAILED))
                throw new IOException("Agent not loaded: process " + pid + ": " + state.substring(FAILED.length()));
        } catch (MonitorException e) {
            throw new IOException("Agent not loaded: " + e.getMessage(), e);
        }
    }

    /** Returns the state of the agent. */
    private String loadIfAbsent() throws MonitorException {
        return yieldMode() == null ? configureAgent(VIRTUAL_THREADS_ONLY) : String.valueOf(state());
    }

    /** Changes how the agent treats Thread.yield. Throws with the agent's reason if it does not. */
    public void setYieldMode(String options) throws MonitorException {
        String state = configureAgent(options);
        Matcher refusal = YIELD_REFUSAL.matcher(state);
        if (refusal.find())
            throw new MonitorException(
                    MonitorException.Reason.FAILED, "process " + pid + ": agent: " + refusal.group(1));
    }

    /** Returns the last state that the agent reported, or null if it was never loaded. */
    public String state() throws MonitorException {
        try {
            return property(STATE_PROPERTY);
        } catch (IOException e) {
            throw attachFailed(e);
        }
    }

    /** Returns the feature version of the JVM. */
    public int feature() throws MonitorException {
        try {
            return Integer.parseInt(property("java.specification.version"));
        } catch (NumberFormatException e) {
            throw new MonitorException(
                    MonitorException.Reason.FAILED, "process " + pid + " does not report its version");
        } catch (IOException e) {
            throw attachFailed(e);
        }
    }

    /** Returns how the agent treats Thread.yield (pass, count or off), or null if the agent is not active. */
    public String yieldMode() throws MonitorException {
        String state = state();
        if (state == null || !state.contains("version=") || state.endsWith("detached")) return null;
        Matcher mode = YIELD_MODE.matcher(state);
        return mode.find() ? mode.group(1) : "pass";
    }

    /** Requests a report from the agent. */
    public AgentReport report() throws MonitorException {
        try {
            AgentReport report = AgentReport.request(AttachClient.of(pid), TIMEOUT_MILLIS);
            if (report != null) return report;
        } catch (AgentReport.AgentReportException e) {
            throw new MonitorException(MonitorException.Reason.FAILED, "process " + pid + ": " + e.getMessage());
        } catch (IOException e) {
            throw attachFailed(e);
        }
        throw new MonitorException(
                MonitorException.Reason.FAILED,
                "process " + pid + ": the agent does not report: run taskclock attach " + pid + " to see why");
    }

    private String property(String key) throws IOException {
        return AttachClient.of(pid).property(TIMEOUT_MILLIS, "properties", key);
    }

    /** Checks the reply to a load command, as sun.tools.attach.HotSpotVirtualMachine does. */
    private void checkLoaded(String reply) throws MonitorException {
        String text = reply.strip();
        if (text.equals("return code: 0") || text.equals("0")) return;
        String reason =
                switch (text) {
                    case "return code: 100" -> "no agent in the jar";
                    case "return code: 102" -> "the agent failed to start: see its standard error";
                    default ->
                        text.isEmpty() ? "no reply" : text.lines().findFirst().orElse(text);
                };
        throw new MonitorException(
                MonitorException.Reason.FAILED, "process " + pid + " did not load the agent: " + reason);
    }

    private MonitorException attachFailed(IOException e) {
        if (ProcessHandle.of(pid).isEmpty())
            return new MonitorException(MonitorException.Reason.GONE, "process " + pid + " has exited");
        String message = String.valueOf(e.getMessage());
        if (message.contains("another user")
                || message.contains("Operation not permitted")
                || message.contains("Permission denied")) return notPermitted(pid);
        return new MonitorException(MonitorException.Reason.FAILED, "cannot attach to process " + pid + ": " + message);
    }

    /**
     * Copies the jar to the target's /tmp if the target, as in a container, cannot see it. Returns the path of the copy
     * as the target sees it, or null if there is none.
     */
    private String copyIfHidden(Path jar) throws IOException {
        if (files.isSame(jar)) return null;
        String copy = TargetFiles.TMP + "taskclock-agent-" + pid + "-" + System.nanoTime() + ".jar";
        try {
            files.create(copy, Files.readAllBytes(jar));
            return copy;
        } catch (IOException e) {
            delete(copy); // a full folder may hold a part of it
            throw TemporaryFolderException.of(pid, e);
        }
    }

    private void delete(String file) {
        try {
            files.deleteIfExists(file);
        } catch (IOException e) {
            System.err.println("taskclock: " + file + " of process " + pid + " cannot be removed: " + e.getMessage());
        }
    }
}
