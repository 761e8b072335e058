// SPDX-License-Identifier: Apache-2.0
// Copyright the TaskClock authors
package org.taskclock.cli;

import java.io.IOException;
import java.io.StringReader;
import java.nio.file.AccessDeniedException;
import java.nio.file.Files;
import java.nio.file.LinkOption;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.Properties;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.taskclock.watch.AgentReport;
import org.taskclock.watch.JvmSocket;
import org.taskclock.watch.Jvms;

/** A JVM that runs, into which the agent is loaded. */
final class Target {
    /** What went wrong, and with which exit code it ends the command. */
    static final class Failure extends Exception {
        private static final long serialVersionUID = 1;

        final int exitCode;

        Failure(int exitCode, String message) {
            super(message);
            this.exitCode = exitCode;
        }
    }

    /** Where the agent says what became of it. */
    private static final String STATE_PROPERTY = "taskclock.agent";

    /** As org.taskclock.agent.Agent has it. */
    private static final String REPLY = ";reply=";

    private static final Pattern YIELD_MODE = Pattern.compile("yield=([a-z]+)");

    private static final long TIMEOUT_MILLIS = 20_000;

    private final long pid;

    private Target(long pid) {
        this.pid = pid;
    }

    /** Makes sure that there is such a process, that it is a JVM, and that it can be reached. */
    static Target of(long pid) throws Failure {
        Path maps = Path.of("/proc/" + pid + "/maps");
        try {
            if (!Files.readString(maps).contains("libjvm.so")) {
                throw new Failure(Main.FAILED, "process " + pid + " is not a JVM: jcmd lists those there are");
            }
        } catch (NoSuchFileException e) {
            if (Jvms.isHidden(pid)) throw new Failure(Main.NOT_PERMITTED, Jvms.hidden(pid));
            throw new Failure(Main.NO_PROCESS, "there is no process " + pid + ": jcmd lists the JVMs there are");
        } catch (AccessDeniedException e) {
            throw notPermitted(pid);
        } catch (IOException e) {
            // A process that ends while it is read: "No such process".
            if (ProcessHandle.of(pid).isPresent()) throw notPermitted(pid);
            throw new Failure(Main.NO_PROCESS, "there is no process " + pid + " any more");
        }
        return new Target(pid);
    }

    private static Failure notPermitted(long pid) {
        String user = ProcessHandle.of(pid).flatMap(p -> p.info().user()).orElse("another user");
        return new Failure(
                Main.NOT_PERMITTED, "process " + pid + " belongs to " + user + ": run this as that user, or root");
    }

    /** Loads the agent, or tells the one that is there already; returns what it says of itself. */
    String tell(String options) throws Failure {
        Path theirs = null;
        Path reply = null;
        try {
            Path ours = AgentJar.find();
            theirs = visible(ours);
            String path = theirs == null ? ours.toString() : "/" + root().relativize(theirs);
            JvmSocket jvm = JvmSocket.of(pid);
            String name = ".taskclock_reply_" + ProcessHandle.current().pid() + "_" + System.nanoTime();
            reply = jvm.temporary().resolve(name);
            String word = path + "=" + options + REPLY + "/tmp/" + name;
            load(jvm.ask(TIMEOUT_MILLIS, "load", "instrument", "false", word));
            if (Files.isRegularFile(reply, LinkOption.NOFOLLOW_LINKS)) return Files.readString(reply);
            return properties().getProperty(STATE_PROPERTY, "failed: the agent said nothing");
        } catch (IOException e) {
            throw refused(e);
        } finally {
            // The agent keeps it open.
            if (theirs != null) delete(theirs);
            if (reply != null) delete(reply);
        }
    }

    /** What the agent said of itself last; null if it never was here. */
    String state() throws Failure {
        try {
            return properties().getProperty(STATE_PROPERTY);
        } catch (IOException e) {
            throw refused(e);
        }
    }

    /** The JVM's feature version. */
    int feature() throws Failure {
        try {
            return Integer.parseInt(properties().getProperty("java.specification.version", ""));
        } catch (NumberFormatException e) {
            throw new Failure(Main.FAILED, "process " + pid + " does not say its version");
        } catch (IOException e) {
            throw refused(e);
        }
    }

    /** What the agent makes of Thread.yield: pass, count or off; null where it is not at work. */
    String yieldMode() throws Failure {
        String state = state();
        if (state == null || !state.contains("version=") || state.endsWith("detached")) return null;
        Matcher mode = YIELD_MODE.matcher(state);
        return mode.find() ? mode.group(1) : "pass";
    }

    /** What the agent knows. */
    AgentReport report() throws Failure {
        try {
            AgentReport report = AgentReport.ask(JvmSocket.of(pid), TIMEOUT_MILLIS);
            if (report != null) return report;
        } catch (AgentReport.Unreadable e) {
            throw new Failure(Main.FAILED, "process " + pid + ": " + e.getMessage());
        } catch (IOException e) {
            throw refused(e);
        }
        throw new Failure(
                Main.FAILED, "process " + pid + ": the agent does not report: attach says why it was left out");
    }

    private Properties properties() throws IOException {
        Properties properties = new Properties();
        properties.load(new StringReader(JvmSocket.of(pid).ask(TIMEOUT_MILLIS, "properties")));
        return properties;
    }

    /** The JVM's answer, as sun.tools.attach.HotSpotVirtualMachine reads it. */
    private void load(String answer) throws Failure {
        String text = answer.strip();
        if (text.equals("return code: 0") || text.equals("0")) return;
        String why =
                switch (text) {
                    case "return code: 100" -> "it finds no agent in the jar";
                    case "return code: 102" -> "the agent could not be started: its standard error says more";
                    default ->
                        text.isEmpty()
                                ? "it did not answer"
                                : text.lines().findFirst().orElse(text);
                };
        throw new Failure(Main.FAILED, "process " + pid + " did not load the agent: " + why);
    }

    private Failure refused(IOException e) {
        if (ProcessHandle.of(pid).isEmpty()) return new Failure(Main.NO_PROCESS, "process " + pid + " has ended");
        String message = String.valueOf(e.getMessage());
        if (message.contains("another user")
                || message.contains("Operation not permitted")
                || message.contains("Permission denied")) return notPermitted(pid);
        return new Failure(Main.FAILED, "process " + pid + " does not let itself be attached to: " + message);
    }

    private Path root() {
        return Path.of("/proc/" + pid + "/root");
    }

    /** Null where the target sees our jar under the same name; else a copy in its own /tmp, as in a container. */
    private Path visible(Path jar) throws IOException {
        Path same = root().resolve(jar.toString().substring(1));
        if (Files.isReadable(same) && Files.isSameFile(same, jar)) return null;
        Path copy = root().resolve("tmp/taskclock-agent-" + pid + "-" + System.nanoTime() + ".jar");
        Files.copy(jar, copy);
        Files.setPosixFilePermissions(copy, PosixFilePermissions.fromString("rw-r--r--"));
        return copy;
    }

    private static void delete(Path file) {
        try {
            Files.deleteIfExists(file);
        } catch (IOException e) {
            System.err.println("taskclock: " + file + " could not be removed: " + e);
        }
    }
}
