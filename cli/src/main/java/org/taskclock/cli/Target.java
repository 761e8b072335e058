// SPDX-License-Identifier: Apache-2.0
// Copyright the TaskClock authors
package org.taskclock.cli;

import com.sun.tools.attach.AgentInitializationException;
import com.sun.tools.attach.AgentLoadException;
import com.sun.tools.attach.AttachNotSupportedException;
import com.sun.tools.attach.VirtualMachine;
import java.io.IOException;
import java.nio.file.AccessDeniedException;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;

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

    private static final String AGENT = "taskclock-agent.jar";
    /** Where the agent says what became of it. */
    private static final String STATE_PROPERTY = "taskclock.agent";

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
        Path ours = agentJar();
        Path theirs = null;
        try {
            VirtualMachine jvm = VirtualMachine.attach(Long.toString(pid));
            try {
                theirs = visible(ours);
                jvm.loadAgent(theirs == null ? ours.toString() : "/" + root().relativize(theirs), options);
                return jvm.getSystemProperties().getProperty(STATE_PROPERTY, "failed: the agent said nothing");
            } finally {
                jvm.detach();
            }
        } catch (AttachNotSupportedException | IOException e) {
            throw refused(e);
        } catch (AgentLoadException | AgentInitializationException e) {
            throw new Failure(Main.FAILED, "process " + pid + " did not load the agent: " + e.getMessage());
        } finally {
            // The JVM has it open.
            if (theirs != null) delete(theirs);
        }
    }

    private Failure refused(Exception e) {
        if (ProcessHandle.of(pid).isEmpty()) return new Failure(Main.NO_PROCESS, "process " + pid + " has ended");
        String message = String.valueOf(e.getMessage());
        if (message.contains("Operation not permitted") || message.contains("Permission denied"))
            return notPermitted(pid);
        return new Failure(
                Main.FAILED,
                "process " + pid + " does not let itself be attached to: " + message
                        + "; was it started with -XX:+DisableAttachMechanism?");
    }

    /** Beside the command line's own jar. */
    private static Path agentJar() throws Failure {
        Path own = Path.of(
                Main.class.getProtectionDomain().getCodeSource().getLocation().getPath());
        Path jar = own.resolveSibling(AGENT).toAbsolutePath();
        if (!Files.isReadable(jar)) throw new Failure(Main.FAILED, "there is no " + jar + ": it belongs beside " + own);
        return jar;
    }

    private Path root() {
        return Path.of("/proc/" + pid + "/root");
    }

    /** Null where the target sees our jar under the same name; else a copy in its own /tmp, as in a container. */
    private Path visible(Path jar) throws IOException {
        Path same = root().resolve(jar.toString().substring(1));
        if (Files.isReadable(same) && Files.isSameFile(same, jar)) return null;
        Path copy = root().resolve("tmp/taskclock-agent-" + pid + ".jar");
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
