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
import java.lang.management.ThreadMXBean;
import java.lang.reflect.Method;
import java.nio.file.Files;
import java.nio.file.LinkOption;
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
import org.taskclock.ThreadClock;
import org.taskclock.internal.JdkVersions;

/**
 * Checks that extreme conditions harm neither the program nor the measurements. On JDK 17, tests of virtual threads
 * check less.
 */
class RobustnessTest {
    @TempDir
    private Path directory;

    // ---- another agent

    /** Another agent. When called by the program, it redefines VirtualThread with the JDK's own class file. */
    public static final class RedefiningAgent {
        private static Instrumentation instrumentation;

        private RedefiningAgent() {}

        public static void premain(String options, Instrumentation given) {
            instrumentation = given;
        }

        static void redefine() throws Exception {
            Class<?> type = Class.forName("java.lang.VirtualThread");
            byte[] bytes =
                    Object.class.getResourceAsStream("VirtualThread.class").readAllBytes();
            instrumentation.redefineClasses(new ClassDefinition(type, bytes));
        }

        static Path jar(Path directory) throws IOException {
            Manifest manifest = new Manifest();
            manifest.getMainAttributes().put(Attributes.Name.MANIFEST_VERSION, "1.0");
            manifest.getMainAttributes().putValue("Premain-Class", RedefiningAgent.class.getName());
            manifest.getMainAttributes().putValue("Can-Redefine-Classes", "true");
            Path jar = directory.resolve("redefining-agent.jar");
            try (OutputStream out = Files.newOutputStream(jar);
                    JarOutputStream jarOut = new JarOutputStream(out, manifest)) {
                jarOut.flush();
            }
            return jar;
        }
    }

    @Test
    void shouldReapplyThePatchIfAnotherAgentUndoesIt() throws IOException, InterruptedException {
        if (JvmLauncher.feature() < JdkVersions.VIRTUAL_THREADS) {
            JvmLauncher.withAgent("")
                    .option("-javaagent:" + RedefiningAgent.jar(directory))
                    .run(Empty.class)
                    .assertSilent();
            return;
        }
        JvmLauncher jvm = JvmLauncher.withAgent("").option("-javaagent:" + RedefiningAgent.jar(directory));
        if (JvmLauncher.feature() >= JdkVersions.FOREIGN_FUNCTIONS) jvm.option("--enable-native-access=ALL-UNNAMED");
        JvmLauncher.Result result = jvm.run(PatchUndone.class);
        assertThat(result.exit()).as(result.toString()).isZero();
        assertThat(result.err().lines())
                .as(result.err())
                .hasSize(4)
                .filteredOn(line ->
                        line.contains("another agent undid the change to java.lang.VirtualThread: reapplied it"))
                .hasSize(3);
        assertThat(result.err()).contains("unavailable: vthreads: another agent keeps undoing the change");
    }

    static final class PatchUndone {
        public static void main(String[] args) throws Exception {
            TaskClockMXBean bean = AgentCheck.bean();
            assertThat(isAccounted()).isTrue();
            VirtualOriginTest.Stepper stepper = null;
            for (int i = 0; i < 4; i++) {
                VirtualOriginTest.awaitProof();
                stepper = new VirtualOriginTest.Stepper();
                stepper.run(() -> {});
                assertThat(ThreadClock.of(stepper.thread).cpuNanos()).isPositive();
                RedefiningAgent.redefine();
                assertThat(awaitAccounted()).isEqualTo(i < 3);
            }
            assertThat(bean.isVirtualThreadAccounting()).isFalse();
            assertThat(System.getProperty("taskclock.agent")).contains("vthreads=off", "unavailable: vthreads");
            assertThat(bean.getFeatures())
                    .filteredOn(part -> part.getName().equals("vthreads"))
                    .hasSize(1)
                    .allMatch(part ->
                            part.getState().equals("off") && part.getProblem().contains("another agent"));
            long own = VirtualOriginTest.totals()[1];
            stepper.run(VirtualOriginTest::burn);
            assertThat(ThreadClock.of(stepper.thread).cpuNanos()).isEqualTo(-1);
            assertThat(VirtualOriginTest.totals()[1] - own).as("scheduling").isLessThan(50_000_000);
            stepper.end();
        }

        private static boolean awaitAccounted() throws Exception {
            long end = System.nanoTime() + 4_000_000_000L;
            while (System.nanoTime() - end < 0) {
                if (isAccounted()) return true;
                Thread.sleep(50);
            }
            return false;
        }

        /** Returns whether the agent counts a mount. */
        private static boolean isAccounted() throws Exception {
            long before = AgentCheck.bean().getMounts();
            VirtualThreadStarter.start("", () -> {}).join();
            return AgentCheck.bean().getMounts() > before;
        }
    }

    // ---- exhausted resources

    /** The agent's threads must survive, even if the program interrupts them, and the JVM must not print anything. */
    @Test
    void shouldSurviveAFullHeapAndAFullStack(@TempDir Path summaries) throws IOException, InterruptedException {
        JvmLauncher.withAgent("yield=count,summary=" + summaries)
                .optimizing()
                .option("-Xmx64m", "-XX:+UseSerialGC")
                .run(FullHeapAndStack.class)
                .assertSilent();
        assertThat(summaries).isDirectoryContaining("glob:**.json");
    }

    static final class FullHeapAndStack {
        private static final long FULL_MILLIS = 3_500;
        private static final int DEEP_STACKS = 100;

        private static byte[] code;
        private static int loaded;

        /** A class that is defined many times, each time by a new class loader. */
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
            String file = "RobustnessTest$FullHeapAndStack$Loaded.class";
            try (InputStream in = FullHeapAndStack.class.getResourceAsStream(file)) {
                code = in.readAllBytes();
            }
            boolean virtual = Runtime.version().feature() >= JdkVersions.VIRTUAL_THREADS;
            if (virtual) VirtualThreadStarter.start("first", () -> {}).join();
            AgentCheck.bean();
            for (int i = 0; i < DEEP_STACKS; i++) {
                Thread thread = new Thread(null, FullHeapAndStack::overflowStack, "deep", 300_000 + i * 64L);
                thread.start();
                thread.join();
            }
            check(loaded > DEEP_STACKS, "classes loaded at the end of the stack: " + loaded);
            for (Thread thread : Thread.getAllStackTraces().keySet()) {
                if (thread != Thread.currentThread()) thread.interrupt();
            }
            fillHeap();
            if (virtual) check(isAlive("taskclock-watchdog"), "the watchdog thread has ended");
            check(isAlive("taskclock summary"), "the summary thread has ended");
        }

        private static void overflowStack() {
            try {
                descend(new int[1]);
            } catch (StackOverflowError e) {
                // expected
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
                // the stack is too short
            }
        }

        /** Fills the heap again and again, for longer than the agent's threads sleep. */
        private static void fillHeap() {
            List<byte[]> blocks = new ArrayList<>();
            long end = System.nanoTime() + FULL_MILLIS * 1_000_000;
            while (System.nanoTime() - end < 0) {
                int size = 1 << 20;
                while (size > 8) {
                    try {
                        blocks.add(new byte[size]);
                    } catch (OutOfMemoryError e) {
                        size /= 2;
                    }
                }
                for (int i = 0; i < 20; i++) {
                    try {
                        blocks.remove(blocks.size() - 1);
                        new Loader().load();
                    } catch (OutOfMemoryError | LinkageError e) {
                        // the heap is full
                    }
                }
            }
            blocks.clear();
        }

        private static boolean isAlive(String name) {
            return Thread.getAllStackTraces().keySet().stream()
                    .anyMatch(thread -> thread.getName().equals(name));
        }

        private static void check(boolean condition, String message) {
            if (!condition) throw new AssertionError(message);
        }
    }

    /** Each redefinition of a class leaks memory, and is counted as a loaded class. */
    @Test
    void shouldNotRedefineClassesRepeatedly() throws IOException, InterruptedException {
        JvmLauncher.withAgent(JvmLauncher.feature() < JdkVersions.VIRTUAL_THREADS ? "" : "virtual=mxbean")
                .run(RepeatedSwitching.class)
                .assertSilent();
    }

    static final class RepeatedSwitching {
        private static final int TIMES = 30;
        /** On JDK 21 to 24 the agent corrects getThreadUserTime, and undoes this each time. */
        private static final boolean IS_CORRECTED = ThreadTimes.hasUserTimeBug();

        public static void main(String[] args) throws Exception {
            TaskClockMXBean bean = AgentCheck.bean();
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
            bean.setThreadMXBeanReplaced(false);
            bean.setThreadMXBeanReplaced(true);
        }
    }

    /** The summary skips samples while the kernel cannot list the threads because all file descriptors are in use. */
    @Test
    void shouldCountNoTimeTwiceAfterAFailedListing(@TempDir Path summaries) throws IOException, InterruptedException {
        JvmLauncher.withAgent("summary=" + summaries)
                .wrappedBy(List.of("sh", "-c", "ulimit -n 200 && exec \"$0\" \"$@\""))
                .run(DescriptorsExhausted.class)
                .assertSilent();
        try (Stream<Path> files = Files.list(summaries)) {
            String json = Files.readString(files.findFirst().orElseThrow());
            List<Long> cpus = new ArrayList<>();
            Matcher matcher = Pattern.compile("\"cpuNanos\":(\\d+)").matcher(json);
            while (matcher.find()) cpus.add(Long.parseLong(matcher.group(1)));
            // The first value is the total of the process. The others are those of the pools, which do not overlap.
            long pools = cpus.stream().skip(1).mapToLong(cpu -> cpu).sum();
            assertThat(pools)
                    .isBetween(DescriptorsExhausted.BURNED_NANOS, cpus.get(0) + DescriptorsExhausted.BURNED_NANOS / 2);
        }
    }

    static final class DescriptorsExhausted {
        private static final long BURNED_NANOS = 1_500_000_000L;
        private static final com.sun.management.ThreadMXBean BEAN =
                (com.sun.management.ThreadMXBean) ManagementFactory.getThreadMXBean();

        public static void main(String[] args) throws Exception {
            AgentCheck.bean();
            while (BEAN.getCurrentThreadCpuTime() < BURNED_NANOS) Thread.onSpinWait();
            Thread.sleep(1_500); // so that a sample includes this time
            List<InputStream> files = new ArrayList<>();
            try {
                while (true) files.add(new FileInputStream("/dev/null"));
            } catch (IOException e) {
                Thread.sleep(2_500);
            }
            for (InputStream file : files) file.close();
        }
    }

    // ---- many carriers at once

    @Test
    void shouldKeepCarriersApart() throws IOException, InterruptedException {
        if (JvmLauncher.feature() < JdkVersions.VIRTUAL_THREADS) {
            JvmLauncher.withAgent("").run(Empty.class).assertSilent();
            return;
        }
        JvmLauncher.withAgent("")
                .option("--add-opens=java.base/java.lang=ALL-UNNAMED")
                .run(ManyCarriers.class)
                .assertSilent();
    }

    static final class ManyCarriers {
        private static final int CARRIERS = 2_000;

        public static void main(String[] args) throws Exception {
            VirtualThreadStarter.start("first", () -> {}).join();
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
                        // The virtual thread runs on this thread, because its scheduler runs it on the thread that
                        // starts it.
                        newVirtualThread(Runnable::run, "many", () -> {}).start();
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
            TaskClockMXBean bean = AgentCheck.bean();
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

    /** Creates a virtual thread with a custom scheduler. */
    private static Thread newVirtualThread(Executor scheduler, String name, Runnable task) throws Exception {
        Class<?> builders = Class.forName("java.lang.ThreadBuilders");
        Method method =
                builders.getDeclaredMethod("newVirtualThread", Executor.class, String.class, int.class, Runnable.class);
        method.setAccessible(true);
        return (Thread) method.invoke(null, scheduler, name, 0, task);
    }

    // ---- accounting that starts while threads are mounted

    /** The patch for yields is already applied, so mounts may occur before the classes that they need are defined. */
    @Test
    void shouldStartAccountingWhileThreadsAreMounted() throws IOException, InterruptedException {
        JvmLauncher.withAgent("yield=count,vthreads=off")
                .run(AccountingStart.class)
                .assertSilent();
    }

    @SuppressWarnings("ThreadPriorityCheck") // yields are under test
    static final class AccountingStart {
        private static volatile boolean isDone;

        public static void main(String[] args) throws Exception {
            TaskClockMXBean bean = AgentCheck.bean();
            if (JvmLauncher.feature() < JdkVersions.VIRTUAL_THREADS) {
                assertThat(bean.isVirtualThreadAccounting()).isFalse();
                return;
            }
            List<Thread> threads = new ArrayList<>();
            for (int i = 0; i < 8; i++) {
                threads.add(VirtualThreadStarter.start("busy", () -> {
                    while (!isDone) Thread.yield();
                }));
            }
            Thread.sleep(200);
            bean.setVirtualThreadAccounting(true);
            Thread.sleep(200);
            isDone = true;
            for (Thread thread : threads) thread.join();
            assertThat(bean.getFailures()).as(bean.getLastFailure()).isZero();
            assertThat(bean.getVirtualThreads())
                    .filteredOn(group -> group.getName().equals("busy"))
                    .hasSize(1)
                    .allMatch(group -> group.getEnded() == 8 && group.getCpuNanos() > 0);
        }
    }

    // ---- class loading

    /** The JVM spins a class for a method handle at its 128th call. That call must not happen during a mount. */
    @Test
    void shouldLoadNoClassesDuringAMount() throws IOException, InterruptedException {
        Path loaded = directory.resolve("loaded");
        JvmLauncher.withAgent("")
                .option("-Xlog:class+load:file=" + loaded, "-Dloaded=" + loaded)
                .option("-Djdk.virtualThreadScheduler.parallelism=1")
                .run(ManyMounts.class)
                .assertSilent();
    }

    static final class ManyMounts {
        public static void main(String[] args) throws Exception {
            Path loaded = Path.of(System.getProperty("loaded"));
            if (JvmLauncher.feature() < JdkVersions.VIRTUAL_THREADS) {
                assertThat(Files.readString(loaded)).doesNotContain("TaskClockAccount");
                return;
            }
            mount(20);
            // Waits until the deferred features are installed and the calls are linked.
            Thread.sleep(3_000);
            mount(20);
            long before = spunClasses(loaded);
            mount(3_000);
            assertThat(spunClasses(loaded)).isEqualTo(before);
        }

        private static void mount(int times) throws InterruptedException {
            VirtualThreadStarter.start("", () -> {
                        for (int i = 0; i < times; i++) LockSupport.parkNanos(1);
                    })
                    .join();
        }

        private static long spunClasses(Path loaded) throws IOException {
            try (Stream<String> lines = Files.lines(loaded)) {
                return lines.filter(line -> line.contains("LambdaForm")).count();
            }
        }
    }

    // ---- the summary

    @Test
    void shouldGiveSummariesUniqueNamesAndNotFollowLinks() throws IOException, InterruptedException {
        Path victim = Files.writeString(directory.resolve("victim"), "untouched");
        Path summaries = Files.createDirectory(directory.resolve("summaries"));
        JvmLauncher.withAgent("summary=" + summaries)
                .option("-Dsummaries=" + summaries, "-Dvictim=" + victim)
                .run(PlantedLinks.class)
                .assertSilent();
        try (Stream<Path> files = Files.list(summaries)) {
            List<Path> links = files.filter(Files::isSymbolicLink).toList();
            assertThat(links).as("the agent used one of the names").hasSize(PlantedLinks.LINKS - 1);
            for (Path link : links) Files.delete(link);
        }
        JvmLauncher.withAgent("summary=" + summaries).run(Empty.class).assertSilent();
        try (Stream<Path> files = Files.list(summaries)) {
            assertThat(files)
                    .hasSize(2)
                    .allMatch(file -> Files.isRegularFile(file, LinkOption.NOFOLLOW_LINKS))
                    .allMatch(file -> file.getFileName().toString().matches("[^/]+-[0-9]+-[0-9]{13}\\.json"));
        }
        assertThat(victim).hasContent("untouched");
    }

    /** The command line names a file for the reply when it loads the agent. */
    @Test
    void shouldNotWriteItsReplyToAFileThatExistsOrALink() throws IOException, InterruptedException {
        Path victim = Files.writeString(directory.resolve("victim"), "untouched");
        Path link = Files.createSymbolicLink(directory.resolve("link"), victim);
        Path dangling = directory.resolve("dangling");
        Path toNothing = Files.createSymbolicLink(directory.resolve("to-nothing"), dangling);
        for (Path planted : List.of(victim, link, toNothing))
            JvmLauncher.withAgent(";reply=" + planted).run(Empty.class).assertSilent();
        assertThat(victim).hasContent("untouched");
        assertThat(dangling).doesNotExist();
        Path reply = directory.resolve("reply");
        JvmLauncher.withAgent(";reply=" + reply).run(Empty.class).assertSilent();
        assertThat(reply).content().startsWith("version=");
    }

    static final class PlantedLinks {
        private static final int LINKS = 5_000;

        public static void main(String[] args) throws Exception {
            Path summaries = Path.of(System.getProperty("summaries"));
            Path victim = Path.of(System.getProperty("victim"));
            // An attacker guesses the name of the temporary file.
            String host = Files.readString(Path.of("/proc/sys/kernel/hostname"))
                    .trim()
                    .replaceAll("[^A-Za-z0-9._]", "_");
            long start = ManagementFactory.getRuntimeMXBean().getStartTime();
            for (long millis = start; millis < start + LINKS; millis++) {
                Files.createSymbolicLink(
                        summaries.resolve(host + "-" + ProcessHandle.current().pid() + "-" + millis + ".part"), victim);
            }
        }
    }

    static final class Empty {
        public static void main(String[] args) {}
    }

    /** The JVM checks the calls that the agent makes while a thread ends. Detaching stops them. */
    @Test
    void shouldCountThreadsThatEnd(@TempDir Path summaries) throws IOException, InterruptedException {
        JvmLauncher.withAgent("summary=" + summaries)
                .option("-Xcheck:jni")
                .run(ShortThreads.class)
                .assertSilent();
        try (Stream<Path> files = Files.list(summaries)) {
            String json = Files.readString(files.findFirst().orElseThrow());
            Matcher pool = Pattern.compile(
                            "\"name\":\"short-#\",\"example\":\"short-0\",\"java\":true,\"threads\":(\\d+),"
                                    + "\"cpuNanos\":(\\d+)")
                    .matcher(json);
            assertThat(pool.find()).as(json).isTrue();
            assertThat(pool.group(1)).isEqualTo("2000");
            assertThat(Long.parseLong(pool.group(2))).isGreaterThan(2_000 * ShortThreads.NANOS);
        }
        JvmLauncher.withAgent("summary=" + summaries)
                .run(ShortThreads.class, "detach")
                .assertSilent();
        try (Stream<Path> files = Files.list(summaries)) {
            assertThat(files).as("a detached agent writes no summary").hasSize(1);
        }
    }

    static final class ShortThreads {
        private static final long NANOS = 100_000;

        public static void main(String[] args) throws Exception {
            ThreadMXBean bean = ManagementFactory.getThreadMXBean();
            if (args.length > 0) AgentCheck.bean().detach();
            for (int i = 0; i < 2_000; i++) {
                Thread thread = new Thread(
                        () -> {
                            while (bean.getCurrentThreadCpuTime() < NANOS) Thread.onSpinWait();
                        },
                        "short-" + i);
                thread.start();
                thread.join();
            }
        }
    }

    // ---- records of threads that yielded

    /** Threads start and end while another one reads the counts. No count may be lost, and no record may leak. */
    @Test
    void shouldLoseNoYieldsOfShortThreads() throws IOException, InterruptedException {
        JvmLauncher.withAgent("yield=count,vthreads=off")
                .run(ShortYieldingThreads.class)
                .assertSilent();
    }

    @SuppressWarnings("ThreadPriorityCheck") // yields are under test
    static final class ShortYieldingThreads {
        private static final int WAVES = 60;
        private static final int THREADS = 50;
        private static final int YIELDS = 7;
        private static final int NAMES = 1_300;
        private static volatile boolean isDone;

        public static void main(String[] args) throws Exception {
            TaskClockMXBean bean = AgentCheck.bean();
            Thread reader = new Thread(() -> {
                while (!isDone) bean.getYielders();
            });
            reader.start();
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
            isDone = true;
            reader.join();
            long yields = 0;
            for (TaskClockMXBean.Yielder yielder : bean.getYielders()) {
                if (yielder.getName().startsWith("short-")) yields += yielder.getYields();
            }
            assertThat(yields).isEqualTo((long) WAVES * THREADS * YIELDS);
            assertThat(bean.isTruncated()).isFalse();
            for (int i = 0; i < NAMES; i++) {
                Thread thread = new Thread(
                        Thread::yield,
                        "name " + Integer.toBinaryString(i).replace('0', 'a').replace('1', 'b'));
                thread.start();
                thread.join();
            }
            assertThat(bean.getYielders()).hasSizeLessThan(NAMES);
            assertThat(bean.isTruncated()).as("more names than are kept").isTrue();
        }
    }

    /** Each thread alone would cause about twenty stack walks a second. */
    @Test
    void shouldLimitTheStackWalksOfAllThreads() throws IOException, InterruptedException {
        JvmLauncher.withAgent("yield=count,vthreads=off")
                .run(ManyYieldingThreads.class)
                .assertSilent();
    }

    @SuppressWarnings("ThreadPriorityCheck") // yields are under test
    static final class ManyYieldingThreads {
        private static final int THREADS = 400;
        private static final double SECONDS = 2;

        public static void main(String[] args) throws Exception {
            TaskClockMXBean bean = AgentCheck.bean();
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
            assertThat(sampled).as("yields that the samples represent").isBetween(yields / 4, yields);
        }
    }
}
