// SPDX-License-Identifier: Apache-2.0
// Copyright the TaskClock authors
package org.taskclock.agent;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.io.OutputStream;
import java.lang.instrument.ClassDefinition;
import java.lang.instrument.Instrumentation;
import java.lang.management.ManagementFactory;
import java.lang.reflect.Method;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.Executor;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.locks.LockSupport;
import java.util.jar.Attributes;
import java.util.jar.JarOutputStream;
import java.util.jar.Manifest;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** What could harm a program or a figure, and does not. Cases that need virtual threads check something else on JDK 17. */
class HarmTest {
    @TempDir
    private Path directory;

    // ---- another agent

    /** Another agent, which redefines VirtualThread as the JDK ships it when the program asks for it. */
    public static final class Redefiner {
        private static Instrumentation jvm;

        private Redefiner() {}

        public static void premain(String options, Instrumentation instrumentation) {
            jvm = instrumentation;
        }

        static void redefine() throws Exception {
            Class<?> type = Class.forName("java.lang.VirtualThread");
            byte[] bytes =
                    Object.class.getResourceAsStream("VirtualThread.class").readAllBytes();
            jvm.redefineClasses(new ClassDefinition(type, bytes));
        }

        static Path jar(Path directory) throws IOException {
            Manifest manifest = new Manifest();
            manifest.getMainAttributes().put(Attributes.Name.MANIFEST_VERSION, "1.0");
            manifest.getMainAttributes().putValue("Premain-Class", Redefiner.class.getName());
            manifest.getMainAttributes().putValue("Can-Redefine-Classes", "true");
            Path jar = directory.resolve("redefiner.jar");
            try (OutputStream out = Files.newOutputStream(jar);
                    JarOutputStream made = new JarOutputStream(out, manifest)) {
                made.flush();
            }
            return jar;
        }
    }

    @Test
    void shouldMendWhatAnotherAgentUndoes() throws IOException, InterruptedException {
        if (Jvm.feature() < 21) {
            Jvm.with("")
                    .option("-javaagent:" + Redefiner.jar(directory))
                    .run(Empty.class)
                    .silently();
            return;
        }
        Jvm jvm = Jvm.with("").option("-javaagent:" + Redefiner.jar(directory));
        Jvm.End end = jvm.run(Undone.class);
        assertThat(end.exit()).as(end.toString()).isZero();
        assertThat(end.err().lines())
                .as(end.err())
                .hasSize(4)
                .filteredOn(line -> line.contains("another agent had undone the change of java.lang.VirtualThread"))
                .hasSize(3);
        assertThat(end.err()).contains("left out: vthreads: another agent keeps undoing the change");
    }

    static final class Undone {
        public static void main(String[] args) throws Exception {
            TaskClockMXBean bean = Sample.bean();
            assertThat(isAccounted()).isTrue();
            for (int i = 0; i < 4; i++) {
                // So that the agent has seen that its change works.
                Thread.sleep(2_500);
                Redefiner.redefine();
                assertThat(isAccounted()).isFalse();
                assertThat(awaitAccounted()).isEqualTo(i < 3);
            }
            assertThat(bean.isAccountingVirtualThreads()).isFalse();
            assertThat(System.getProperty("taskclock.agent")).contains("vthreads=off", "left out: vthreads");
            assertThat(bean.getParts())
                    .filteredOn(part -> part.getName().equals("vthreads"))
                    .allMatch(part ->
                            part.getState().equals("off") && part.getProblem().contains("another agent"));
        }

        private static boolean awaitAccounted() throws Exception {
            long end = System.nanoTime() + 4_000_000_000L;
            while (System.nanoTime() - end < 0) {
                if (isAccounted()) return true;
                Thread.sleep(50);
            }
            return false;
        }

        /** Whether a virtual thread is mounted under the eyes of the agent. */
        private static boolean isAccounted() throws Exception {
            long before = Sample.bean().getMounts();
            VirtualThread.start("", () -> {}).join();
            return Sample.bean().getMounts() > before;
        }
    }

    // ---- many carriers at one instant

    @Test
    void shouldKeepCarriersApart() throws IOException, InterruptedException {
        if (Jvm.feature() < 21) {
            Jvm.with("").run(Empty.class).silently();
            return;
        }
        Jvm.with("")
                .option("--add-opens=java.base/java.lang=ALL-UNNAMED")
                .run(Many.class)
                .silently();
    }

    static final class Many {
        private static final int CARRIERS = 2_000;

        public static void main(String[] args) throws Exception {
            VirtualThread.start("first", () -> {}).join();
            CountDownLatch ready = new CountDownLatch(CARRIERS);
            CountDownLatch go = new CountDownLatch(1);
            CountDownLatch mounted = new CountDownLatch(CARRIERS);
            CountDownLatch end = new CountDownLatch(1);
            ExecutorService pool = Executors.newFixedThreadPool(CARRIERS);
            for (int i = 0; i < CARRIERS; i++) {
                pool.execute(() -> {
                    ready.countDown();
                    await(go);
                    try {
                        // On this thread, as it starts on the thread that starts it.
                        virtual(Runnable::run, "many", () -> {}).start();
                        mounted.countDown();
                    } catch (Exception e) {
                        throw new AssertionError(e);
                    }
                    await(end);
                });
            }
            ready.await();
            go.countDown();
            mounted.await();
            TaskClockMXBean bean = Sample.bean();
            List<Long> tids = new ArrayList<>();
            for (TaskClockMXBean.Carrier carrier : bean.getCarriers()) {
                if (carrier.getTid() != 0) tids.add(carrier.getTid());
                assertThat(carrier.getCpuNanos()).isNotNegative();
                assertThat(carrier.getCarriedNanos()).isNotNegative();
                assertThat(carrier.getOwnNanos()).isNotNegative();
            }
            assertThat(tids).doesNotHaveDuplicates().hasSizeGreaterThanOrEqualTo(CARRIERS);
            long ended = 0;
            for (TaskClockMXBean.VirtualThreadGroup group : bean.getVirtualThreads()) {
                if (group.getName().equals("many")) ended = group.getEnded();
            }
            assertThat(ended).isEqualTo(CARRIERS);
            end.countDown();
            pool.shutdown();
        }

        private static void await(CountDownLatch latch) {
            try {
                latch.await();
            } catch (InterruptedException e) {
                throw new AssertionError(e);
            }
        }
    }

    /** Virtual threads on a scheduler of the test's. */
    private static Thread virtual(Executor scheduler, String name, Runnable task) throws Exception {
        Class<?> builders = Class.forName("java.lang.ThreadBuilders");
        Method make =
                builders.getDeclaredMethod("newVirtualThread", Executor.class, String.class, int.class, Runnable.class);
        make.setAccessible(true);
        return (Thread) make.invoke(null, scheduler, name, 0, task);
    }

    // ---- accounts come while threads are mounted

    /** The class is changed for yields already, so mounts may come before what they need is defined. */
    @Test
    void shouldBeginToAccountWhileThreadsAreMounted() throws IOException, InterruptedException {
        Jvm.with("yield=count,vthreads=off").run(Beginning.class).silently();
    }

    @SuppressWarnings("ThreadPriorityCheck") // yielding is what is tested
    static final class Beginning {
        private static volatile boolean isOver;

        public static void main(String[] args) throws Exception {
            TaskClockMXBean bean = Sample.bean();
            if (Jvm.feature() < 21) {
                assertThat(bean.isAccountingVirtualThreads()).isFalse();
                return;
            }
            List<Thread> threads = new ArrayList<>();
            for (int i = 0; i < 8; i++) {
                threads.add(VirtualThread.start("busy", () -> {
                    while (!isOver) Thread.yield();
                }));
            }
            Thread.sleep(200);
            bean.setAccountingVirtualThreads(true);
            Thread.sleep(200);
            isOver = true;
            for (Thread thread : threads) thread.join();
            assertThat(bean.getFailures()).as(bean.getLastFailure()).isZero();
            assertThat(bean.getVirtualThreads())
                    .filteredOn(group -> group.getName().equals("busy"))
                    .hasSize(1)
                    .allMatch(group -> group.getEnded() == 8 && group.getCpuNanos() > 0);
        }
    }

    // ---- nothing is loaded in a mount

    /** The JVM makes a class for a method handle at its 128th call: that may not be a mount. */
    @Test
    void shouldLoadNothingInAMount() throws IOException, InterruptedException {
        Path loaded = directory.resolve("loaded");
        Jvm.with("")
                .option("-Xlog:class+load:file=" + loaded, "-Dloaded=" + loaded)
                .option("-Djdk.virtualThreadScheduler.parallelism=1")
                .run(Mounts.class)
                .silently();
    }

    static final class Mounts {
        public static void main(String[] args) throws Exception {
            Path loaded = Path.of(System.getProperty("loaded"));
            if (Jvm.feature() < 21) {
                assertThat(Files.readString(loaded)).doesNotContain("TaskClockAccount");
                return;
            }
            mount(20);
            // Until the calls are linked.
            Thread.sleep(Jvm.feature() < 22 ? 0 : 3_000);
            mount(20);
            long before = spun(loaded);
            mount(3_000);
            assertThat(spun(loaded)).isEqualTo(before);
        }

        private static void mount(int times) throws InterruptedException {
            VirtualThread.start("", () -> {
                        for (int i = 0; i < times; i++) LockSupport.parkNanos(1);
                    })
                    .join();
        }

        private static long spun(Path loaded) throws IOException {
            try (Stream<String> lines = Files.lines(loaded)) {
                return lines.filter(line -> line.contains("LambdaForm")).count();
            }
        }
    }

    // ---- the summary

    @Test
    void shouldNameSummariesApartAndFollowNoLink() throws IOException, InterruptedException {
        Path victim = Files.writeString(directory.resolve("victim"), "untouched");
        Path folder = Files.createDirectory(directory.resolve("summaries"));
        Jvm.with("summary=" + folder)
                .option("-Dfolder=" + folder, "-Dvictim=" + victim)
                .run(Linked.class)
                .silently();
        Jvm.with("summary=" + folder).run(Empty.class).silently();
        try (Stream<Path> files = Files.list(folder)) {
            assertThat(files)
                    .hasSize(2)
                    .allMatch(file -> file.getFileName().toString().matches("[^/]+-[0-9]+-[0-9]{13}\\.json"));
        }
        assertThat(victim).hasContent("untouched");
    }

    static final class Linked {
        public static void main(String[] args) throws Exception {
            Path folder = Path.of(System.getProperty("folder"));
            Path victim = Path.of(System.getProperty("victim"));
            // Somebody guesses the name of the temporary file.
            String host = Files.readString(Path.of("/proc/sys/kernel/hostname"))
                    .trim()
                    .replaceAll("[^A-Za-z0-9._]", "_");
            long start = ManagementFactory.getRuntimeMXBean().getStartTime();
            for (long millis = start; millis < start + 1_500; millis++) {
                Files.createSymbolicLink(
                        folder.resolve(host + "-" + ProcessHandle.current().pid() + "-" + millis + ".part"), victim);
            }
            Runtime.getRuntime().addShutdownHook(new Thread(() -> {
                try {
                    Thread.sleep(300);
                    for (long millis = start; millis < start + 1_500; millis++) {
                        Files.deleteIfExists(folder.resolve(
                                host + "-" + ProcessHandle.current().pid() + "-" + millis + ".part"));
                    }
                } catch (IOException | InterruptedException e) {
                    throw new AssertionError(e);
                }
            }));
        }
    }

    static final class Empty {
        public static void main(String[] args) {}
    }

    // ---- records of threads that yielded

    /** Threads come and go while others look: none is lost, and no record stays taken. */
    @Test
    void shouldLoseNoThreadThatYields() throws IOException, InterruptedException {
        Jvm.with("yield=count,vthreads=off").run(Yielding.class).silently();
    }

    @SuppressWarnings("ThreadPriorityCheck") // yielding is what is tested
    static final class Yielding {
        private static final int WAVES = 60;
        private static final int THREADS = 50;
        private static final int YIELDS = 7;
        private static volatile boolean isOver;

        public static void main(String[] args) throws Exception {
            TaskClockMXBean bean = Sample.bean();
            Thread looking = new Thread(() -> {
                while (!isOver) bean.getYielders();
            });
            looking.start();
            for (int w = 0; w < WAVES; w++) {
                List<Thread> threads = new ArrayList<>();
                for (int t = 0; t < THREADS; t++) {
                    Thread thread = new Thread(
                            () -> {
                                for (int i = 0; i < YIELDS; i++) Thread.yield();
                            },
                            "short-" + t);
                    threads.add(thread);
                    thread.start();
                }
                for (Thread thread : threads) thread.join();
            }
            isOver = true;
            looking.join();
            long yields = 0;
            for (TaskClockMXBean.Yielder yielder : bean.getYielders()) {
                if (yielder.getName().startsWith("short-")) yields += yielder.getYields();
            }
            assertThat(yields).isEqualTo((long) WAVES * THREADS * YIELDS);
            assertThat(bean.isOverflown()).isFalse();
        }
    }

    /** Each thread alone would have some twenty stacks a second walked. */
    @Test
    void shouldLimitTheStacksOfAllThreads() throws IOException, InterruptedException {
        Jvm.with("yield=count,vthreads=off").run(Stacks.class).silently();
    }

    @SuppressWarnings("ThreadPriorityCheck") // yielding is what is tested
    static final class Stacks {
        private static final int THREADS = 400;
        private static final double SECONDS = 2;

        public static void main(String[] args) throws Exception {
            TaskClockMXBean bean = Sample.bean();
            long end = System.nanoTime() + (long) (SECONDS * 1e9);
            List<Thread> threads = new ArrayList<>();
            for (int i = 0; i < THREADS; i++) {
                Thread thread = new Thread(() -> {
                    while (System.nanoTime() - end < 0) {
                        Thread.yield();
                        LockSupport.parkNanos(1_000_000);
                    }
                });
                threads.add(thread);
                thread.start();
            }
            long start = bean.getStacks();
            long since = System.nanoTime();
            for (Thread thread : threads) thread.join();
            double seconds = (System.nanoTime() - since) / 1e9;
            double perSecond = (bean.getStacks() - start) / seconds;
            assertThat(perSecond).isBetween(20.0, 2 * 1e9 / bean.getTickNanos() * 1.1);
            long yields = 0;
            for (TaskClockMXBean.Yielder yielder : bean.getYielders()) yields += yielder.getYields();
            long sampled = 0;
            for (TaskClockMXBean.YieldSite site : bean.getYieldSites()) sampled += site.getYields();
            assertThat(sampled).as("what the stacks stand for").isBetween(yields / 4, yields);
        }
    }
}
