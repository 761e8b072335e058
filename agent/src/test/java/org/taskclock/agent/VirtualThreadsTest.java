// SPDX-License-Identifier: Apache-2.0
// Copyright the TaskClock authors
package org.taskclock.agent;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.within;
import static org.assertj.core.api.Assumptions.assumeThat;

import com.sun.management.ThreadMXBean;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.lang.management.ManagementFactory;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Comparator;
import java.util.HashSet;
import java.util.List;
import java.util.Random;
import java.util.Set;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.locks.LockSupport;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.Supplier;
import java.util.stream.Stream;
import javax.management.JMException;
import javax.management.MBeanServer;
import javax.management.ObjectName;
import jdk.jfr.Configuration;
import jdk.jfr.Recording;
import jdk.jfr.consumer.RecordedEvent;
import jdk.jfr.consumer.RecordingFile;
import one.profiler.AsyncProfiler;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import org.taskclock.AccountType;
import org.taskclock.AccountUsage;
import org.taskclock.ClockId;
import org.taskclock.CpuAccount;
import org.taskclock.CpuAccounts;
import org.taskclock.CpuSection;
import org.taskclock.CpuTime;
import org.taskclock.CpuUsage;
import org.taskclock.TaskClock;
import org.taskclock.ThreadClock;
import org.taskclock.internal.JdkVersions;

/** Checks that the CPU times of virtual threads are exact and add up. */
@SuppressWarnings("ThreadPriorityCheck") // yields are under test
class VirtualThreadsTest {
    private static final boolean SUPPORTED = JvmLauncher.feature() >= JdkVersions.VIRTUAL_THREADS;

    static JvmLauncher agent(String options) {
        return JvmLauncher.withAgent(options)
                .optimizing()
                .option(
                        JvmLauncher.feature() >= JdkVersions.FOREIGN_FUNCTIONS
                                ? "--enable-native-access=ALL-UNNAMED"
                                : "-Dnothing=");
    }

    /**
     * Runs a program. On a JDK without virtual threads, checks that the agent says so and that its other features work.
     */
    private static void runOrCheckMessage(Class<?> program, String options, String... arguments)
            throws IOException, InterruptedException {
        if (SUPPORTED) {
            agent(options).run(program, arguments).assertSilent();
            return;
        }
        JvmLauncher.Result result = agent(options.isEmpty() ? "vthreads=on" : "vthreads=on," + options)
                .run(NoVirtualThreads.class);
        assertThat(result.exit()).isZero();
        String reason = ": virtual threads require JDK 21 or later\n";
        String virtual = options.contains("virtual=") ? "taskclock: agent: unavailable: virtual" + reason : "";
        assertThat(result.err()).isEqualTo(virtual + "taskclock: agent: unavailable: vthreads" + reason);
    }

    static final class NoVirtualThreads {
        public static void main(String[] args) {
            assertThat(System.getProperty("taskclock.agent")).contains("threadmxbean=on", "vthreads=off; unavailable");
        }
    }

    // ---- the thread's own time

    private static volatile double unusedSink;

    /** Returns the time of the kernel thread that runs this code. */
    private static long kernelNanos() {
        return ClockId.thread(0, ClockId.Kind.SCHED).nanos();
    }

    /** Uses CPU time without leaving the carrier. Returns the CPU time that was used. */
    private static long burn(long nanos) {
        long start = kernelNanos();
        long spent;
        do {
            for (int i = 0; i < 1_000; i++) unusedSink = Math.sqrt(unusedSink + i);
            spent = kernelNanos() - start;
        } while (spent < nanos);
        return spent;
    }

    @ParameterizedTest
    @ValueSource(strings = {"1", "2", "4"})
    void shouldBeExact(String carriers) throws IOException, InterruptedException {
        if (!SUPPORTED) {
            runOrCheckMessage(RandomPrograms.class, "");
            return;
        }
        agent("")
                .option(
                        "-Djdk.virtualThreadScheduler.parallelism=" + carriers,
                        "-Djdk.virtualThreadScheduler.maxPoolSize=8")
                .run(RandomPrograms.class)
                .assertSilent();
    }

    /** Flight Recorder takes samples while the JVM continuously takes thread dumps. */
    @Test
    void shouldBeExactDuringRecordingsAndThreadDumps() throws IOException, InterruptedException {
        runOrCheckMessage(RecordedAndDumped.class, "");
    }

    static final class RecordedAndDumped {
        private static final String[] COMMANDS = {"threadPrint", "threadDumpToFile"};

        public static void main(String[] args) throws Exception {
            Path directory = Files.createTempDirectory("recorded");
            try (Recording recording = new Recording(Configuration.getConfiguration("profile"))) {
                // An event of JDK 25 and later. Other JDKs ignore it.
                recording.enable("jdk.CPUTimeSample").with("throttle", "1 ms");
                recording.start();
                AtomicLong dumps = new AtomicLong();
                Thread dumper = new Thread(() -> dump(directory.resolve("threads"), dumps), "dumper");
                dumper.setDaemon(true);
                dumper.start();
                RandomPrograms.main(args);
                dumper.interrupt();
                dumper.join();
                assertThat(dumps.get()).isGreaterThan(4);
                recording.stop();
                recording.dump(directory.resolve("recording"));
            }
            assertThat(RecordingFile.readAllEvents(directory.resolve("recording")))
                    .extracting(event -> event.getEventType().getName())
                    .contains("jdk.ExecutionSample");
            try (Stream<Path> files = Files.walk(directory)) {
                for (Path file : files.sorted(Comparator.reverseOrder()).toList()) Files.delete(file);
            }
        }

        private static void dump(Path file, AtomicLong dumps) {
            MBeanServer server = ManagementFactory.getPlatformMBeanServer();
            try {
                ObjectName commands = new ObjectName("com.sun.management:type=DiagnosticCommand");
                for (int i = 0; !Thread.currentThread().isInterrupted(); i++) {
                    String[] arguments = i % 2 == 0 ? new String[] {} : new String[] {"-overwrite", file.toString()};
                    server.invoke(
                            commands, COMMANDS[i % 2], new Object[] {arguments}, new String[] {String[].class.getName()
                            });
                    dumps.incrementAndGet();
                    Thread.sleep(10);
                }
            } catch (JMException e) {
                throw new IllegalStateException(e);
            } catch (InterruptedException e) {
                // the main thread stops this one
            }
        }
    }

    @Test
    void shouldBeExactWhileProfiled() throws IOException, InterruptedException {
        runOrCheckMessage(Profiled.class, "");
    }

    /**
     * The profiler sends a signal and walks the stack for each millisecond of CPU time, on carriers and other threads.
     */
    static final class Profiled {
        public static void main(String[] args) throws Exception {
            AsyncProfiler profiler = AsyncProfiler.getInstance();
            profiler.execute("start,event=ctimer,interval=1ms");
            RandomPrograms.main(args);
            profiler.stop();
            assertThat(profiler.getSamples()).isGreaterThan(100);
        }
    }

    /** Runs threads that alternate between bursts of known CPU time and random actions. */
    static final class RandomPrograms {
        private static final int THREADS = 24;
        private static final int STEPS = 25;
        /** The maximum by which a clock can be ahead of the kernel. */
        private static final long MAX_AHEAD_NANOS = 50_000;
        /**
         * The same in a disturbed step, in which the host has taken the processor away. Below the shortest burst, so
         * that one that is charged to another thread is noticed.
         */
        private static final long MAX_DISTURBED_NANOS = 500_000;
        /** The maximum CPU time between two bursts, unless the host disturbs the thread. */
        private static final long MAX_BETWEEN_NANOS = 300_000;
        /**
         * The maximum number of disturbed steps of a thread. The kernel counts a millisecond taken by the host as CPU
         * time.
         */
        private static final int MAX_DISTURBED = 4;

        private static final ReentrantLock LOCK = new ReentrantLock();
        private static final Object MONITOR = new Object();

        /** The CPU times between bursts and after the last one, as each thread measures them. */
        private final long[][] between;

        /** The CPU time at the end of each thread, as the thread itself reads it. */
        private final CpuTime[] finalTimes;

        private RandomPrograms(int threads) {
            between = new long[threads][STEPS + 1];
            finalTimes = new CpuTime[threads];
        }

        public static void main(String[] args) throws Exception {
            try (ServerSocket echo = new ServerSocket(0, 50, InetAddress.getLoopbackAddress())) {
                Thread server = new Thread(() -> serve(echo), "echo");
                server.setDaemon(true);
                server.start();
                // Loading classes uses CPU time, too, and would count as time between bursts.
                new RandomPrograms(10).warmUp(echo.getLocalPort());
                new RandomPrograms(THREADS).run(echo.getLocalPort());
            }
            assertAddsUp();
        }

        private void warmUp(int port) throws InterruptedException {
            Thread.UncaughtExceptionHandler none = (thread, e) -> {};
            for (int t = 0; t < finalTimes.length; t++) {
                int number = t;
                Thread thread = VirtualThreadStarter.start("warm-up", () -> {
                    Thread.currentThread().setUncaughtExceptionHandler(none);
                    program(number, new Random(number), port);
                });
                thread.join();
            }
        }

        private void run(int port) throws Exception {
            List<Thread> threads = new ArrayList<>();
            List<ThreadClock> clocks = new ArrayList<>();
            for (int t = 0; t < THREADS; t++) {
                int number = t;
                Thread thread =
                        VirtualThreadStarter.start("random-" + t, () -> program(number, new Random(number), port));
                threads.add(thread);
                clocks.add(ThreadClock.of(thread));
            }
            watch(threads, clocks);
            int slowEnds = 0;
            for (int t = 0; t < THREADS; t++) {
                threads.get(t).join();
                CpuTime read = clocks.get(t).now();
                assertThat(finalTimes[t]).as("result of thread " + t).isNotNull();
                assertThat(read.cpuNanos()).isGreaterThanOrEqualTo(finalTimes[t].cpuNanos());
                assertThat(read.userNanos() + read.systemNanos()).isEqualTo(read.cpuNanos());
                // The thread itself has compared its bursts with the kernel's clock. Nothing else measures the time
                // between bursts, but that must be short. So it does not include a burst of another thread.
                Arrays.sort(between[t]);
                assertThat(Arrays.stream(between[t])
                                .limit(STEPS + 1 - MAX_DISTURBED)
                                .sum())
                        .as("thread " + t + ": times between bursts: " + Arrays.toString(between[t]))
                        .isLessThan((STEPS + 1 - MAX_DISTURBED) * MAX_BETWEEN_NANOS);
                if (read.cpuNanos() - finalTimes[t].cpuNanos() > MAX_BETWEEN_NANOS) slowEnds++;
            }
            assertThat(slowEnds).isLessThanOrEqualTo(MAX_DISTURBED);
        }

        /** Reads the times of all threads from the main thread until they end, whatever their state. */
        private static void watch(List<Thread> threads, List<ThreadClock> clocks) throws InterruptedException {
            CpuTime[] last = new CpuTime[THREADS];
            while (threads.stream().anyMatch(Thread::isAlive)) {
                for (int t = 0; t < THREADS; t++) {
                    CpuTime now = clocks.get(t).now();
                    CpuTime before = last[t];
                    if (now.isKnown() && before != null) check(isLater(now, before), () -> now + " after " + before);
                    if (now.isKnown()) last[t] = now;
                    else assertThat(last[t]).as("time before it became unknown").isNull();
                }
                Thread.sleep(1);
            }
        }

        private static boolean isLater(CpuTime now, CpuTime last) {
            return now.cpuNanos() >= last.cpuNanos()
                    && now.userNanos() >= last.userNanos()
                    && now.systemNanos() >= last.systemNanos();
        }

        /** An assertion that uses less CPU time than AssertJ, because that time is measured. */
        private static void check(boolean condition, Supplier<String> message) {
            if (!condition) throw new AssertionError(message.get());
        }

        private void program(int number, Random random, int port) {
            CpuTime last = TaskClock.now();
            long end = last.cpuNanos();
            int disturbed = 0;
            for (int step = 0; step < STEPS; step++) {
                // The thread does not leave its carrier from here ...
                long first = kernelNanos();
                long start = TaskClock.cpuNanos();
                between[number][step] = start - end;
                long minimum = burn(1_000_000 + random.nextInt(2_000_000));
                end = TaskClock.cpuNanos();
                long maximum = kernelNanos() - first;
                // ... to here.
                long spent = end - start;
                long error = Math.max(minimum - spent, spent - maximum);
                if (error > MAX_AHEAD_NANOS) disturbed++;
                check(
                        error <= (disturbed <= MAX_DISTURBED ? MAX_DISTURBED_NANOS : MAX_AHEAD_NANOS),
                        () -> spent + ", expected " + minimum + " to " + maximum);
                doSomething(random, port);
                CpuTime now = TaskClock.now();
                CpuTime before = last;
                check(isLater(now, before), () -> now + " after " + before);
                check(TaskClock.userNanos() <= TaskClock.cpuNanos(), () -> "user time > CPU time");
                last = now;
            }
            finalTimes[number] = TaskClock.now();
            between[number][STEPS] = finalTimes[number].cpuNanos() - end;
        }

        private static void doSomething(Random random, int port) {
            try {
                switch (random.nextInt(7)) {
                    case 0 -> Thread.yield();
                    case 1 -> Thread.sleep(random.nextInt(3));
                    case 2 -> LockSupport.parkNanos(random.nextInt(500_000));
                    case 3 -> {
                        LOCK.lock();
                        try {
                            Thread.sleep(0, 100_000);
                        } finally {
                            LOCK.unlock();
                        }
                    }
                    case 4 -> {
                        // Pins the carrier on JDKs before 24.
                        synchronized (MONITOR) {
                            Thread.sleep(0, 100_000);
                        }
                    }
                    case 5 ->
                        VirtualThreadStarter.start("nested", () -> burn(10_000)).join();
                    default -> ask(port);
                }
            } catch (InterruptedException | IOException e) {
                throw new IllegalStateException(e);
            }
        }

        private static void ask(int port) throws IOException {
            try (Socket socket = new Socket(InetAddress.getLoopbackAddress(), port)) {
                OutputStream out = socket.getOutputStream();
                out.write(42);
                out.flush();
                assertThat(socket.getInputStream().read()).isEqualTo(42);
            }
        }

        private static void serve(ServerSocket echo) {
            while (true) {
                try (Socket socket = echo.accept()) {
                    InputStream in = socket.getInputStream();
                    socket.getOutputStream().write(in.read());
                } catch (IOException e) {
                    return; // closed: the program ends
                }
            }
        }
    }

    /**
     * Asserts that the times of virtual threads and the own times of carriers add up to the times of the carriers.
     * Returns the time of the virtual threads.
     */
    static long assertAddsUp() throws Exception {
        TaskClockMXBean bean = AgentCheck.bean();
        long virtual = 0;
        for (TaskClockMXBean.VirtualThreadGroup group : bean.getVirtualThreads()) {
            assertThat(group.getUserNanos() + group.getSystemNanos()).isEqualTo(group.getCpuNanos());
            virtual += group.getCpuNanos();
        }
        long carriers = 0;
        long own = 0;
        for (TaskClockMXBean.Carrier carrier : bean.getCarriers()) {
            assertThat(carrier.getOwnNanos()).isNotNegative();
            assertThat(carrier.getCarriedNanos() + carrier.getOwnNanos()).isEqualTo(carrier.getCpuNanos());
            carriers += carrier.getCpuNanos();
            own += carrier.getOwnNanos();
            // The kernel thread may have used time before its first mount.
            if (carrier.getTid() > 0) {
                long total = ThreadClock.ofTid((int) carrier.getTid()).cpuNanos();
                assertThat(carrier.getCpuNanos()).isLessThanOrEqualTo(total);
            }
        }
        assertThat(carriers).isPositive();
        assertThat(virtual + own).isCloseTo(carriers, within(carriers / 100));
        return virtual;
    }

    /** The thread that warms up the calls for mounts never mounts a thread, so it is not a carrier. */
    @Test
    void shouldListOnlyCarriers() throws IOException, InterruptedException {
        runOrCheckMessage(OnlyCarriers.class, "");
    }

    static final class OnlyCarriers {
        private static final long WATCHED_NANOS = 2_000_000_000L;

        public static void main(String[] args) throws Exception {
            TaskClockMXBean bean = AgentCheck.bean();
            bean.getCarriers(); // creates the open types, so that the next calls are fast
            VirtualThreadStarter.start("first", () -> burn(1_000_000)).join();
            Set<Long> tids = new HashSet<>();
            long end = System.nanoTime() + WATCHED_NANOS;
            while (System.nanoTime() - end < 0) {
                for (TaskClockMXBean.Carrier carrier : bean.getCarriers()) tids.add(carrier.getTid());
            }
            List<String> names = new ArrayList<>();
            for (long tid : tids) {
                Path comm = Path.of("/proc/self/task/" + tid + "/comm");
                names.add(Files.exists(comm) ? Files.readString(comm).strip() : tid + " ended");
            }
            // JDK 26 shortens names in the middle.
            assertThat(names).isNotEmpty().allMatch(name -> name.startsWith("ForkJoi"));
        }
    }

    /** After the stack of a runnable thread was taken, the JVM schedules it once more than it is mounted. */
    @Test
    void shouldKnowTheTimeOfThreadsWhoseStacksAreTaken() throws IOException, InterruptedException {
        runOrCheckMessage(StacksTaken.class, "");
    }

    static final class StacksTaken {
        private static final int THREADS = 20;
        private static final int YIELDS = 20_000;

        public static void main(String[] args) throws Exception {
            List<Thread> threads = new ArrayList<>();
            for (int i = 0; i < THREADS; i++) {
                threads.add(VirtualThreadStarter.start("yielding", () -> {
                    for (int yield = 0; yield < YIELDS; yield++) Thread.yield();
                }));
            }
            int stacks = 0;
            while (threads.stream().anyMatch(Thread::isAlive))
                for (Thread thread : threads) if (thread.getStackTrace().length > 0) stacks++;
            assertThat(stacks).isGreaterThan(THREADS);
            for (Thread thread : threads)
                assertThat(ThreadClock.of(thread).cpuNanos()).isPositive();
        }
    }

    /** Each mount follows a pause of the carrier, after which only the kernel knows the carrier's CPU time. */
    @Test
    void shouldSeldomAskTheKernel() throws IOException, InterruptedException {
        runOrCheckMessage(SeldomAsked.class, "");
    }

    static final class SeldomAsked {
        private static final int THREADS = 4;
        private static final int PAUSES = 3_000;
        /** The kernel is asked once per millisecond, for a sample of each kind, and when the clock is calibrated. */
        private static final double MAX_PER_MILLI = 1.5;

        public static void main(String[] args) throws Exception {
            TaskClockMXBean bean = AgentCheck.bean();
            VirtualThreadStarter.start("first", () -> burn(1_000_000)).join();
            long callsBefore = bean.getMountClockCalls();
            long mountsBefore = bean.getMounts();
            long start = System.nanoTime();
            List<Thread> threads = new ArrayList<>();
            for (int i = 0; i < THREADS; i++) {
                threads.add(VirtualThreadStarter.start("pausing", () -> {
                    for (int pause = 0; pause < PAUSES; pause++) LockSupport.parkNanos(10_000);
                }));
            }
            for (Thread thread : threads) thread.join();
            double millis = (System.nanoTime() - start) / 1e6;
            long mounts = bean.getMounts() - mountsBefore;
            long calls = bean.getMountClockCalls() - callsBefore;
            String text = calls + " calls for " + mounts + " mounts in " + millis + " ms";
            assertThat(mounts).as(text).isGreaterThan(THREADS * PAUSES / 2);
            if (bean.getBackend().startsWith("rseq")) {
                int carriers = bean.getCarriers().length;
                assertThat((double) calls).as(text).isLessThan(carriers * (MAX_PER_MILLI * millis + 50));
            } else {
                assertThat(calls).as(text).isGreaterThan(mounts); // nothing else tells
            }
            assertThat(bean.getMountUsageCalls()).as(text).isLessThan(2 * mounts);
        }
    }

    // ---- kinds of threads

    @Test
    void shouldAccountForThreadsOfEveryKind() throws IOException, InterruptedException {
        runOrCheckMessage(EveryKind.class, "");
    }

    static final class EveryKind {
        public static void main(String[] args) throws Exception {
            // A thread that throws.
            Thread thrower = VirtualThreadStarter.start("thrower", () -> {
                Thread.currentThread().setUncaughtExceptionHandler((t, e) -> {});
                burn(5_000_000);
                throw new IllegalStateException("expected");
            });
            thrower.join();
            assertThat(ThreadClock.of(thrower).cpuNanos()).isGreaterThanOrEqualTo(5_000_000);
            assertThat(ThreadClock.of(thrower).tid()).isEqualTo(-1);

            // A thread that runs while it is read.
            CountDownLatch end = new CountDownLatch(1);
            Thread busy = VirtualThreadStarter.start("busy", () -> {
                while (end.getCount() > 0) burn(100_000);
            });
            ThreadClock clock = ThreadClock.of(busy);
            while (clock.cpuNanos() < 50_000_000) Thread.sleep(1);
            long mounted = clock.cpuNanos();
            end.countDown();
            busy.join();
            long ended = clock.cpuNanos();
            assertThat(ended).isGreaterThanOrEqualTo(mounted);

            // A thread that waits.
            Thread waiter = VirtualThreadStarter.start("waiter", () -> {
                burn(3_000_000);
                LockSupport.park();
            });
            ThreadClock waiting = ThreadClock.of(waiter);
            while (waiter.getState() != Thread.State.WAITING) Thread.sleep(1);
            long used = waiting.cpuNanos();
            Thread.sleep(20);
            assertThat(waiting.cpuNanos()).isEqualTo(used).isGreaterThanOrEqualTo(3_000_000);
            assertThat(AgentCheck.bean().getVirtualThreads())
                    .filteredOn(g -> g.getName().equals("waiter"))
                    .hasSize(1)
                    .allMatch(g -> g.getLive() == 1 && g.getEnded() == 0 && g.getCpuNanos() == used);
            LockSupport.unpark(waiter);
            waiter.join();

            // A platform thread.
            long platform = TaskClock.cpuNanos();
            assertThat(platform).isCloseTo(kernelNanos(), within(50_000_000L));
            assertAddsUp();
        }
    }

    @Test
    void shouldForgetThreadsThatEnded() throws IOException, InterruptedException {
        runOrCheckMessage(ManyShort.class, "");
    }

    /** Ended threads leave behind only totals by name, up to the maximum number of names. */
    static final class ManyShort {
        private static final int THREADS = 50_000;
        private static final int NAMES = 3_000;

        public static void main(String[] args) throws Exception {
            TaskClockMXBean bean = AgentCheck.bean();
            List<Thread> some = new ArrayList<>();
            for (int i = 0; i < THREADS; i++) {
                Thread thread = VirtualThreadStarter.start("short-" + i, () -> {});
                if (i % 1_000 == 0) some.add(thread);
            }
            for (Thread thread : some) thread.join();
            while (ended(bean, "short-#") < THREADS) Thread.sleep(10);
            assertThat(bean.isTruncated()).isFalse();
            for (int i = 0; i < NAMES; i++) {
                VirtualThreadStarter.start("name" + Integer.toString(i, 36).replaceAll("[0-9]", "_") + i % 2, () -> {})
                        .join();
            }
            for (int i = 0; i < NAMES; i++) {
                StringBuilder letters = new StringBuilder();
                for (char digit : Integer.toString(i).toCharArray()) letters.append((char) (digit - '0' + 'a'));
                VirtualThreadStarter.start(letters.toString(), () -> {}).join();
            }
            assertThat(bean.isTruncated()).isTrue();
            assertThat(bean.getVirtualThreads()).hasSizeLessThan(1_100);
            assertThat(ended(bean, "(other)")).isGreaterThan(1_000);
        }

        private static long ended(TaskClockMXBean bean, String name) {
            for (TaskClockMXBean.VirtualThreadGroup group : bean.getVirtualThreads())
                if (group.getName().equals(name)) return group.getEnded();
            return 0;
        }
    }

    /** If the agent pinned them, none could notify another, because there is only one carrier. */
    @Test
    void shouldNotPinThreadsThatWaitForANotification() throws IOException, InterruptedException {
        assumeThat(JvmLauncher.feature()).isGreaterThanOrEqualTo(JdkVersions.MONITORS_WITHOUT_PINNING);
        agent("yield=count")
                .option("-Djdk.virtualThreadScheduler.parallelism=1", "-Djdk.virtualThreadScheduler.maxPoolSize=1")
                .run(Notifications.class)
                .assertSilent();
    }

    /** Each thread that is notified notifies another one. */
    static final class Notifications {
        private static final int THREADS = 10_000;
        private static final Object LOCK = new CountDownLatch(0);
        private static int waiting;
        private static boolean isReleased;

        public static void main(String[] args) throws Exception {
            List<Thread> threads = new ArrayList<>();
            for (int i = 0; i < THREADS; i++)
                threads.add(VirtualThreadStarter.start("waiter-" + i, Notifications::awaitNotification));
            synchronized (LOCK) {
                while (waiting < THREADS) LOCK.wait(10);
                isReleased = true;
                LOCK.notify();
            }
            for (Thread thread : threads) thread.join();
            assertThat(AgentCheck.bean().getFailures()).isZero();
            assertThat(AgentCheck.bean().getVirtualThreads())
                    .filteredOn(group -> group.getName().equals("waiter-#"))
                    .hasSize(1)
                    .allMatch(group -> group.getEnded() == THREADS && group.getCpuNanos() > 0);
        }

        private static void awaitNotification() {
            synchronized (LOCK) {
                waiting++;
                try {
                    while (!isReleased) LOCK.wait();
                } catch (InterruptedException e) {
                    throw new IllegalStateException(e);
                }
                LOCK.notify();
            }
        }
    }

    @Test
    void shouldKeepManyWaitingThreads() throws IOException, InterruptedException {
        runOrCheckMessage(ManyWaiting.class, "", "100000");
    }

    /** The agent adds one object of 40 bytes to the heap for each thread (with compressed references). */
    static final class ManyWaiting {
        public static void main(String[] args) throws Exception {
            int count = Integer.parseInt(args[0]);
            CountDownLatch end = new CountDownLatch(1);
            CountDownLatch ready = new CountDownLatch(count);
            List<Thread> threads = new ArrayList<>();
            for (int i = 0; i < count; i++) {
                threads.add(VirtualThreadStarter.start("waiting-" + i, () -> {
                    ready.countDown();
                    try {
                        end.await();
                    } catch (InterruptedException e) {
                        throw new IllegalStateException(e);
                    }
                }));
            }
            ready.await();
            assertThat(AgentCheck.bean().getVirtualThreads())
                    .filteredOn(group -> group.getName().equals("waiting-#"))
                    .hasSize(1)
                    .allMatch(group -> group.getLive() == count && group.getCpuNanos() > 0);
            long[] instancesAndBytes = accountsInHeap();
            assertThat(instancesAndBytes[0]).isBetween((long) count, count + 1_000L);
            assertThat(instancesAndBytes[1] / instancesAndBytes[0]).isLessThanOrEqualTo(64);
            end.countDown();
            for (Thread thread : threads) thread.join();
        }

        /** Returns the number and the total size of the accounts in the heap. */
        private static long[] accountsInHeap() throws JMException {
            String histogram = (String) ManagementFactory.getPlatformMBeanServer()
                    .invoke(
                            new ObjectName("com.sun.management:type=DiagnosticCommand"),
                            "gcClassHistogram",
                            new Object[] {new String[] {}},
                            new String[] {String[].class.getName()});
            String line = histogram
                    .lines()
                    .filter(text -> text.contains("java.lang.TaskClockAccount"))
                    .findFirst()
                    .orElseThrow();
            String[] columns = line.trim().split("\\s+", -1);
            return new long[] {Long.parseLong(columns[1]), Long.parseLong(columns[2])};
        }
    }

    @Test
    void shouldCountInCpuAccounts() throws IOException, InterruptedException {
        runOrCheckMessage(Query.class, "");
    }

    /** A query on virtual threads, each with one section that spans many mounts. */
    static final class Query {
        private static final int THREADS = 6;
        private static final int BURSTS = 50;
        /**
         * A reader of an open section may read the thread's clock ahead of the thread, and its total never decreases.
         */
        private static final long AHEAD_NANOS = THREADS * 100_000;

        /** The CPU time of the threads inside their sections, and with the entering and closing. */
        private static final AtomicLong INSIDE = new AtomicLong();

        private static final AtomicLong AROUND = new AtomicLong();

        public static void main(String[] args) throws Exception {
            run(CpuAccount.create());
            check(CpuAccount.create());
            check(CpuAccounts.type("query").of("a"));
            checkDetails(CpuAccounts.type("details").withWaitTime().withAllocatedBytes());
        }

        private static void check(CpuAccount account) throws InterruptedException {
            INSIDE.set(0);
            AROUND.set(0);
            long live = run(account);
            assertThat(live).as("time while the threads ran").isPositive();
            CpuUsage usage = account.now();
            assertThat(usage.isComplete()).as(usage.toString()).isTrue();
            assertThat(usage.cpuNanos())
                    .isGreaterThanOrEqualTo(live)
                    .isBetween(INSIDE.get(), AROUND.get() + AHEAD_NANOS);
        }

        /** Only the account that has a section on a virtual thread is unknown. */
        private static void checkDetails(AccountType type) throws InterruptedException {
            type.of("platform").enter().close();
            run(type.of("virtual"));
            for (AccountUsage row : type.read().accounts()) {
                boolean isKnown = row.name().equals("platform");
                assertThat(row.waitNanos() >= 0).as(row.toString()).isEqualTo(isKnown);
                assertThat(row.allocatedBytes() >= 0).as(row.toString()).isEqualTo(isKnown);
            }
            assertThat(type.read().accounts()).hasSize(2);
            assertThat(type.of("virtual").now().allocatedBytes()).isEqualTo(-1);
        }

        private static long run(CpuAccount account) throws InterruptedException {
            List<Thread> threads = new ArrayList<>();
            for (int t = 0; t < THREADS; t++)
                threads.add(VirtualThreadStarter.start("query-" + t, () -> work(account)));
            long last = 0;
            while (threads.stream().anyMatch(Thread::isAlive)) {
                long now = account.cpuNanos();
                assertThat(now).isGreaterThanOrEqualTo(last);
                last = now;
                Thread.sleep(1);
            }
            for (Thread thread : threads) thread.join();
            return last;
        }

        @SuppressWarnings("try") // the section is not used in its body
        private static void work(CpuAccount account) {
            long before = TaskClock.cpuNanos();
            try (CpuSection section = account.enter()) {
                long start = TaskClock.cpuNanos();
                for (int i = 0; i < BURSTS; i++) {
                    burn(1_000_000);
                    LockSupport.parkNanos(100_000);
                }
                INSIDE.addAndGet(TaskClock.cpuNanos() - start);
            }
            AROUND.addAndGet(TaskClock.cpuNanos() - before);
        }
    }

    // ---- ThreadMXBean, switching, and events

    @Test
    void shouldAnswerThroughThreadMXBeanIfRequested() throws IOException, InterruptedException {
        runOrCheckMessage(ThroughThreadMXBean.class, "", "spec");
        runOrCheckMessage(ThroughThreadMXBean.class, "virtual=mxbean", "mxbean");
    }

    static final class ThroughThreadMXBean {
        private static final ThreadMXBean BEAN = (ThreadMXBean) ManagementFactory.getThreadMXBean();

        public static void main(String[] args) throws Exception {
            Throwable[] thrown = new Throwable[1];
            Thread thread = VirtualThreadStarter.start("asks", () -> {
                try {
                    if (args[0].equals("spec")) assertAsSpecified();
                    else assertAnswers();
                } catch (Throwable e) {
                    thrown[0] = e;
                }
            });
            thread.join();
            if (thrown[0] != null) throw new AssertionError(thrown[0]);
            assertThat(BEAN.getCurrentThreadCpuTime()).isPositive();
        }

        private static void assertAsSpecified() {
            // Depending on its version, the JDK returns -1 or throws.
            try {
                assertThat(BEAN.getCurrentThreadCpuTime()).isEqualTo(-1);
            } catch (UnsupportedOperationException e) {
                assertThatThrownBy(BEAN::getCurrentThreadUserTime).isInstanceOf(UnsupportedOperationException.class);
            }
            assertThat(BEAN.getThreadCpuTime(Thread.currentThread().getId())).isEqualTo(-1);
        }

        private static void assertAnswers() {
            burn(5_000_000);
            Thread.yield();
            long own = Thread.currentThread().getId();
            for (int i = 0; i < 1_000; i++) {
                long before = TaskClock.cpuNanos();
                long cpu = i % 2 == 0 ? BEAN.getCurrentThreadCpuTime() : BEAN.getThreadCpuTime(own);
                assertThat(cpu).isBetween(before, TaskClock.cpuNanos());
                long user = i % 2 == 0 ? BEAN.getCurrentThreadUserTime() : BEAN.getThreadUserTime(own);
                assertThat(user).isBetween(0L, TaskClock.cpuNanos());
            }
        }
    }

    @Test
    void shouldSwitchWhileThreadsRun() throws IOException, InterruptedException {
        runOrCheckMessage(Switching.class, "");
    }

    static final class Switching {
        private static volatile boolean done;

        public static void main(String[] args) throws Exception {
            TaskClockMXBean bean = AgentCheck.bean();
            List<Thread> threads = new ArrayList<>();
            for (int t = 0; t < 8; t++) {
                threads.add(VirtualThreadStarter.start("switched-" + t, () -> {
                    while (!done) {
                        burn(50_000);
                        // Parks instead of yielding, because busy carriers never look for threads that others submit.
                        LockSupport.parkNanos(20_000);
                    }
                }));
            }
            for (int i = 0; i < 50; i++) {
                bean.setVirtualThreadAccounting(i % 2 == 0);
                assertThat(bean.isVirtualThreadAccounting()).isEqualTo(i % 2 == 0);
                Thread.sleep(2);
            }
            // While accounting is off, the time of a thread is unknown from its next mount on.
            Thread.sleep(50);
            Throwable[] thrown = new Throwable[1];
            VirtualThreadStarter.start("unknown", () -> {
                        try {
                            assertThat(TaskClock.cpuNanos()).isEqualTo(-1);
                            assertThat(TaskClock.now()).isEqualTo(CpuTime.UNKNOWN);
                        } catch (Throwable e) {
                            thrown[0] = e;
                        }
                    })
                    .join();
            if (thrown[0] != null) throw new AssertionError(thrown[0]);
            bean.setVirtualThreadAccounting(true);
            Thread.sleep(50);
            Thread counted = VirtualThreadStarter.start("counted", () -> burn(5_000_000));
            counted.join();
            assertThat(ThreadClock.of(counted).cpuNanos()).isBetween(4_000_000L, 50_000_000L);
            done = true;
            for (Thread thread : threads) {
                thread.join();
                // What they used while accounting was off is unknown, and so is their total.
                assertThat(ThreadClock.of(thread).cpuNanos()).isEqualTo(-1);
            }
        }
    }

    @Test
    void shouldRecordThreadsThatEnded() throws IOException, InterruptedException {
        runOrCheckMessage(Recorded.class, "");
    }

    static final class Recorded {
        public static void main(String[] args) throws Exception {
            AgentCheck.awaitDeferredFeatures();
            Path file = Files.createTempFile("virtual", ".jfr");
            try (Recording recording = new Recording()) {
                recording.enable("org.taskclock.VirtualThreadCpu").with("cpuThreshold", "2 ms");
                recording.start();
                VirtualThreadStarter.start("long-1", () -> burn(20_000_000)).join();
                VirtualThreadStarter.start("short-1", () -> burn(100_000)).join();
                recording.stop();
                recording.dump(file);
            }
            List<RecordedEvent> events = RecordingFile.readAllEvents(file);
            Files.delete(file);
            assertThat(events)
                    .filteredOn(e -> e.getEventType().getName().equals("org.taskclock.VirtualThreadCpu"))
                    .hasSize(1)
                    .allMatch(e -> e.getString("threadName").equals("long-1"))
                    .allMatch(e -> e.getDuration("cpuTime").toMillis() >= 20)
                    .allMatch(e -> e.getDuration("userTime")
                            .plus(e.getDuration("systemTime"))
                            .equals(e.getDuration("cpuTime")));
        }
    }
}
