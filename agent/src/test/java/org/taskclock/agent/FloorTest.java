// SPDX-License-Identifier: Apache-2.0
// Copyright the TaskClock authors
package org.taskclock.agent;

import static org.assertj.core.api.Assertions.assertThat;

import com.sun.management.ThreadMXBean;
import com.sun.tools.attach.VirtualMachine;
import java.io.IOException;
import java.lang.management.ManagementFactory;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.BrokenBarrierException;
import java.util.concurrent.CyclicBarrier;
import java.util.stream.LongStream;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/**
 * Checks that no time of an unchanged program goes backwards: when the agent is attached and detached beside it, and
 * when one thread reads another.
 */
class FloorTest {
    private static final ThreadMXBean BEAN = (ThreadMXBean) ManagementFactory.getThreadMXBean();

    @Test
    void shouldNeverGoBackwardsWhenTheAgentComesAndGoes() throws IOException, InterruptedException {
        JvmLauncher.withoutAgent()
                .optimizing()
                .option("-Djdk.attach.allowAttachSelf=true", "-XX:+EnableDynamicAgentLoading")
                .option("-Dagent.jar=" + System.getProperty("agent.jar"))
                .run(Rounds.class)
                .assertSilent();
    }

    static final class Rounds {
        private static final int ROUNDS = 12;
        private static final int READERS = 6;
        /** The readings of each reader between an attach and the detach that follows, and in between. */
        private static final int READINGS = 100;

        private static final Reader[] READERS_BY_INDEX = new Reader[READERS];
        private static volatile boolean done;

        /** Reads its own times, and those of another reader by id. */
        private static final class Reader extends Thread {
            private final int index;
            // The last answer for each reader, CPU and user time. It is -1 before the reader starts.
            private final long[] cpu =
                    LongStream.generate(() -> -1).limit(READERS).toArray();
            private final long[] user = cpu.clone();
            private final List<String> decreases = new ArrayList<>();
            /** What this reader was last told of itself. */
            private volatile long ownCpu = -1;

            private volatile long ownUser = -1;
            private volatile long readings;

            Reader(int index) {
                this.index = index;
                setDaemon(true);
            }

            @Override
            public void run() {
                for (int i = 0; !done; i++) {
                    readOneself(i % 3);
                    // Arrays contain this reader's own id, too, and each id twice.
                    if (i % 16 == 0) readMany(i % 32 == 0);
                    else if (i % 4 == 0) readAnother(READERS_BY_INDEX[(index + 1 + i / 4 % (READERS - 1)) % READERS]);
                    readings = i;
                }
            }

            @SuppressWarnings("deprecation") // threadId() came with JDK 19
            private void readOneself(int way) {
                if (way == 0) {
                    tell(index, BEAN.getCurrentThreadUserTime(), user, "own user time");
                    tell(index, BEAN.getCurrentThreadCpuTime(), cpu, "own CPU time");
                } else {
                    tell(index, BEAN.getThreadCpuTime(getId()), cpu, "CPU time by the own id");
                    if (!ThreadTimes.hasUserTimeBug())
                        tell(index, BEAN.getThreadUserTime(getId()), user, "user time by the own id");
                }
                ownCpu = cpu[index];
                ownUser = user[index];
            }

            @SuppressWarnings("deprecation")
            private void readAnother(Reader other) {
                long leastCpu = other.ownCpu;
                long leastUser = other.ownUser;
                long cpuRead = BEAN.getThreadCpuTime(other.getId());
                long userRead = BEAN.getThreadUserTime(other.getId());
                tell(other.index, cpuRead, cpu, "CPU time by id");
                tell(other.index, userRead, user, "user time by id");
                check(leastCpu, cpuRead, "CPU time by id, after its own");
                check(leastUser, userRead, "user time by id, after its own");
            }

            @SuppressWarnings("deprecation")
            private void readMany(boolean isCpu) {
                long[] ids = new long[2 * READERS];
                for (int i = 0; i < ids.length; i++) ids[i] = READERS_BY_INDEX[i % READERS].getId();
                long[] times = isCpu ? BEAN.getThreadCpuTime(ids) : BEAN.getThreadUserTime(ids);
                for (int i = 0; i < ids.length; i++)
                    tell(i % READERS, times[i], isCpu ? cpu : user, isCpu ? "CPU time of many" : "user time of many");
            }

            private void tell(int whose, long nanos, long[] last, String what) {
                check(last[whose], nanos, what);
                last[whose] = nanos;
            }

            private void check(long least, long nanos, String what) {
                // A reader that has ended has no time any more.
                if (nanos < least && !done && decreases.size() < 10_000)
                    decreases.add(what + ": " + least + " to " + nanos);
            }
        }

        public static void main(String[] args) throws Exception {
            for (int i = 0; i < READERS; i++) READERS_BY_INDEX[i] = new Reader(i);
            for (Reader reader : READERS_BY_INDEX) {
                reader.start();
            }
            VirtualMachine self =
                    VirtualMachine.attach(Long.toString(ProcessHandle.current().pid()));
            for (int i = 0; i < ROUNDS; i++) {
                awaitReadings();
                self.loadAgent(System.getProperty("agent.jar"), "");
                assertThat(System.getProperty("taskclock.agent")).contains("threadmxbean=on");
                awaitReadings();
                self.loadAgent(System.getProperty("agent.jar"), "detach");
                assertThat(System.getProperty("taskclock.agent")).contains("threadmxbean=off");
            }
            awaitReadings();
            self.detach();
            done = true;
            List<String> decreases = new ArrayList<>();
            for (Reader reader : READERS_BY_INDEX) {
                reader.join();
                decreases.addAll(reader.decreases);
            }
            assertThat(decreases).isEmpty();
        }

        private static void awaitReadings() {
            for (Reader reader : READERS_BY_INDEX) {
                long enough = reader.readings + READINGS;
                while (reader.readings < enough) Thread.onSpinWait();
            }
        }
    }

    /** The clock can be slightly ahead of the kernel, which the JVM asks for the time of another thread. */
    @Test
    void shouldNeverReadLessByIdThanTheThreadReadOfItself() throws IOException, InterruptedException {
        JvmLauncher.withAgent("").optimizing().run(OwnAndOther.class).assertSilent();
    }

    static final class OwnAndOther {
        private static final int READINGS = 300_000;

        private static volatile long ownCpu;
        private static volatile long ownUser;
        private static volatile boolean done;

        @SuppressWarnings("deprecation") // threadId() came with JDK 19
        public static void main(String[] args) throws Exception {
            Thread thread = new Thread(() -> {
                while (!done) {
                    ownCpu = BEAN.getCurrentThreadCpuTime();
                    if (ownCpu % 8 == 0) ownUser = BEAN.getCurrentThreadUserTime();
                }
            });
            thread.start();
            long[] ids = {thread.getId(), Thread.currentThread().getId()};
            int decreases = 0;
            long worst = 0;
            for (int i = 0; i < READINGS; i++) {
                boolean isUser = i % 8 == 7;
                long least = isUser ? ownUser : ownCpu;
                long read = isUser
                        ? i % 2 == 0 ? BEAN.getThreadUserTime(ids[0]) : BEAN.getThreadUserTime(ids)[0]
                        : i % 2 == 0 ? BEAN.getThreadCpuTime(ids[0]) : BEAN.getThreadCpuTime(ids)[0];
                if (read >= least) continue;
                decreases++;
                worst = Math.max(worst, least - read);
            }
            done = true;
            thread.join();
            assertThat(decreases).as("decreases, the worst of " + worst + " ns").isZero();
        }
    }

    // ---- the JVM's natives

    private static final String REGISTERED =
            "Registering JNI native method sun.management.ThreadImpl.getThreadTotalCpuTime0";

    /** The JVM logs each replacement of a native. */
    @Test
    void shouldReturnTheNativesWhenTheJvmHasPassedAllTimes(@TempDir Path directory)
            throws IOException, InterruptedException {
        Path log = directory.resolve("natives.log");
        JvmLauncher.withoutAgent()
                .optimizing()
                .option("-Djdk.attach.allowAttachSelf=true", "-XX:+EnableDynamicAgentLoading")
                .option("-Dagent.jar=" + System.getProperty("agent.jar"), "-Xlog:jni+resolve=debug:file=" + log)
                .run(ReturnedNatives.class, log.toString())
                .assertSilent();
    }

    static final class ReturnedNatives {
        private static final int THREADS = 4;
        private static final long TIMEOUT_NANOS = 20_000_000_000L;
        /** Longer than the JVM's resolution and the kernel's tick. */
        private static final long ENOUGH_NANOS = 50_000_000;

        /** Each thread uses CPU time, and waits. */
        private static final CyclicBarrier BARRIER = new CyclicBarrier(THREADS + 1);

        @SuppressWarnings("deprecation") // threadId() came with JDK 19
        public static void main(String[] args) throws Exception {
            Path log = Path.of(args[0]);
            VirtualMachine self =
                    VirtualMachine.attach(Long.toString(ProcessHandle.current().pid()));
            String jar = System.getProperty("agent.jar");
            List<Long> ids = new ArrayList<>();
            for (int i = 0; i < THREADS; i++) {
                Thread thread = new Thread(ReturnedNatives::work);
                thread.setDaemon(true);
                thread.start();
                ids.add(thread.getId());
            }
            long[] all = ids.stream().mapToLong(id -> id).toArray();
            for (int round = 1; round <= 2; round++) {
                self.loadAgent(jar, "");
                burst();
                assertThat(replacements(log)).isEqualTo(2 * round - 1);
                self.loadAgent(jar, "detach");
                long[] least = BEAN.getThreadUserTime(all);
                // The JVM has not passed the times of threads that do not run. It has a resolution of 10 ms.
                for (int i = 0; i < 75; i++) {
                    Thread.sleep(20);
                    assertNoneIsLess(BEAN.getThreadUserTime(all), least);
                }
                if (ThreadTimes.isTextInThisJdk()) assertThat(replacements(log)).isEqualTo(2L * round - 1);
                burst();
                long end = System.nanoTime() + TIMEOUT_NANOS;
                while (replacements(log) < 2L * round) {
                    assertThat(System.nanoTime() - end).isNegative();
                    Thread.sleep(20);
                    BEAN.getThreadCpuTime(all);
                    BEAN.getCurrentThreadUserTime();
                }
                assertNoneIsLess(BEAN.getThreadUserTime(all), least);
            }
            self.detach();
        }

        private static void assertNoneIsLess(long[] times, long[] least) {
            for (int i = 0; i < THREADS; i++) assertThat(times[i]).isGreaterThanOrEqualTo(least[i]);
        }

        private static long replacements(Path log) throws IOException {
            try (Stream<String> lines = Files.lines(log)) {
                return lines.filter(line -> line.contains(REGISTERED)).count();
            }
        }

        /** Makes each thread use CPU time. */
        private static void burst() throws Exception {
            BARRIER.await();
            BARRIER.await();
        }

        private static void work() {
            try {
                while (true) {
                    BARRIER.await();
                    long end = BEAN.getCurrentThreadUserTime() + ENOUGH_NANOS;
                    while (BEAN.getCurrentThreadUserTime() < end) Thread.onSpinWait();
                    BARRIER.await();
                }
            } catch (InterruptedException | BrokenBarrierException e) {
                throw new AssertionError(e);
            }
        }
    }
}
