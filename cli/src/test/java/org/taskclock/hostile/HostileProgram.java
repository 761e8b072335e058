// SPDX-License-Identifier: Apache-2.0
// Copyright the TaskClock authors
package org.taskclock.hostile;

import java.io.IOException;
import java.io.OutputStream;
import java.lang.management.ManagementFactory;
import java.lang.management.ThreadMXBean;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.BasicFileAttributeView;
import java.util.List;
import java.util.Random;

/**
 * The program of a hostile JVM. Arguments: the name of a {@link Scenario}, and for some of them a number. Prints
 * "ready" and the process id, and runs until its standard input ends. {@link HostileJvm} starts it, and prepares what
 * only an outside process can.
 */
public final class HostileProgram {
    /** The start of the names of the threads of {@link Scenario#HONEST}. The kernel would truncate it. */
    public static final String HONEST_THREADS = "honest worker with a long name";

    private static final ThreadMXBean BEAN = ManagementFactory.getThreadMXBean();
    private static final long PID = ProcessHandle.current().pid();
    private static final int NOBODY = 65_534;
    private static final int HUGE = 100_000;

    static volatile long sink;

    private HostileProgram() {}

    public static void main(String[] args) throws Exception {
        int number = args.length > 1 && args[1].length() < 10 ? Integer.parseInt(args[1]) : 0;
        start(Scenario.of(args[0]), number);
        System.out.println("ready " + PID);
        System.in.transferTo(OutputStream.nullOutputStream());
        Runtime.getRuntime().halt(0);
    }

    private static void start(Scenario scenario, int number) throws IOException {
        switch (scenario) {
            case HONEST -> {
                for (int i = 1; i <= 3; i++) use(number / 3.0, HONEST_THREADS + ", number " + i);
            }
            case FORGED_SOCKET,
                    FORGED_REPORT,
                    NEGATIVE_REPORT,
                    NAN_REPORT,
                    HUNG_ATTACH,
                    ENDLESS_REPLY,
                    SLOW_REPLY,
                    DUMP_BOMB,
                    WIDE_DUMP -> {
                Path socket = ForgedAttachListener.start(scenario, PID);
                if (scenario == Scenario.FORGED_SOCKET) Files.setAttribute(socket, "unix:uid", NOBODY);
            }
            case FOREIGN_ATTACH_FILE -> {
                Path file = Files.createFile(Path.of("/tmp/.attach_pid" + PID));
                Files.setAttribute(file, "unix:uid", NOBODY);
            }
            case LINKED_SOCKET ->
                Files.createSymbolicLink(
                        Path.of("/tmp/.java_pid" + PID),
                        Path.of("/tmp/.java_pid"
                                + ProcessHandle.current()
                                        .parent()
                                        .map(ProcessHandle::pid)
                                        .orElse(1L)));
            case HUGE_NAMES -> {
                for (int i = 0; i < 5; i++) use(0.5, "huge-" + i + "x".repeat(HUGE));
            }
            case HOSTILE_NAMES -> {
                for (String name : List.of(
                        "quote\"} 1\ntaskclock_thread_cpu_time_seconds_total{jvm=\"a-1\"} 9",
                        "\u001b]0;title\u0007\u001b[2J",
                        "\u202eright to left",
                        "unpaired \ud800 surrogate",
                        "</script><script>alert(1)</script>",
                        "\"forged\" #1 prio=5 tid=0x1 nid=0x1 runnable\n\"")) use(0.5, name);
            }
            case GC_NAMES -> {
                for (String name : List.of(
                        "G1 loader",
                        "GC Thread pool",
                        "Zipkin-reporter#2",
                        "ZooKeeper worker #1",
                        "Shenandoah river",
                        "ParGC")) use(0.7, name);
            }
            case MANY_POOLS -> daemon("pools", HostileProgram::createPools);
            case THREAD_STORM -> daemon("storm", () -> storm(number));
            case PID_REUSE -> use(number, "reused");
            case FIFO_HSPERFDATA, LINKED_HSPERFDATA, RANDOM_HSPERFDATA -> replacePerformanceData(scenario);
            default -> use(0.5, "hostile");
        }
    }

    private static void daemon(String name, Runnable work) {
        Thread thread = new Thread(null, work, name, 256 << 10);
        thread.setDaemon(true);
        thread.start();
    }

    /** Uses CPU time on a thread: a part of a processor, in percent. */
    private static void use(double percent, String name) {
        daemon(name, () -> {
            long period = 40_000_000;
            long start = System.nanoTime();
            long used = BEAN.getCurrentThreadCpuTime();
            while (true) {
                long due = used + (long) ((System.nanoTime() - start) * percent / 100);
                while (BEAN.getCurrentThreadCpuTime() < due) spin();
                sleep(period);
            }
        });
    }

    private static void spin() {
        long sum = 0;
        for (int i = 0; i < 1_000; i++) sum += i ^ sum;
        sink = sum;
    }

    /** Starts threads with new names, which live for a second. */
    private static void createPools() {
        Random random = new Random(29);
        while (true) {
            for (int i = 0; i < 200; i++) {
                StringBuilder name = new StringBuilder("pool-");
                for (int j = 0; j < 12; j++) name.append((char) ('a' + random.nextInt(26)));
                daemon(name.toString(), () -> sleep(1_000_000_000));
            }
            sleep(1_000_000_000);
        }
    }

    /** Starts up to a number of threads per second, which end at once, and prints how many there were. */
    private static void storm(int perSecond) {
        long start = System.nanoTime();
        long started = 0;
        for (int second = 1; ; second++) {
            long end = start + second * 1_000_000_000L;
            long before = started;
            while (System.nanoTime() < end) {
                if (started - before < perSecond) {
                    daemon("storm-" + started++ % 1_000, HostileProgram::spin);
                } else {
                    sleep(1_000_000);
                }
            }
            System.out.println("rate " + (started - before));
        }
    }

    private static void replacePerformanceData(Scenario scenario) throws IOException {
        Path file = Path.of("/tmp", "hsperfdata_" + System.getProperty("user.name"), Long.toString(PID));
        if (scenario == Scenario.RANDOM_HSPERFDATA) {
            // Not all of it: the JVM itself uses its data, and the first bytes say that it is valid.
            byte[] bytes = Files.readAllBytes(file);
            byte[] random = new byte[bytes.length];
            new Random(PID).nextBytes(random);
            System.arraycopy(bytes, 0, random, 0, 16);
            Files.delete(file);
            Files.write(file, random);
            // The maps of the process have the name of a deleted file with this suffix.
            Files.write(file.resolveSibling(PID + " (deleted)"), random);
            return;
        }
        if (scenario == Scenario.LINKED_HSPERFDATA) {
            // What is behind the link is valid. Its time of access shows whether it was read. The link is relative,
            // since
            // an absolute one leads to another file if it is followed from outside of the mount namespace.
            Files.copy(file, HostileJvm.LINKED);
            Files.getFileAttributeView(HostileJvm.LINKED, BasicFileAttributeView.class)
                    .setTimes(null, HostileJvm.NEVER, null);
        }
        Files.delete(file);
        for (Path path : List.of(file, file.resolveSibling(PID + " (deleted)"))) {
            if (scenario == Scenario.FIFO_HSPERFDATA) HostileJvm.makeFifo(path);
            else Files.createSymbolicLink(path, path.getParent().relativize(HostileJvm.LINKED));
        }
    }

    static void sleep(long nanos) {
        try {
            Thread.sleep(nanos / 1_000_000, (int) (nanos % 1_000_000));
        } catch (InterruptedException e) {
            throw new IllegalStateException(e);
        }
    }
}
