// SPDX-License-Identifier: Apache-2.0
// Copyright the TaskClock authors
package org.taskclock.monitor.profile;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.time.Instant;
import java.util.List;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.taskclock.PoolName;
import org.taskclock.metrics.ThreadKind;
import org.taskclock.monitor.usage.ThreadUsage;

class ProfileTest {
    private static final long MILLISECOND = 1_000_000;

    private static Profile profile(long sampledNanos, Profile.Stack... stacks) {
        long cpuNanos = Stream.of(stacks).mapToLong(Profile.Stack::cpuNanos).sum();
        return new Profile(
                1,
                "Main",
                "all threads",
                Instant.EPOCH,
                1_000_000_000,
                "test",
                10 * MILLISECOND,
                sampledNanos,
                cpuNanos,
                cpuNanos / 2,
                List.of(stacks),
                List.of());
    }

    private static Profile.Stack stack(String thread, int tid, long samples, long cpuNanos, String... frames) {
        return new Profile.Stack(PoolName.of(thread), thread, tid, "", List.of(frames), samples, cpuNanos);
    }

    @Test
    void shouldNameSystemCalls() {
        Profile profile = profile(
                100,
                stack("a", 1, 3, 30, "a.B.read", "entry_SYSCALL_64_[k]", "__x64_sys_read_[k]", "vfs_read_[k]"),
                stack("b", 2, 1, 10, "a.B.take", "__arm64_sys_futex_[k]", "__x64_sys_never_[k]"),
                stack("b", 2, 1, 20, "a.B.take", "__arm64_sys_futex_[k]", "do_futex_[k]"),
                stack("b", 2, 4, 40, "a.B.compute", "sys_read"));
        assertThat(profile.describeSystemCalls()).isEqualTo("futex 30.0 %, read 30.0 %");
        assertThat(profile(1, stack("a", 1, 1, 1, "a.B.run")).describeSystemCalls())
                .isEmpty();
    }

    @Test
    void shouldReadTheStacksOfAsyncProfiler() {
        String collapsed = """
                [main tid=12];a.B.run_[j];a.B.hot_[i] 3
                [a;b] tid=7] tid=13];a.B.run_[0] 2
                [GC Thread#0 tid=14];thread_native_entry;G1::work 1
                [idle tid=15] 4
                not a stack
                [forged tid=99999999999] 1
                [forged tid=1] 99999999999999999999
                """;
        List<StackSource.Sample> samples = AsyncProfilerSource.parse(collapsed, 10 * MILLISECOND);
        assertThat(samples)
                .extracting(StackSource.Sample::thread)
                .containsExactly("main", "a;b] tid=7]", "GC Thread#0", "idle");
        assertThat(samples.get(0))
                .isEqualTo(new StackSource.Sample(
                        "main", 12, 0, List.of("a.B.run_[j]", "a.B.hot_[i]"), 3, 30 * MILLISECOND));
        assertThat(samples.get(3).frames()).isEmpty();
    }

    @Test
    void shouldAddUpMethods() {
        Profile profile = profile(
                100 * MILLISECOND,
                stack("t", 1, 6, 60 * MILLISECOND, "run_[j]", "hot_[j]"),
                stack("u", 2, 1, 10 * MILLISECOND, "run_[j]", "hot_[i]"),
                stack("t", 1, 2, 20 * MILLISECOND, "run_[j]", "again_[j]", "again_[j]"),
                stack("t", 1, 1, 10 * MILLISECOND, "[no stack]"),
                stack("v", 3, 0, 25 * MILLISECOND, "[not sampled]"));
        assertThat(profile.methods())
                .containsExactly(
                        new Profile.Method("hot", 70 * MILLISECOND, 70 * MILLISECOND),
                        new Profile.Method("[not sampled]", 25 * MILLISECOND, 25 * MILLISECOND),
                        new Profile.Method("again", 20 * MILLISECOND, 20 * MILLISECOND),
                        new Profile.Method("[no stack]", 10 * MILLISECOND, 10 * MILLISECOND),
                        new Profile.Method("run", 0, 90 * MILLISECOND));
        assertThat(profile.samples()).isEqualTo(10);
        assertThat(profile.coveredPercent()).isEqualTo(80);
        assertThat(profile.percent(25 * MILLISECOND)).isEqualTo(20);
        assertThat(profile(0).coveredPercent()).isEqualTo(-1);
    }

    private static ThreadUsage thread(int tid, String name, ThreadKind kind) {
        return ThreadUsage.of(1, tid, name, kind)
                .javaId(tid)
                .pool(PoolName.of(name))
                .cpu(MILLISECOND, MILLISECOND)
                .waited(0)
                .switches(0, 0)
                .state('R')
                .build();
    }

    @Test
    void shouldWriteOneLinePerStack() {
        assertThat(profile(0, stack("t", 1, 3, 1_600, "a\nb_[j]", "c_[j]"), stack("t", 1, 1, 2_500, "d_[j]"))
                        .collapsed())
                .as("4.1 microseconds")
                .isEqualTo("a b_[j];c_[j] 1\nd_[j] 3\n");
    }

    @Test
    void shouldBeginWithThePoolAndTheThreadIfThereAreSeveral() {
        assertThat(profile(
                                0,
                                stack("http;1", 11, 1, 2_000, "a_[j]"),
                                stack("main", 1, 1, 1_000, "b_[j]"),
                                stack("", 0, 1, 1_000, "c_[j]"))
                        .collapsed())
                .isEqualTo("[http,#];[http,1 tid=11];a_[j] 2\n[main tid=1];b_[j] 1\n[];c_[j] 1\n");
        Profile anonymous = profile(0, stack("secret", 11, 1, 2_000, "a_[j]"), stack("main", 1, 1, 1_000, "a_[j]"))
                .anonymous("program");
        assertThat(anonymous.program()).isEqualTo("program");
        assertThat(anonymous.collapsed()).isEqualTo("a_[j] 2\na_[j] 1\n");
    }

    /** Without attaching, the Java ids of carriers are unknown. */
    @Test
    void shouldNotMistakeUnknownThreadsForCarriers() throws ProfileException {
        ThreadUsage known = thread(11, "ForkJoinPool-1-worker-1", ThreadKind.CARRIER);
        ThreadUsage unknown = ThreadUsage.of(1, 12, "ForkJoinPool-1-", ThreadKind.CARRIER)
                .truncated(true)
                .cpu(1, 1)
                .waited(0)
                .switches(0, 0)
                .state('R')
                .build();
        ProfileSelection carriers = ProfileSelection.carriers();
        carriers.resolve(1, List.of(known));
        carriers.includeAllCarriers(List.of(known, unknown));
        assertThat(carriers.includes(new StackSource.Sample("", 0, 0, List.of("a.B.run_[j]"), 1, 1)))
                .isFalse();
        assertThat(carriers.includes(new StackSource.Sample("", 0, 11, List.of("a.B.run_[j]"), 1, 1)))
                .isTrue();
        assertThat(carriers.includes(
                        new StackSource.Sample("", 0, 77, List.of("java.lang.VirtualThread.run_[j]"), 1, 1)))
                .isTrue();
    }

    @Test
    void shouldSelectThreads() throws ProfileException {
        List<ThreadUsage> threads = List.of(
                thread(11, "http-1", ThreadKind.JAVA),
                thread(12, "http-12", ThreadKind.JAVA),
                thread(13, "Loader", ThreadKind.JAVA),
                thread(14, "Lone-1", ThreadKind.JAVA));
        assertThat(ProfileSelection.thread("http-1").resolve(1, threads)).isEqualTo("thread \"http-1\" (11)");
        assertThat(ProfileSelection.thread("12").resolve(1, threads)).isEqualTo("thread \"http-12\" (12)");
        assertThat(ProfileSelection.thread("load").resolve(1, threads)).isEqualTo("thread \"Loader\" (13)");
        for (String pool : List.of("http-#", "http-7", "HTTP"))
            assertThat(ProfileSelection.pool(pool).resolve(1, threads)).isEqualTo("pool \"http-#\" (2 threads)");
        assertThatThrownBy(() -> ProfileSelection.thread("http").resolve(1, threads))
                .hasMessage("process 1: more than one thread has \"http\" in its name: give one of: http-1, http-12");
        assertThatThrownBy(() -> ProfileSelection.pool("x").resolve(1, threads))
                .hasMessageStartingWith("process 1: no pool has \"x\" in its name: ");
        assertThatThrownBy(() -> ProfileSelection.carriers().resolve(1, threads))
                .hasMessageContaining("no carrier threads");

        ProfileSelection pool = ProfileSelection.pool("http-#");
        pool.resolve(1, threads);
        // A thread that started after the selection belongs to the pool, too.
        assertThat(pool.includes(new StackSource.Sample("http-99", 99, 0, List.of(), 1, 1)))
                .isTrue();
        assertThat(pool.includes(new StackSource.Sample("Loader", 13, 0, List.of(), 1, 1)))
                .isFalse();
    }
}
