// SPDX-License-Identifier: Apache-2.0
// Copyright the TaskClock authors
package org.taskclock.agent;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.FileInputStream;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.lang.instrument.ClassDefinition;
import java.lang.instrument.Instrumentation;
import java.lang.management.ClassLoadingMXBean;
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
import java.util.regex.Matcher;
import java.util.regex.Pattern;
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
                    .hasSize(1)
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

    /** The agent's threads survive, also when the program interrupts them, and the JVM prints nothing. */
    @Test
    void shouldSurviveAFullHeapAndAFullStack(@TempDir Path summaries) throws IOException, InterruptedException {
        Jvm.with("yield=count,summary=" + summaries)
                .option("-Xmx64m", "-XX:+UseSerialGC")
                .run(Full.class)
                .silently();
        assertThat(summaries).isDirectoryContaining("glob:**.json");
    }

    static final class Full {
        private static final long FULL_MILLIS = 3_500;
        private static final int DEEP = 100;

        private static byte[] code;
        private static int loaded;

        /** What is loaded again and again, by a class loader each time. */
        static final class Loaded {}

        private static final class Loader extends ClassLoader {
            private Loader() {
                super(null);
            }

            private void load() {
                defineClass(null, code, 0, code.length);
                loaded++;
            }
        }

        public static void main(String[] args) throws Exception {
            try (InputStream in = Full.class.getResourceAsStream("HarmTest$Full$Loaded.class")) {
                code = in.readAllBytes();
            }
            boolean virtual = Runtime.version().feature() >= 21;
            if (virtual) VirtualThread.start("first", () -> {}).join();
            Sample.bean();
            for (int i = 0; i < DEEP; i++) {
                Thread thread = new Thread(null, Full::tryToDescend, "deep", 300_000 + i * 64L);
                thread.start();
                thread.join();
            }
            check(loaded > DEEP, "loaded at the end of the stack: " + loaded);
            for (Thread thread : Thread.getAllStackTraces().keySet()) {
                if (thread != Thread.currentThread()) thread.interrupt();
            }
            fill();
            if (virtual) check(isAlive("taskclock-watchdog"), "the watchdog has ended");
            check(isAlive("taskclock summary"), "the summary has ended");
        }

        private static void tryToDescend() {
            try {
                descend(new int[1]);
            } catch (StackOverflowError e) {
                // as it should
            }
        }

        @SuppressWarnings("InfiniteRecursion") // until the stack is full
        private static void descend(int[] deepest) {
            int depth = ++deepest[0];
            try {
                descend(deepest);
            } catch (StackOverflowError e) {
                if (deepest[0] - depth < 1_500 && (deepest[0] - depth) % 7 == 0) tryToLoad();
                throw e;
            }
        }

        private static void tryToLoad() {
            try {
                new Loader().load();
            } catch (StackOverflowError | LinkageError e) {
                // the stack does not suffice
            }
        }

        /** Leaves no room, then little room, for longer than the agent's threads sleep. */
        private static void fill() {
            List<byte[]> all = new ArrayList<>();
            long end = System.nanoTime() + FULL_MILLIS * 1_000_000;
            while (System.nanoTime() - end < 0) {
                int size = 1 << 20;
                while (size > 8) {
                    try {
                        all.add(new byte[size]);
                    } catch (OutOfMemoryError e) {
                        size /= 2;
                    }
                }
                for (int i = 0; i < 20; i++) {
                    try {
                        all.remove(all.size() - 1);
                        new Loader().load();
                    } catch (OutOfMemoryError | LinkageError e) {
                        // the heap does not suffice
                    }
                }
            }
            all.clear();
        }

        private static boolean isAlive(String name) {
            return Thread.getAllStackTraces().keySet().stream()
                    .anyMatch(thread -> thread.getName().equals(name));
        }

        private static void check(boolean holds, String otherwise) {
            if (!holds) throw new AssertionError(otherwise);
        }
    }

    /** Each redefinition of a class leaves memory behind, and counts as a loaded class. */
    @Test
    void shouldNotRedefineClassesAgainAndAgain() throws IOException, InterruptedException {
        Jvm.with(Jvm.feature() < 21 ? "" : "virtual=mxbean").run(Switched.class).silently();
    }

    static final class Switched {
        private static final int TIMES = 30;
        /** JDK 21 to 24 correct getThreadUserTime, which is taken back each time. */
        private static final boolean IS_CORRECTED =
                Runtime.version().feature() >= 21 && Runtime.version().feature() < 25;

        public static void main(String[] args) throws Exception {
            TaskClockMXBean bean = Sample.bean();
            change(bean);
            ClassLoadingMXBean classes = ManagementFactory.getClassLoadingMXBean();
            long before = classes.getTotalLoadedClassCount();
            for (int i = 0; i < TIMES; i++) change(bean);
            assertThat(classes.getTotalLoadedClassCount() - before)
                    .isLessThan(IS_CORRECTED ? 4 * TIMES + TIMES : TIMES / 2);
        }

        private static void change(TaskClockMXBean bean) {
            bean.setEnabled(false);
            bean.setEnabled(true);
            bean.setThreadTimes(false);
            bean.setThreadTimes(true);
        }
    }

    /** While the kernel cannot list the threads, as all file descriptors are in use, the summary waits. */
    @Test
    void shouldNotCountTwiceAfterAFailedListing(@TempDir Path summaries) throws IOException, InterruptedException {
        Jvm.with("summary=" + summaries)
                .behind(List.of("sh", "-c", "ulimit -n 200 && exec \"$0\" \"$@\""))
                .run(Exhausted.class)
                .silently();
        try (Stream<Path> files = Files.list(summaries)) {
            String json = Files.readString(files.findFirst().orElseThrow());
            List<Long> cpus = new ArrayList<>();
            Matcher matcher = Pattern.compile("\"cpuNanos\":(\\d+)").matcher(json);
            while (matcher.find()) cpus.add(Long.parseLong(matcher.group(1)));
            // The process first, then its pools, of which no two hold the same time.
            long pools = cpus.stream().skip(1).mapToLong(cpu -> cpu).sum();
            assertThat(pools).isBetween(Exhausted.BURNT_NANOS, cpus.get(0) + Exhausted.BURNT_NANOS / 2);
        }
    }

    static final class Exhausted {
        private static final long BURNT_NANOS = 1_500_000_000L;
        private static final com.sun.management.ThreadMXBean CPU =
                (com.sun.management.ThreadMXBean) ManagementFactory.getThreadMXBean();

        public static void main(String[] args) throws Exception {
            Sample.bean();
            while (CPU.getCurrentThreadCpuTime() < BURNT_NANOS) Thread.onSpinWait();
            Thread.sleep(1_500); // so that a sample has it
            List<InputStream> all = new ArrayList<>();
            try {
                while (true) all.add(new FileInputStream("/dev/null"));
            } catch (IOException e) {
                Thread.sleep(2_500);
            }
            for (InputStream each : all) each.close();
        }
    }

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
