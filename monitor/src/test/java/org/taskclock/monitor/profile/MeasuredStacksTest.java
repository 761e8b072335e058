// SPDX-License-Identifier: Apache-2.0
// Copyright the TaskClock authors
package org.taskclock.monitor.profile;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import org.junit.jupiter.api.Test;
import org.taskclock.metrics.ThreadKind;
import org.taskclock.monitor.usage.ProcessUsage;
import org.taskclock.monitor.usage.ThreadUsage;

class MeasuredStacksTest {
    private static final long MILLISECOND = 1_000_000;

    private static ThreadUsage thread(int tid, String name, ThreadKind kind, long cpuNanos, long userNanos) {
        return ThreadUsage.of(1, tid, name, kind)
                .javaId(tid)
                .cpu(cpuNanos, userNanos)
                .build();
    }

    private static ThreadUsage thread(int tid, String name, long cpuNanos) {
        return thread(tid, name, ThreadKind.JAVA, cpuNanos, cpuNanos);
    }

    /** Samples of a source that knows the ids of the kernel. */
    private static StackSource.Sample sample(int tid, long count, String... frames) {
        return new StackSource.Sample("name of " + tid, tid, 0, List.of(frames), count, count * 10 * MILLISECOND);
    }

    /** Samples of Flight Recorder. */
    private static StackSource.Sample jfrSample(String thread, long javaId, long count, String... frames) {
        return new StackSource.Sample(thread, 0, javaId, List.of(frames), count, count * 10 * MILLISECOND);
    }

    private static MeasuredStacks scale(
            ProfileSelection selection, List<ThreadUsage> threads, long processNanos, List<StackSource.Sample> samples)
            throws ProfileException {
        selection.resolve(1, threads);
        ProcessUsage process = new ProcessUsage(processNanos, processNanos, -1, 0, -1, -1, 2, 0);
        MeasuredStacks measured = new MeasuredStacks(selection, threads, process, samples);
        assertThat(measured.stacks().stream().mapToLong(Profile.Stack::cpuNanos).sum())
                .as("no nanosecond is lost")
                .isEqualTo(measured.cpuNanos());
        return measured;
    }

    @Test
    void shouldScaleEachThreadToItsCpuTime() throws Exception {
        List<ThreadUsage> threads = List.of(thread(1, "http-1", 100), thread(2, "http-2", 1_000), thread(3, "main", 7));
        MeasuredStacks all = scale(
                ProfileSelection.all(),
                threads,
                1_107,
                List.of(sample(1, 2, "a"), sample(1, 1, "b"), sample(2, 1, "a"), sample(2, 1)));
        assertThat(all.cpuNanos()).isEqualTo(1_107);
        assertThat(all.sampledNanos()).isEqualTo(50 * MILLISECOND);
        assertThat(all.stacks())
                .containsExactly(
                        new Profile.Stack("http-#", "http-2", 2, "", List.of("a"), 1, 500),
                        new Profile.Stack("http-#", "http-2", 2, "", List.of("[no stack]"), 1, 500),
                        new Profile.Stack("http-#", "http-1", 1, "", List.of("a"), 2, 66),
                        new Profile.Stack("http-#", "http-1", 1, "", List.of("b"), 1, 34),
                        new Profile.Stack("main", "main", 3, "", List.of("[not sampled]"), 0, 7));
        MeasuredStacks one =
                scale(ProfileSelection.thread("http-1"), threads, 1_107, List.of(sample(1, 1, "a"), sample(2, 1, "a")));
        assertThat(one.stacks()).containsExactly(new Profile.Stack("http-#", "http-1", 1, "", List.of("a"), 1, 100));
    }

    @Test
    void shouldLoseNothingByRounding() throws Exception {
        Random random = new Random(1);
        for (int round = 0; round < 200; round++) {
            List<ThreadUsage> threads = new ArrayList<>();
            List<StackSource.Sample> samples = new ArrayList<>();
            long sum = 0;
            for (int tid = 1; tid <= 10; tid++) {
                long cpu = random.nextLong(1L << (1 + random.nextInt(50)));
                threads.add(thread(tid, "t-" + tid, ThreadKind.JAVA, cpu, cpu / 3));
                sum += cpu;
                for (int i = random.nextInt(30); i > 0; i--)
                    samples.add(sample(tid, 1 + random.nextInt(5), "frame" + i % 7 + (i % 3 == 0 ? "_[k]" : "_[j]")));
            }
            MeasuredStacks measured = scale(ProfileSelection.all(), threads, sum + round, samples);
            assertThat(measured.cpuNanos()).isEqualTo(sum + round);
            assertThat(measured.stacks()).allMatch(stack -> stack.cpuNanos() >= 0);
        }
    }

    @Test
    void shouldScaleUserAndKernelSamplesApart() throws Exception {
        List<ThreadUsage> threads = List.of(
                thread(1, "both", ThreadKind.JAVA, 1_000, 900),
                thread(2, "only user", ThreadKind.JAVA, 1_000, 900),
                thread(3, "unclear", ThreadKind.JAVA, 1_000, 0));
        MeasuredStacks measured = scale(
                ProfileSelection.all(),
                threads,
                3_000,
                List.of(
                        sample(1, 1, "a_[j]"),
                        sample(1, 1, "a_[j]", "write_[k]"),
                        sample(2, 1, "a_[j]"),
                        sample(3, 1, "a_[j]"),
                        sample(3, 1, "a_[j]", "write_[k]")));
        assertThat(measured.seesKernel()).isTrue();
        assertThat(measured.userNanos()).isEqualTo(1_800);
        assertThat(measured.stacks())
                .extracting(stack -> stack.thread() + " " + stack.mode() + " " + stack.cpuNanos())
                .containsExactlyInAnyOrder(
                        "both user 900",
                        "both kernel 100",
                        "only user user 1000",
                        "unclear user 500",
                        "unclear kernel 500");
    }

    @Test
    void shouldScaleVirtualThreadsToTheTimeOfAllCarriers() throws Exception {
        List<ThreadUsage> threads = List.of(
                thread(1, "ForkJoinPool-1-worker-1", ThreadKind.CARRIER, 600, 600),
                thread(2, "ForkJoinPool-1-worker-2", ThreadKind.CARRIER, 400, 400),
                thread(3, "main", 50));
        MeasuredStacks measured = scale(
                ProfileSelection.all(),
                threads,
                1_050,
                List.of(
                        jfrSample("", 77, 3, "java.lang.VirtualThread.run_[j]", "a_[j]"),
                        jfrSample("ForkJoinPool-1-worker-2", 2, 1, "b_[j]"),
                        jfrSample("main", 3, 1, "c_[j]")));
        assertThat(measured.hasVirtual()).isTrue();
        assertThat(measured.stacks())
                .containsExactly(
                        new Profile.Stack(
                                "ForkJoinPool-#-worker-#",
                                "(virtual threads)",
                                0,
                                "",
                                List.of("java.lang.VirtualThread.run_[j]", "a_[j]"),
                                3,
                                750),
                        new Profile.Stack(
                                "ForkJoinPool-#-worker-#", "ForkJoinPool-1-worker-2", 2, "", List.of("b_[j]"), 1, 250),
                        new Profile.Stack("main", "main", 3, "", List.of("c_[j]"), 1, 50));
    }

    @Test
    void shouldGiveEndedThreadsWhatIsLeft() throws Exception {
        List<ThreadUsage> threads = List.of(thread(1, "task-1", 1_000));
        List<StackSource.Sample> samples = List.of(sample(1, 1, "a"), sample(8, 1, "b"), sample(9, 1, "b"));
        MeasuredStacks all = scale(ProfileSelection.all(), threads, 1_600, samples);
        assertThat(all.stacks())
                .containsExactly(
                        new Profile.Stack("task-#", "task-1", 1, "", List.of("a"), 1, 1_000),
                        new Profile.Stack("name of #", "(ended threads)", 0, "", List.of("b"), 2, 600));
        List<StackSource.Sample> ofPool =
                List.of(sample(1, 1, "a"), new StackSource.Sample("task-2", 9, 0, List.of("b"), 1, 10 * MILLISECOND));
        MeasuredStacks pool = scale(ProfileSelection.pool("task-#"), threads, 500 * MILLISECOND, ofPool);
        assertThat(pool.endedNanos()).as("as much as the sample stands for").isEqualTo(10 * MILLISECOND);
        assertThat(pool.cpuNanos()).isEqualTo(1_000 + 10 * MILLISECOND);
        assertThat(scale(ProfileSelection.all(), threads, 1_600, List.of()).stacks())
                .extracting(Profile.Stack::thread)
                .containsExactly("task-1", "(ended threads)");
    }

    /** A thread that started meanwhile, of which Flight Recorder knows the name and the kernel its beginning. */
    @Test
    void shouldFindThreadsByTheNameThatTheKernelKeeps() throws Exception {
        ThreadUsage unnamed = ThreadUsage.of(1, 5, "a-long-pool-thr", ThreadKind.JAVA)
                .truncated(true)
                .cpu(300, 300)
                .build();
        MeasuredStacks measured = scale(
                ProfileSelection.all(),
                List.of(unnamed),
                300,
                List.of(jfrSample("a-long-pool-thread-1", 55, 1, "a"), jfrSample("other", 56, 1, "b")));
        assertThat(measured.stacks())
                .contains(
                        new Profile.Stack("a-long-pool-thread-#", "a-long-pool-thread-1", 5, "", List.of("a"), 1, 300));
    }

    /** Its pool is known only from its samples. */
    @Test
    void shouldCountAThreadOfAPoolWhoseNameIsIncomplete() throws Exception {
        ThreadUsage unnamed = ThreadUsage.of(1, 5, "a-long-pool-thr", ThreadKind.JAVA)
                .truncated(true)
                .cpu(300, 300)
                .build();
        MeasuredStacks measured = scale(
                ProfileSelection.pool("a-long-pool-thread-#"),
                List.of(thread(4, "a-long-pool-thread-2", 100), unnamed),
                400,
                List.of(new StackSource.Sample("a-long-pool-thread-1", 5, 0, List.of("a"), 1, 10 * MILLISECOND)));
        assertThat(measured.cpuNanos()).isEqualTo(400);
        assertThat(measured.stacks())
                .contains(
                        new Profile.Stack("a-long-pool-thread-#", "a-long-pool-thread-1", 5, "", List.of("a"), 1, 300));
    }
}
