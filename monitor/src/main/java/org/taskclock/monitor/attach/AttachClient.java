// SPDX-License-Identifier: Apache-2.0
// Copyright the TaskClock authors
package org.taskclock.monitor.attach;

import java.io.IOException;
import java.net.StandardProtocolFamily;
import java.net.UnixDomainSocketAddress;
import java.nio.ByteBuffer;
import java.nio.channels.SocketChannel;
import java.nio.charset.StandardCharsets;
import java.nio.file.AccessDeniedException;
import java.nio.file.FileAlreadyExistsException;
import java.nio.file.FileSystemException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFileAttributes;
import java.util.List;
import java.util.Properties;
import java.util.concurrent.TimeUnit;
import java.util.function.IntPredicate;
import java.util.stream.Stream;
import org.taskclock.monitor.proc.JvmProcesses;
import org.taskclock.monitor.proc.TargetFiles;
import org.taskclock.monitor.proc.TargetMemory;
import org.taskclock.monitor.proc.TemporaryFolderException;
import org.taskclock.monitor.usage.DaemonThread;

/**
 * A client of HotSpot's attach protocol (src/hotspot/os/posix/attachListener_posix.cpp), which every JDK since 9
 * supports. It replaces the client in the JDK's module jdk.attach: container images often lack that module, it waits
 * forever for a JVM that does not respond, and it does not offer the commands needed here.
 */
public final class AttachClient {
    private static final long START_TIMEOUT_MILLIS = 5_000;

    /** How long another tool has to make the JVM start its attach listener. */
    private static final long OTHER_TOOL_TIMEOUT_MILLIS = 2_000;

    private static final String EXITED = "it has exited";

    /** Signal 3, SIGQUIT, in the mask SigCgt. */
    private static final long SIGQUIT_BIT = 1L << 2;

    private final long pid;
    private final long innerPid;
    private final TargetFiles files;
    /** Whether the JVM can be asked to collect a reply before it sends it; null if not yet known. */
    private volatile Boolean canBuffer;

    private AttachClient(long pid, long innerPid) {
        this.pid = pid;
        this.innerPid = innerPid;
        files = TargetFiles.of(pid);
    }

    /** Returns a client for the process with this id in our own pid namespace. */
    public static AttachClient of(long pid) {
        try {
            String[] ids = statusField(readStatus(pid), "NStgid:").split("\\s+", -1);
            // The last id is that in the innermost namespace, which is the JVM's own.
            return new AttachClient(pid, ids[0].equals("?") ? pid : Long.parseLong(ids[ids.length - 1]));
        } catch (IOException e) {
            return new AttachClient(pid, pid); // execute() reports the failure
        }
    }

    /**
     * Executes a command and returns the text of the reply.
     *
     * @throws IOException if the JVM cannot be reached, refuses, or does not reply in time; the message is the reason
     */
    public String execute(long timeoutMillis, String... command) throws IOException {
        return execute(timeoutMillis, false, AttachReply::text, command);
    }

    /**
     * Executes a command whose reply is in the format of {@link Properties}, and returns one of them; null if it is not
     * there.
     *
     * @throws IOException as {@link #execute} does, or if the reply has another format
     */
    public String property(long timeoutMillis, String command, String key) throws IOException {
        return execute(timeoutMillis, false, reply -> reply.property(key), command);
    }

    /**
     * Takes a thread dump. The JVM collects the whole reply before it sends any of it. JDK 25 and later otherwise send
     * the reply while the program is stopped (attachStream in attachListener.cpp), so a client that reads slowly would
     * keep the program stopped. This takes version 2 of the protocol.
     *
     * @param keeps the ids of the threads whose entries are kept
     * @param keepsText whether to keep the texts of these
     */
    public ThreadDump threadDump(long timeoutMillis, IntPredicate keeps, boolean keepsText, String... options)
            throws IOException {
        long until = System.nanoTime() + TimeUnit.MILLISECONDS.toNanos(timeoutMillis);
        if (canBuffer == null) {
            try {
                canBuffer = execute(timeoutMillis, "getversion", "options").contains("streaming");
            } catch (AttachReply.RefusedException e) {
                canBuffer = false; // An older JVM, which always collects replies.
            }
        }
        String[] command =
                Stream.concat(Stream.of("threaddump"), Stream.of(options)).toArray(String[]::new);
        long beganAt = System.nanoTime();
        return execute(
                Math.max(1, TimeUnit.NANOSECONDS.toMillis(until - beganAt)),
                canBuffer,
                reply -> ThreadDump.read(reply, reply.memory(), keeps, keepsText, beganAt),
                command);
    }

    /** What to do with a reply while it is read, within its {@link ReplyMemory}. */
    @FunctionalInterface
    interface Parser<T> {
        T parse(AttachReply reply) throws IOException;
    }

    /** Executes a command and parses its reply. */
    <T> T execute(long timeoutMillis, Parser<T> parser, String command) throws IOException {
        return execute(timeoutMillis, false, parser, command);
    }

    private <T> T execute(long timeoutMillis, boolean buffered, Parser<T> parser, String... command)
            throws IOException {
        Exchange<T> exchange = new Exchange<>(buffered, parser, command);
        Thread thread = new DaemonThread(exchange, "taskclock-attach");
        thread.start();
        try {
            thread.join(timeoutMillis);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            return exchange.result("interrupted");
        }
        return exchange.result("it did not answer within " + timeoutMillis + " ms");
    }

    private final class Exchange<T> implements Runnable {
        private final boolean buffered;
        private final Parser<T> parser;
        private final String[] command;
        private SocketChannel channel;
        private boolean done;
        private T reply;
        private IOException failure;

        Exchange(boolean buffered, Parser<T> parser, String... command) {
            this.buffered = buffered;
            this.parser = parser;
            this.command = command;
        }

        @Override
        public void run() {
            T received = null;
            IOException thrown = null;
            try (SocketChannel opened = SocketChannel.open(StandardProtocolFamily.UNIX)) {
                synchronized (this) {
                    if (done) return;
                    channel = opened; // connecting can take as long as the JVM likes
                }
                connect(opened);
                received = exchange(opened);
            } catch (IOException e) {
                // If the process ends, almost any step can fail, with a message such as the path of a file.
                thrown = hasExited() ? new IOException(EXITED, e) : e;
            } catch (RuntimeException e) {
                thrown = new IOException(e.toString(), e);
            }
            synchronized (this) {
                done = true;
                reply = received;
                failure = thrown;
            }
        }

        /** Returns the request. All commands that are buffered consist of ASCII characters. */
        private String request() {
            if (buffered) {
                String body = command[0] + " streaming=0\0"
                        + String.join("\0", List.of(command).subList(1, command.length)) + "\0";
                return "2\0" + body.length() + "\0" + body;
            }
            StringBuilder request = new StringBuilder("1\0");
            for (int i = 0; i < 4; i++)
                request.append(i < command.length ? command[i] : "").append('\0');
            return request.toString();
        }

        private T exchange(SocketChannel to) throws IOException {
            ByteBuffer out = ByteBuffer.wrap(request().getBytes(StandardCharsets.UTF_8));
            while (out.hasRemaining()) to.write(out);
            try (AttachReply reply = new AttachReply(to)) {
                return parser.parse(reply);
            }
        }

        /** Returns the reply. If there is none yet, gives up for the given reason. */
        private synchronized T result(String reason) throws IOException {
            if (!done) {
                done = true;
                if (channel != null) channel.close();
                throw new IOException(reason);
            }
            if (failure != null) throw failure;
            return reply;
        }
    }

    /**
     * Returns the path of the file that requests the agent's report. The agent checks whether it exists when asked for
     * the properties.
     */
    String reportRequest() {
        return TargetFiles.TMP + ".taskclock_report_" + innerPid;
    }

    /** Returns the process's files. In a container, /tmp is not the same directory as ours. */
    public TargetFiles files() {
        return files;
    }

    long pid() {
        return pid;
    }

    /** Returns the process id in the JVM's own pid namespace. */
    public long innerPid() {
        return innerPid;
    }

    private void connect(SocketChannel channel) throws IOException {
        String socket = TargetFiles.TMP + ".java_pid" + innerPid;
        checkAttachable();
        if (!files.exists(socket)) startListener(".attach_pid" + innerPid, socket);
        AttachOwner owner = new AttachOwner(statusField(readStatus(pid), "Uid:"));
        owner.checkSocket(socket, files.attributes(socket));
        try {
            channel.connect(UnixDomainSocketAddress.of(files.locate(socket)));
        } catch (IOException e) {
            throw "Permission denied".equals(e.getMessage()) ? new IOException("it belongs to another user", e) : e;
        }
        owner.checkPeer(channel);
    }

    /**
     * Makes the JVM start its attach listener. On SIGQUIT, it does so if it finds a file that belongs to its own user
     * or root. On a second SIGQUIT, when the listener has started, it prints a thread dump to the program's output.
     * Therefore, only the tool that created the file sends the signal, and the others wait for the socket.
     */
    private void startListener(String request, String socket) throws IOException {
        long caught = Long.parseUnsignedLong(statusField(readStatus(pid), "SigCgt:"), 16);
        // The signal terminates a process that does not catch it: a JVM during startup, or with -Xrs.
        if ((caught & SIGQUIT_BIT) == 0) throw new IOException("it does not handle SIGQUIT (-Xrs?)");
        AttachOwner owner = new AttachOwner(statusField(readStatus(pid), "Uid:"));
        String file = TargetFiles.TMP + request;
        boolean isOurs = create(file);
        try {
            // The JDK's tools create their file in the working directory of the process.
            PosixFileAttributes other = files.inWorkingDirectory(request);
            if ((!isOurs || other != null) && await(socket, OTHER_TOOL_TIMEOUT_MILLIS)) return;
            if (files.exists(socket)) return; // another tool was faster and has removed its file
            // The JVM looks at the file in its working directory first, and prints a thread dump if it is not its own.
            owner.checkRequest(request + " in its working directory", other);
            if (!isOurs) owner.checkRequest(file, files.attributes(file));
            isOurs = true; // the other tool has left its file behind
            signal();
            if (!await(socket, START_TIMEOUT_MILLIS)) throw new IOException("its attach listener did not start");
        } catch (InterruptedException e) {
            throw new IOException("interrupted", e);
        } finally {
            if (isOurs) files.deleteIfExists(file);
        }
    }

    /**
     * Creates the file. Returns false if it exists, because another tool is about to attach, or has ended too early.
     */
    private boolean create(String file) throws IOException {
        try {
            files.create(file);
            return true;
        } catch (FileAlreadyExistsException e) {
            return false;
        } catch (FileSystemException e) {
            throw TemporaryFolderException.of(pid(), e);
        }
    }

    private void signal() throws IOException, InterruptedException {
        Process kill = new ProcessBuilder("sh", "-c", "kill -QUIT " + pid)
                .redirectErrorStream(true)
                .start();
        kill.getInputStream().readAllBytes();
        if (kill.waitFor() != 0) throw new IOException("it belongs to another user");
    }

    /** Waits until the socket exists. Returns whether it does. */
    private boolean await(String socket, long timeoutMillis) throws IOException, InterruptedException {
        long start = System.nanoTime();
        while (!files.exists(socket)) {
            if (System.nanoTime() - start > TimeUnit.MILLISECONDS.toNanos(timeoutMillis)) return false;
            Thread.sleep(5);
        }
        return true;
    }

    private void checkAttachable() throws IOException {
        String status = readStatus(pid);
        char state = stateOf(status);
        if (state == 'T' || state == 't') throw new IOException("it is stopped");
        if (isExited(status)) throw new IOException(EXITED);
        try {
            // With this option, SIGQUIT makes the JVM print a thread dump.
            if (TargetMemory.isStartedWith(pid, "+DisableAttachMechanism"))
                throw new IOException("-XX:+DisableAttachMechanism forbids it");
        } catch (AccessDeniedException e) {
            throw new IOException("it belongs to another user", e);
        }
    }

    private boolean hasExited() {
        try {
            return isExited(readStatus(pid));
        } catch (IOException e) {
            return !Files.exists(Path.of("/proc/" + pid)) && !JvmProcesses.isHidden(pid);
        }
    }

    private static boolean isExited(String status) {
        char state = stateOf(status);
        return state == 'Z' || state == 'X';
    }

    private static char stateOf(String status) {
        return statusField(status, "State:").charAt(0);
    }

    private static String readStatus(long pid) throws IOException {
        // Not UTF-8, because the kernel may truncate the name in the middle of a character.
        return Files.readString(Path.of("/proc/" + pid + "/status"), StandardCharsets.ISO_8859_1);
    }

    private static String statusField(String status, String key) {
        int at = status.indexOf("\n" + key);
        return at < 0
                ? "?"
                : status.substring(at + 1 + key.length(), status.indexOf('\n', at + 1))
                        .strip();
    }
}
