// SPDX-License-Identifier: Apache-2.0
// Copyright the TaskClock authors
package org.taskclock.benchmarks;

import java.io.BufferedReader;
import java.io.IOException;
import java.net.StandardProtocolFamily;
import java.net.UnixDomainSocketAddress;
import java.nio.ByteBuffer;
import java.nio.channels.SocketChannel;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.locks.LockSupport;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.taskclock.internal.JdkVersions;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;

/**
 * Measures how long a thread dump stops a JVM: as {@code taskclock top} requests it, as jcmd does, and as jcmd does
 * with the owners of java.util.concurrent locks (-l), for which the JVM walks its heap. From JDK 25 on, the JVM sends
 * the dump to jcmd while the program is stopped.
 */
@Command(
        name = "thread dump benchmark",
        mixinStandardHelpOptions = true,
        description = "Measure how long thread dumps stop a JVM.")
public final class ThreadDumpBenchmark extends MeasuringProgram {
    private static final int STACK_DEPTH = 30;
    private static final int MEGA = 1 << 20;
    /** Messages of errors are shorter, and dumps are longer. */
    private static final int MIN_REPLY_BYTES = 1_000;

    /** A thread dump also looks for deadlocks, in a safepoint of its own. */
    private static final Pattern SAFEPOINT =
            Pattern.compile("Safepoint \"(?:PrintThreads|FindDeadlocks)\".* Total: +(\\d+) ns");

    /** The request of {@code taskclock top}, as in AttachClient of the module monitor. */
    private static final String REQUEST = Runtime.version().feature() >= JdkVersions.STREAMED_REPLIES
            ? "2\0" + "26\0" + "threaddump streaming=0\0" + "-e\0"
            : "1\0" + "threaddump\0" + "-e\0" + "\0\0";

    /** How a dump is requested. */
    private enum Kind {
        TASKCLOCK("taskclock top"),
        JCMD("jcmd Thread.print"),
        JCMD_LOCKS("jcmd Thread.print -l");

        final String text;

        Kind(String text) {
            this.text = text;
        }
    }

    @Option(
            names = "--dumps",
            paramLabel = "N",
            defaultValue = "20",
            description = "Take N dumps of each kind (default: 20).")
    private int dumps;

    @Option(
            names = "--threads",
            paramLabel = "N",
            split = ",",
            defaultValue = "30,200,2000",
            description = "Numbers of threads, separated by commas (default: 30,200,2000).")
    private List<Integer> threads;

    @Option(
            names = "--heap",
            paramLabel = "MB",
            defaultValue = "256",
            description = "Fill the heap with this much live data (default: 256).")
    private int heapMegabytes;

    private ThreadDumpBenchmark() {}

    public static void main(String[] args) {
        new ThreadDumpBenchmark().run(args);
    }

    @Override
    public Integer call() throws IOException, InterruptedException {
        TextTable table = new TextTable("threads", "dump", "median ms", "max ms", "median us per thread");
        for (int count : threads) measure(table, count);
        System.out.print("JDK " + Runtime.version() + ", " + heapMegabytes + " MB of live data: how long "
                + "each of " + dumps + " thread dumps stopped the JVM.\n\n"
                + table.text(markdown));
        return 0;
    }

    private void measure(TextTable table, int count) throws IOException, InterruptedException {
        Path log = Files.createTempFile("taskclock-safepoints", ".log");
        List<String> options = List.of(
                "-Xlog:safepoint=info:file=" + log + "::filecount=0",
                "-Xss256k",
                "-Xmx" + (2 * heapMegabytes + 256) + "m");
        Process target =
                FreshJvm.builder(options, Target.class, count, heapMegabytes).start();
        try (BufferedReader ready = target.inputReader(StandardCharsets.UTF_8)) {
            if (ready.readLine() == null) throw new IOException("the measured JVM did not start");
            jcmd(target.pid(), Kind.JCMD); // starts the listener
            for (Kind kind : Kind.values()) {
                double[] millis = new double[dumps];
                dump(target.pid(), kind); // The first dump loads classes.
                for (int i = 0; i < dumps; i++) {
                    double before = stoppedMillis(log);
                    dump(target.pid(), kind);
                    millis[i] = stoppedMillis(log) - before;
                }
                double median = RoundStatistics.quantile(0.5, millis);
                table.add(List.of(
                        Integer.toString(count),
                        kind.text,
                        Goal.format("%.2f", median),
                        Goal.format("%.2f", RoundStatistics.quantile(1, millis)),
                        Goal.format("%.1f", median * 1e3 / count)));
            }
        } finally {
            target.destroyForcibly().waitFor();
            Files.delete(log);
        }
    }

    private static void dump(long pid, Kind kind) throws IOException, InterruptedException {
        if (kind != Kind.TASKCLOCK) {
            jcmd(pid, kind);
            return;
        }
        try (SocketChannel channel = SocketChannel.open(StandardProtocolFamily.UNIX)) {
            channel.connect(UnixDomainSocketAddress.of("/tmp/.java_pid" + pid));
            channel.write(ByteBuffer.wrap(REQUEST.getBytes(StandardCharsets.UTF_8)));
            ByteBuffer reply = ByteBuffer.allocate(1 << 16);
            long size = 0;
            for (int read; (read = channel.read(reply)) >= 0; reply.clear()) size += read;
            if (size < MIN_REPLY_BYTES) throw new IOException("the JVM refused: " + size + " bytes");
        }
    }

    private static void jcmd(long pid, Kind kind) throws IOException, InterruptedException {
        List<String> command = new ArrayList<>(List.of(FreshJvm.tool("jcmd"), Long.toString(pid), "Thread.print"));
        if (kind == Kind.JCMD_LOCKS) command.add("-l");
        Process jcmd = new ProcessBuilder(command)
                .redirectOutput(ProcessBuilder.Redirect.DISCARD)
                .redirectError(ProcessBuilder.Redirect.INHERIT)
                .start();
        if (jcmd.waitFor() != 0) throw new IOException("jcmd failed");
    }

    /** Returns the total time for which thread dumps have stopped the JVM. */
    private static double stoppedMillis(Path log) throws IOException {
        double sum = 0;
        Matcher safepoints = SAFEPOINT.matcher(Files.readString(log));
        while (safepoints.find()) sum += Long.parseLong(safepoints.group(1)) / 1e6;
        return sum;
    }

    /** A program with waiting threads and a full heap. */
    static final class Target {
        private static final int OBJECT_BYTES = 128;

        private Target() {}

        public static void main(String[] args) throws InterruptedException {
            int count = Integer.parseInt(args[0]);
            byte[][] live = new byte[Integer.parseInt(args[1]) * (MEGA / (OBJECT_BYTES + 16))][];
            for (int i = 0; i < live.length; i++) live[i] = new byte[OBJECT_BYTES];
            CountDownLatch running = new CountDownLatch(count);
            for (int i = 0; i < count; i++) {
                Thread thread = new Thread(() -> park(running, STACK_DEPTH), "waiting " + i);
                thread.setDaemon(true);
                thread.start();
            }
            running.await();
            System.out.println("ready");
            while (true) LockSupport.park(live);
        }

        private static void park(CountDownLatch running, int depth) {
            if (depth > 0) {
                park(running, depth - 1);
                return;
            }
            running.countDown();
            while (true) LockSupport.park();
        }
    }
}
