// SPDX-License-Identifier: Apache-2.0
// Copyright the TaskClock authors
package org.taskclock.watch;

import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.net.StandardProtocolFamily;
import java.net.UnixDomainSocketAddress;
import java.nio.ByteBuffer;
import java.nio.channels.SocketChannel;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.concurrent.TimeUnit;

/**
 * HotSpot's attach protocol, version 1 (src/hotspot/os/posix/attachListener_posix.cpp), which every JDK from 9 on speaks. The JDK's own
 * client is in the module jdk.attach, which runtimes in containers lack; it waits for a JVM that does not answer without an
 * end; and it does not hand out what we want to know.
 */
public final class JvmSocket {
    private static final int MAX_REPLY = 256 << 20;
    private static final long START_MILLIS = 5_000;

    /** Signal 3, SIGQUIT, in the mask of SigCgt. */
    private static final long CATCHES_QUIT = 1L << 2;

    private final long pid;
    private final long innerPid;

    /** {@code innerPid}: its process id as it sees it. */
    JvmSocket(long pid, long innerPid) {
        this.pid = pid;
        this.innerPid = innerPid;
    }

    /** That of a process; {@code pid} as we see it. */
    public static JvmSocket of(long pid) throws IOException {
        String[] ids = line(Files.readString(Path.of("/proc/" + pid + "/status")), "NStgid:")
                .split("\\s+", -1);
        return new JvmSocket(pid, ids[0].equals("?") ? pid : Long.parseLong(ids[ids.length - 1]));
    }

    /** One command; the answer's text. Throws what stands in the way, in words, also where no answer comes in time. */
    public String ask(long timeoutMillis, String... command) throws IOException {
        Exchange exchange = new Exchange(command);
        Thread thread = new Thread(exchange, "taskclock-attach");
        thread.setDaemon(true);
        thread.start();
        try {
            thread.join(timeoutMillis);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
        return exchange.result(timeoutMillis);
    }

    private final class Exchange implements Runnable {
        private final String[] command;
        private SocketChannel channel;
        private boolean over;
        private String reply;
        private IOException failure;

        Exchange(String... command) {
            this.command = command;
        }

        @Override
        public void run() {
            String got = null;
            IOException why = null;
            try (SocketChannel made = connect()) {
                synchronized (this) {
                    if (over) return;
                    channel = made;
                }
                got = exchange(made);
            } catch (IOException e) {
                why = e;
            } catch (RuntimeException e) {
                why = new IOException(e.toString(), e);
            }
            synchronized (this) {
                over = true;
                reply = got;
                failure = why;
            }
        }

        private String exchange(SocketChannel to) throws IOException {
            StringBuilder request = new StringBuilder("1\0");
            for (int i = 0; i < 4; i++)
                request.append(i < command.length ? command[i] : "").append('\0');
            ByteBuffer out = ByteBuffer.wrap(request.toString().getBytes(StandardCharsets.UTF_8));
            while (out.hasRemaining()) to.write(out);
            ByteArrayOutputStream all = new ByteArrayOutputStream();
            ByteBuffer in = ByteBuffer.allocate(1 << 16);
            while (to.read(in) >= 0 && all.size() < MAX_REPLY) {
                all.write(in.array(), 0, in.position());
                in.clear();
            }
            String text = all.toString(StandardCharsets.UTF_8);
            int line = text.indexOf('\n');
            if (line < 0) throw new IOException("it broke off");
            if (!text.startsWith("0\n"))
                throw new IOException("it refused: " + text.substring(line + 1).strip());
            return text.substring(line + 1);
        }

        private synchronized String result(long timeoutMillis) throws IOException {
            if (!over) {
                over = true;
                if (channel != null) channel.close();
                throw new IOException("it did not answer within " + timeoutMillis + " ms");
            }
            if (failure != null) throw failure;
            return reply;
        }
    }

    /** The file that exists while a tool wants the agent's report: the agent looks for it when it is asked for properties. */
    Path reportRequest() {
        return temporary().resolve(".taskclock_report_" + innerPid);
    }

    /** The process's own /tmp, as in a container. */
    public Path temporary() {
        Path tmp = Path.of("/proc/" + pid + "/root/tmp");
        return Files.isDirectory(tmp) ? tmp : Path.of("/tmp");
    }

    private SocketChannel connect() throws IOException {
        Path tmp = temporary();
        Path socket = tmp.resolve(".java_pid" + innerPid);
        refuseWhereItCannotBe();
        if (!Files.exists(socket)) start(tmp.resolve(".attach_pid" + innerPid), socket);
        SocketChannel channel = SocketChannel.open(StandardProtocolFamily.UNIX);
        try {
            channel.connect(UnixDomainSocketAddress.of(socket));
            return channel;
        } catch (IOException e) {
            channel.close();
            throw "Permission denied".equals(e.getMessage()) ? new IOException("it belongs to another user", e) : e;
        }
    }

    /** A JVM that does not listen yet begins to on SIGQUIT, if it finds a file of its user's or root's. */
    private void start(Path file, Path socket) throws IOException {
        String status = Files.readString(Path.of("/proc/" + pid + "/status"));
        long caught = Long.parseUnsignedLong(line(status, "SigCgt:"), 16);
        // Who does not catch the signal is ended by it: a JVM that starts, or has -Xrs.
        if ((caught & CATCHES_QUIT) == 0) throw new IOException("it does not listen to SIGQUIT (-Xrs?)");
        try {
            Files.createFile(file);
        } catch (java.nio.file.FileAlreadyExistsException e) {
            // Somebody else is about to attach, or was.
        } catch (java.nio.file.AccessDeniedException e) {
            throw new IOException("its /tmp cannot be written to", e);
        }
        try {
            Process kill = new ProcessBuilder("sh", "-c", "kill -QUIT " + pid)
                    .redirectErrorStream(true)
                    .start();
            kill.getInputStream().readAllBytes();
            if (kill.waitFor() != 0) throw new IOException("it belongs to another user");
            long end = System.nanoTime() + TimeUnit.MILLISECONDS.toNanos(START_MILLIS);
            while (!Files.exists(socket)) {
                if (System.nanoTime() > end) throw new IOException("it does not begin to listen");
                Thread.sleep(5);
            }
        } catch (InterruptedException e) {
            throw new IOException("interrupted", e);
        } finally {
            Files.deleteIfExists(file);
        }
    }

    private void refuseWhereItCannotBe() throws IOException {
        String status = Files.readString(Path.of("/proc/" + pid + "/status"));
        char state = line(status, "State:").charAt(0);
        if (state == 'T' || state == 't') throw new IOException("it is stopped");
        if (state == 'Z' || state == 'X') throw new IOException("it has ended");
        try {
            String options = Files.readString(Path.of("/proc/" + pid + "/cmdline"), StandardCharsets.ISO_8859_1)
                    + Files.readString(Path.of("/proc/" + pid + "/environ"), StandardCharsets.ISO_8859_1);
            // It would print a thread dump instead.
            if (options.contains("+DisableAttachMechanism"))
                throw new IOException("-XX:+DisableAttachMechanism forbids it");
        } catch (java.nio.file.AccessDeniedException e) {
            throw new IOException("it belongs to another user", e);
        }
    }

    private static String line(String status, String key) {
        int at = status.indexOf("\n" + key);
        return at < 0
                ? "?"
                : status.substring(at + 1 + key.length(), status.indexOf('\n', at + 1))
                        .strip();
    }
}
