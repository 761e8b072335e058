// SPDX-License-Identifier: Apache-2.0
// Copyright the TaskClock authors
package org.taskclock.hostile;

import java.io.IOException;
import java.net.StandardProtocolFamily;
import java.net.UnixDomainSocketAddress;
import java.nio.ByteBuffer;
import java.nio.MappedByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.channels.ServerSocketChannel;
import java.nio.channels.SocketChannel;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.concurrent.atomic.AtomicLong;

/** Answers the requests of attaching tools in place of the JVM. */
final class ForgedAttachListener {
    /** A name that is in no process but in the replies of a socket of another user. */
    static final String FORGED_NAME = "forged-by-another-user";

    private static final int DUMP_BYTES = 300 << 20;
    private static final int WIDE_DUMP_BYTES = 16_000_000;

    static volatile MappedByteBuffer library;

    private final Scenario scenario;
    private final AtomicLong reports = new AtomicLong();

    private ForgedAttachListener(Scenario scenario) {
        this.scenario = scenario;
    }

    /** Starts a listener in place of that of a JVM and returns its socket. */
    static Path start(Scenario scenario, long pid) throws IOException {
        mapLibrary();
        Path path = Path.of("/tmp/.java_pid" + pid);
        Files.deleteIfExists(path);
        ServerSocketChannel server = ServerSocketChannel.open(StandardProtocolFamily.UNIX);
        server.bind(UnixDomainSocketAddress.of(path));
        ForgedAttachListener listener = new ForgedAttachListener(scenario);
        startThread("listener", () -> {
            while (true) {
                SocketChannel client = server.accept();
                startThread("reply", () -> listener.reply(client));
            }
        });
        return path;
    }

    /** Only a JVM that has mapped a file with this name is asked for the report of an agent. */
    private static void mapLibrary() throws IOException {
        Path file = Files.createTempFile("libtaskclock-", ".so");
        Files.writeString(file, FORGED_NAME);
        try (FileChannel channel = FileChannel.open(file)) {
            library = channel.map(FileChannel.MapMode.READ_ONLY, 0, channel.size());
        }
        Files.delete(file);
    }

    private interface Work {
        void run() throws IOException;
    }

    private static void startThread(String name, Work work) {
        Thread thread = new Thread(
                () -> {
                    try {
                        work.run();
                    } catch (IOException e) {
                        return; // the tool has disconnected
                    }
                },
                name);
        thread.setDaemon(true);
        thread.start();
    }

    private void reply(SocketChannel client) throws IOException {
        try (client) {
            ByteBuffer request = ByteBuffer.allocate(1 << 16);
            client.read(request);
            String text = new String(request.array(), 0, request.position(), StandardCharsets.UTF_8);
            switch (scenario) {
                case HUNG_ATTACH -> HostileProgram.sleep(3_600_000_000_000L);
                case ENDLESS_REPLY -> {
                    send(client, "0\n");
                    while (true) send(client, "endless=" + "x".repeat(8_000) + "\n");
                }
                case SLOW_REPLY -> {
                    send(client, "0\n");
                    while (true) {
                        send(client, "x");
                        HostileProgram.sleep(1_000_000_000);
                    }
                }
                default -> {
                    send(client, "0\n");
                    if (text.contains("agentProperties")) send(client, "taskclock.report=" + report() + "\n");
                    else if (text.contains("roperties")) send(client, "java.version=" + FORGED_NAME + "\n");
                    else if (text.contains("threaddump") || text.contains("Thread.print")) dump(client);
                    else send(client, FORGED_NAME + "\n");
                }
            }
        }
    }

    private static void send(SocketChannel client, String text) throws IOException {
        ByteBuffer bytes = ByteBuffer.wrap(text.getBytes(StandardCharsets.UTF_8));
        while (bytes.hasRemaining()) client.write(bytes);
    }

    private void dump(SocketChannel client) throws IOException {
        send(client, "2026-11-24 00:00:00\nFull thread dump OpenJDK 64-Bit Server VM (25 mixed mode):\n\n");
        String[] tids = Path.of("/proc/self/task").toFile().list();
        for (String tid : tids == null ? new String[0] : tids) send(client, entry(FORGED_NAME, 1, Long.parseLong(tid)));
        if (scenario == Scenario.DUMP_BOMB) {
            String entry = entry("bomb " + "x".repeat(1_000), Long.MAX_VALUE, Long.MAX_VALUE);
            for (int sent = 0; sent < DUMP_BYTES; sent += entry.length()) send(client, entry);
        }
        if (scenario == Scenario.WIDE_DUMP)
            for (int sent = 0, tid = 1; sent < WIDE_DUMP_BYTES; tid++) {
                String entry = entry("wide \u65e5", tid, tid);
                send(client, entry);
                sent += entry.length();
            }
    }

    private static String entry(String name, long number, long tid) {
        return "\"" + name + "\" #" + number + " [" + tid + "] prio=5 os_prio=0 cpu=9223372036854775807.99ms"
                + " elapsed=9223372036854775807.99s tid=0x00007fffffffffff nid=" + tid
                + " runnable  [0x00007fffffffffff]\n   java.lang.Thread.State: RUNNABLE\n\tat a.B.c(B.java:1)\n\n";
    }

    /** Returns a report whose figures differ from those of the previous one by as much as possible. */
    private String report() {
        boolean isHigh = reports.incrementAndGet() % 2 == 0;
        String n =
                switch (scenario) {
                    case NEGATIVE_REPORT -> Long.toString(isHigh ? Long.MIN_VALUE : -1);
                    case NAN_REPORT -> isHigh ? "NaN" : "1e308";
                    default -> Long.toString(isHigh ? Long.MAX_VALUE : 1);
                };
        StringBuilder groups = new StringBuilder();
        for (int i = 0; i < 3; i++)
            groups.append(i == 0 ? "" : ",")
                    .append("{'name':'" + FORGED_NAME + i + "','live':N,'ended':N,'cpuNanos':N," + "'userNanos':N}");
        return ("{'version':'1.0.0','pid':1,'java':'25','command':'forged','elapsedNanos':N,'cpuNanos':N,'userNanos':N,"
                        + "'pools':[{'name':'" + FORGED_NAME + "','example':'x','java':true,'threads':2147483647,"
                        + "'cpuNanos':N,'userNanos':N}],'virtualThreads':[" + groups + "],'carriers':[{'tid':T,"
                        + "'cpuNanos':N,'userNanos':N,'carriedNanos':1,'carriedUserNanos':1}],'yieldMode':'count',"
                        + "'platformYields':N,'virtualYields':N,'platformYieldNanos':N,'yielders':[{'tid':T,"
                        + "'yields':N,'yieldNanos':N,'cpuNanos':N}],'yieldSites':[{'yields':N,'virtualYields':N,"
                        + "'stack':['a.B.c']}],'health':{'features':[{'name':'x','state':'on'}],'mounts':N,'stacks':N,"
                        + "'failures':0,'memoryBytes':N},'truncated':false,'reportNanos':1}")
                .replace('\'', '"')
                .replace(":N", ":" + n)
                .replace(":T", ":" + ProcessHandle.current().pid());
    }
}
