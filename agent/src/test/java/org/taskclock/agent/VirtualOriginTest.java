// SPDX-License-Identifier: Apache-2.0
// Copyright the TaskClock authors
package org.taskclock.agent;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import com.sun.management.ThreadMXBean;
import com.sun.tools.attach.VirtualMachine;
import java.io.IOException;
import java.lang.management.ManagementFactory;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.locks.LockSupport;
import jdk.jfr.Recording;
import jdk.jfr.consumer.RecordedEvent;
import jdk.jfr.consumer.RecordingFile;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.taskclock.CpuAccount;
import org.taskclock.CpuSection;
import org.taskclock.CpuTime;
import org.taskclock.TaskClock;
import org.taskclock.ThreadClock;
import org.taskclock.internal.JdkVersions;

/** Checks virtual threads and carriers that also ran while accounting was off. */
class VirtualOriginTest {
    private static final ThreadMXBean BEAN = (ThreadMXBean) ManagementFactory.getThreadMXBean();
    private static final long BURN_NANOS = 100_000_000;
    private static final long TOLERANCE_NANOS = 20_000_000;

    @TempDir
    private Path directory;

    @BeforeEach
    void needsVirtualThreads() {
        assumeTrue(JvmLauncher.feature() >= JdkVersions.VIRTUAL_THREADS, "JDKs before 21 have no virtual threads");
    }

    private static void run(Class<?> program) throws IOException, InterruptedException {
        attachable().run(program).assertSilent();
    }

    private static JvmLauncher attachable() {
        JvmLauncher jvm = JvmLauncher.withoutAgent()
                .option("-Djdk.attach.allowAttachSelf=true", "-XX:+EnableDynamicAgentLoading")
                .option("-Djdk.virtualThreadScheduler.parallelism=2", "-Djdk.virtualThreadScheduler.maxPoolSize=2")
                .option("-Dagent.jar=" + System.getProperty("agent.jar"));
        return JvmLauncher.feature() >= JdkVersions.FOREIGN_FUNCTIONS
                ? jvm.option("--enable-native-access=ALL-UNNAMED")
                : jvm;
    }

    /** Attaches to this JVM, changes the agent's options, or detaches it. */
    private static void load(String options) throws Exception {
        attach(options);
        assertThat(System.getProperty("taskclock.agent"))
                .contains(options.equals("detach") ? "vthreads=off" : "vthreads=on")
                .doesNotContain("unavailable");
    }

    private static void attach(String options) throws Exception {
        VirtualMachine self =
                VirtualMachine.attach(Long.toString(ProcessHandle.current().pid()));
        self.loadAgent(System.getProperty("agent.jar"), options);
        self.detach();
    }

    /** Uses CPU time, measured by the wall clock, so that it works without any clock under test. */
    static void burn() {
        long end = System.nanoTime() + BURN_NANOS;
        while (System.nanoTime() - end < 0) Thread.onSpinWait();
    }

    /** A virtual thread that takes one step at a time. */
    static final class Stepper {
        private volatile Runnable step;
        private volatile Throwable failure;
        final Thread thread;

        Stepper() {
            this("stepper");
        }

        Stepper(String name) {
            thread = VirtualThreadStarter.start(name, this::work);
        }

        private void work() {
            while (!Thread.currentThread().isInterrupted()) {
                Runnable next = step;
                if (next == null) {
                    LockSupport.parkNanos(1_000_000);
                    continue;
                }
                try {
                    next.run();
                } catch (Throwable e) {
                    failure = e;
                }
                step = null;
            }
        }

        void run(Runnable next) throws InterruptedException {
            step = next;
            while (step != null) Thread.sleep(1);
            if (failure != null) throw new AssertionError(failure);
        }

        void end() throws InterruptedException {
            thread.interrupt();
            thread.join();
        }
    }

    @Test
    void shouldNotKnowTheTotalOfAThreadThatRanBefore() throws IOException, InterruptedException {
        run(RanBefore.class);
    }

    static final class RanBefore {
        public static void main(String[] args) throws Exception {
            Stepper stepper = new Stepper();
            stepper.run(VirtualOriginTest::burn);
            load("virtual=mxbean");
            Stepper complete = new Stepper();
            stepper.run(() -> assertTotal(false));
            complete.run(() -> assertTotal(true));
            assertThat(ThreadClock.of(stepper.thread).cpuNanos()).isEqualTo(-1);
            assertThat(ThreadClock.of(stepper.thread).now()).isEqualTo(CpuTime.UNKNOWN);
            assertThat(ThreadClock.of(complete.thread).cpuNanos()).isPositive();
            stepper.run(VirtualOriginTest::assertDifferences);
            complete.run(VirtualOriginTest::assertDifferences);

            load("detach");
            // It has not run since, so its total is still right; that of the other one is not.
            Stepper parked = complete;
            assertThat(ThreadClock.of(stepper.thread).cpuNanos()).isEqualTo(-1);
            parked.run(VirtualOriginTest::burn);
            load("virtual=mxbean");
            parked.run(() -> assertTotal(false));
            assertThat(ThreadClock.of(parked.thread).cpuNanos()).isEqualTo(-1);
            parked.run(VirtualOriginTest::assertDifferences);
            stepper.end();
            parked.end();
            // Ended threads have an account, too.
            assertThat(ThreadClock.of(stepper.thread).cpuNanos()).isEqualTo(-1);
        }

        private static void assertTotal(boolean isKnown) {
            long[] totals = {
                TaskClock.cpuNanos(),
                TaskClock.userNanos(),
                TaskClock.systemNanos(),
                BEAN.getCurrentThreadCpuTime(),
                BEAN.getCurrentThreadUserTime(),
                ThreadClock.of(Thread.currentThread()).cpuNanos()
            };
            if (isKnown) {
                assertThat(totals).doesNotContain(-1);
                assertThat(totals[0]).isPositive();
            } else {
                assertThat(totals).containsOnly(-1);
            }
            CpuTime now = TaskClock.now();
            assertThat(now.cpuNanos()).isPositive().isLessThan(60_000_000_000L);
            assertThat(now.userNanos() + now.systemNanos()).isEqualTo(now.cpuNanos());
        }
    }

    private static void assertDifferences() {
        CpuAccount account = CpuAccount.create();
        CpuTime start = TaskClock.now();
        long openNanos;
        try (CpuSection section = account.enter()) {
            assertThat(section).isNotNull();
            burn();
            openNanos = account.cpuNanos();
        }
        CpuTime spent = TaskClock.now().minus(start);
        assertThat(account.now().uncounted()).isZero();
        // A busy machine may have given the thread any part of the time.
        assertThat(spent.cpuNanos()).isBetween(1L, BURN_NANOS * 10);
        assertThat(account.cpuNanos()).isBetween(1L, spent.cpuNanos());
        assertThat(openNanos).isBetween(1L, account.cpuNanos());
        assertThat(spent.cpuNanos() - account.cpuNanos()).isLessThan(TOLERANCE_NANOS);
    }

    @Test
    void shouldRecordThatAnEventCoversAPart() throws IOException, InterruptedException {
        run(RecordedPart.class);
    }

    static final class RecordedPart {
        private static final String EVENT = "org.taskclock.VirtualThreadCpu";

        public static void main(String[] args) throws Exception {
            Stepper partial = new Stepper("partial");
            partial.run(VirtualOriginTest::burn);
            load("");
            Stepper complete = new Stepper("complete");
            Path file = Files.createTempFile("partial", ".jfr");
            long[] spent = new long[1];
            try (Recording recording = new Recording()) {
                recording.enable(EVENT);
                recording.start();
                for (Stepper stepper : new Stepper[] {partial, complete}) {
                    stepper.run(() -> {
                        CpuTime start = TaskClock.now();
                        burn();
                        spent[0] = TaskClock.now().minus(start).cpuNanos();
                    });
                    stepper.end();
                    assertEvent(recording, file, stepper, spent[0], stepper == partial);
                }
            }
            Files.delete(file);
        }

        private static void assertEvent(Recording recording, Path file, Stepper stepper, long least, boolean isPartial)
                throws IOException {
            recording.dump(file);
            RecordedEvent event = RecordingFile.readAllEvents(file).stream()
                    .filter(e -> e.getEventType().getName().equals(EVENT))
                    .filter(e -> e.getLong("javaThreadId") == id(stepper.thread))
                    .findFirst()
                    .orElseThrow();
            assertThat(event.getBoolean("partial")).isEqualTo(isPartial);
            assertThat(event.getDuration("cpuTime").toNanos()).isBetween(least, least + TOLERANCE_NANOS);
            assertThat(event.getDuration("userTime").plus(event.getDuration("systemTime")))
                    .isEqualTo(event.getDuration("cpuTime"));
        }

        @SuppressWarnings("deprecation") // threadId() came with JDK 19
        private static long id(Thread thread) {
            return thread.getId();
        }
    }

    // ---- failures and other agents

    @ParameterizedTest
    @CsvSource({
        "java/lang/TaskClockAccount#mount, unknown",
        "java/lang/TaskClockAccount#unmount, unknown",
        "java/lang/TaskClockGroup#addCarrier, known"
    })
    void shouldNotKnowTheTotalIfAMountFails(String fault, String total) throws IOException, InterruptedException {
        attachable()
                .option(FaultInjector.option(directory, fault))
                .run(FailedMounts.class, total)
                .assertSilent();
    }

    static final class FailedMounts {
        public static void main(String[] args) throws Exception {
            load("");
            Stepper before = new Stepper();
            before.run(VirtualOriginTest::burn);
            awaitProof();
            System.setProperty(FaultInjector.SWITCH, "on");
            Stepper during = new Stepper("during");
            for (Stepper stepper : new Stepper[] {before, during}) stepper.run(VirtualOriginTest::burn);
            System.clearProperty(FaultInjector.SWITCH);
            for (Stepper stepper : new Stepper[] {before, during}) {
                stepper.run(Thread::yield);
                long total = ThreadClock.of(stepper.thread).cpuNanos();
                if (args[0].equals("unknown")) assertThat(total).isEqualTo(-1);
                else assertThat(total).isGreaterThan(BURN_NANOS / 10);
                stepper.run(VirtualOriginTest::assertDifferences);
                stepper.end();
            }
        }
    }

    /** Waits until the agent has found that its change to VirtualThread works. It checks once a second. */
    static void awaitProof() throws InterruptedException {
        Thread.sleep(2_500);
    }

    @Test
    void shouldNotKnowTheTotalOfAThreadThatRanWhileAnotherAgentHadUndoneTheChange()
            throws IOException, InterruptedException {
        JvmLauncher.Result result = attachable()
                .option("-javaagent:" + RobustnessTest.RedefiningAgent.jar(directory))
                .run(RanUnhooked.class);
        assertThat(result.exit()).as(result.toString()).isZero();
        assertThat(result.err().lines())
                .as(result.err())
                .singleElement()
                .asString()
                .contains("another agent undid the change to java.lang.VirtualThread: reapplied it");
    }

    static final class RanUnhooked {
        public static void main(String[] args) throws Exception {
            load("");
            CountDownLatch end = new CountDownLatch(1);
            Stepper stepper = new Stepper();
            Thread parked = VirtualThreadStarter.start("parked", () -> await(end));
            stepper.run(VirtualOriginTest::burn);
            awaitProof();
            long parkedTotal = ThreadClock.of(parked).cpuNanos();
            assertThat(parkedTotal).isPositive();
            assertThat(ThreadClock.of(stepper.thread).cpuNanos()).isPositive();
            long[] before = totals();

            RobustnessTest.RedefiningAgent.redefine();
            stepper.run(VirtualOriginTest::burn);
            assertThat(ThreadClock.of(stepper.thread).cpuNanos())
                    .as("before the agent notices")
                    .isEqualTo(-1);
            stepper.run(() -> assertThat(TaskClock.cpuNanos()).isEqualTo(-1));
            awaitAccounting();
            stepper.run(() -> assertThat(TaskClock.cpuNanos()).isEqualTo(-1));
            assertThat(ThreadClock.of(stepper.thread).cpuNanos()).isEqualTo(-1);
            stepper.run(VirtualOriginTest::assertDifferences);
            stepper.end();
            long[] after = totals();
            assertThat(after[1] - before[1]).as("scheduling").isBetween(0L, BURN_NANOS / 2);

            // It did not run in between.
            assertThat(ThreadClock.of(parked).cpuNanos()).isEqualTo(parkedTotal);
            end.countDown();
            parked.join();
            assertThat(ThreadClock.of(parked).cpuNanos()).isGreaterThan(parkedTotal);
        }

        private static void await(CountDownLatch latch) {
            try {
                latch.await();
            } catch (InterruptedException e) {
                throw new AssertionError(e);
            }
        }

        private static void awaitAccounting() throws InterruptedException {
            long end = System.nanoTime() + 10_000_000_000L;
            boolean[] isAccounted = {false};
            while (!isAccounted[0]) {
                assertThat(System.nanoTime() - end).isNegative();
                VirtualThreadStarter.start("", () -> isAccounted[0] = TaskClock.cpuNanos() >= 0)
                        .join();
            }
        }
    }

    @Test
    void shouldChargeTheDetachedTimeToNobody() throws IOException, InterruptedException {
        attachable().run(UnaccountedTime.class, "detach").assertSilent();
    }

    @Test
    void shouldChargeTheTimeAfterAFailureToNobody() throws IOException, InterruptedException {
        JvmLauncher.Result result = attachable()
                .option(FaultInjector.option(directory, "org/taskclock/agent/VirtualThreadPatch#enable"))
                .run(UnaccountedTime.class, "vthreads=off");
        assertThat(result.exit()).as(result.toString()).isZero();
        assertThat(result.err())
                .isEqualTo("taskclock: agent: unavailable: vthreads: java.lang.OutOfMemoryError: injected\n");
    }

    /** The argument stops the accounting. */
    static final class UnaccountedTime {
        public static void main(String[] args) throws Exception {
            Stepper stepper = new Stepper();
            load("");
            stepper.run(VirtualOriginTest::burn);
            long[] before = totals();
            attach(args[0]);
            System.setProperty(FaultInjector.SWITCH, "on");
            // Begins again, and fails.
            if (!args[0].equals("detach")) attach("vthreads=on");
            System.clearProperty(FaultInjector.SWITCH);
            assertThat(System.getProperty("taskclock.agent")).contains("vthreads=off");
            CountDownLatch burnt = new CountDownLatch(4);
            long[] used = new long[1];
            for (int i = 0; i < 4; i++) {
                VirtualThreadStarter.start("", () -> {
                    burn();
                    burnt.countDown();
                });
            }
            burnt.await();
            load("vthreads=on");
            stepper.run(() -> {
                CpuTime start = TaskClock.now();
                burn();
                used[0] = TaskClock.now().minus(start).cpuNanos();
            });
            long[] after = totals();
            long carriers = after[0] - before[0];
            long own = after[1] - before[1];
            assertThat(own).as("scheduling, of " + carriers).isBetween(0L, used[0] / 2);
            assertThat(carriers).isBetween(used[0], used[0] * 3 / 2 + TOLERANCE_NANOS);
            stepper.end();
        }
    }

    /** Returns the CPU time of all carriers, and the part of it that is their own. */
    static long[] totals() throws Exception {
        long[] sums = new long[2];
        for (TaskClockMXBean.Carrier carrier : AgentCheck.bean().getCarriers()) {
            sums[0] += carrier.getCpuNanos();
            sums[1] += carrier.getOwnNanos();
        }
        return sums;
    }

    @Test
    void shouldNeverReturnTheTimeOfTheCarrier() throws IOException, InterruptedException {
        run(CarrierTime.class);
    }

    /** The carriers have used more CPU time than any reader ever does. */
    static final class CarrierTime {
        private static final int ROUNDS = 25;
        private static volatile boolean done;
        private static volatile String failure;
        private static final AtomicLong READINGS = new AtomicLong();

        public static void main(String[] args) throws Exception {
            CountDownLatch burnt = new CountDownLatch(4);
            for (int i = 0; i < 4; i++) {
                VirtualThreadStarter.start("", () -> {
                    for (int k = 0; k < 15; k++) burn();
                    burnt.countDown();
                });
            }
            Thread starter = new Thread(() -> {
                while (!done) {
                    Thread reader = VirtualThreadStarter.start("", CarrierTime::read);
                    try {
                        reader.join();
                    } catch (InterruptedException e) {
                        throw new AssertionError(e);
                    }
                }
            });
            burnt.await();
            starter.start();
            for (int i = 0; i < ROUNDS; i++) {
                load("virtual=mxbean");
                awaitReadings();
                load("detach");
                awaitReadings();
            }
            done = true;
            starter.join();
            assertThat(failure).isNull();
        }

        private static void awaitReadings() {
            long enough = READINGS.get() + 10;
            while (READINGS.get() < enough) Thread.onSpinWait();
        }

        private static void read() {
            long start = System.nanoTime();
            long[] times = {0, 0, 0, 0};
            for (int i = 0; i < 300; i++) {
                times[0] = TaskClock.cpuNanos();
                times[1] = BEAN.getCurrentThreadCpuTime();
                times[2] = BEAN.getCurrentThreadUserTime();
                times[3] = TaskClock.userNanos();
                long elapsed = System.nanoTime() - start;
                for (int k = 0; k < times.length; k++) {
                    // The user time is the kernel's as of a tick.
                    if (times[k] > elapsed + TOLERANCE_NANOS) failure = k + ": " + times[k] + " in " + elapsed;
                }
            }
            READINGS.incrementAndGet();
        }
    }
}
