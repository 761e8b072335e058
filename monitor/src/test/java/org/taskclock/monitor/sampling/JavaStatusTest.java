// SPDX-License-Identifier: Apache-2.0
// Copyright the TaskClock authors
package org.taskclock.monitor.sampling;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.List;
import java.util.function.Predicate;
import org.assertj.core.data.Offset;
import org.junit.jupiter.api.Test;
import org.taskclock.monitor.finding.Finding;
import org.taskclock.monitor.finding.LockConvoy;
import org.taskclock.monitor.usage.JavaStatus;
import org.taskclock.monitor.usage.ThreadUsage;
import org.taskclock.testing.LoadJvm;

/** The Java states, locks, and allocation of threads in real JVMs. */
class JavaStatusTest {
    /** Each attempt takes a quarter of a second. */
    private static final int MAX_ATTEMPTS = 120;

    private static JavaStatus java(Interval interval, String name) {
        return interval.threads().stream()
                .filter(thread -> thread.name().equals(name))
                .findFirst()
                .orElseThrow()
                .java();
    }

    private static Interval await(Sampler sampler, Predicate<Interval> condition) throws Exception {
        Interval interval = sampler.next();
        for (int i = 0; i < MAX_ATTEMPTS; i++) {
            Thread.sleep(250);
            interval = sampler.next();
            if (condition.test(interval)) return interval;
        }
        throw new AssertionError("not found; the last interval was " + interval);
    }

    private static Finding convoy(Interval interval) {
        return interval.findings().stream()
                .filter(finding -> finding.kind() instanceof LockConvoy)
                .findFirst()
                .orElse(null);
    }

    @Test
    void shouldNameTheOwnerOfAMonitor() throws Exception {
        try (LoadJvm load = LoadJvm.start("convoy=5", "idle", "busy");
                Sampler sampler = Sampler.of(load.pid())) {
            sampler.watchJavaStatus(true);
            Interval interval = await(sampler, i -> convoy(i) != null);
            JavaStatus waiter = java(interval, "lock-waiter-2");
            assertThat(waiter.state()).isEqualTo(Thread.State.BLOCKED);
            assertThat(waiter.lockClass()).isEqualTo("java.util.BitSet");
            assertThat(waiter.lockId()).startsWith("0x");
            assertThat(waiter.contended()).isTrue();
            assertThat(waiter.owner()).isEqualTo("lock-owner");
            ThreadUsage owner = interval.threads().stream()
                    .filter(thread -> thread.name().equals("lock-owner"))
                    .findFirst()
                    .orElseThrow();
            assertThat(waiter.ownerTid()).isEqualTo(owner.tid());
            assertThat(waiter.blockedNanos()).isGreaterThan(interval.intervalNanos() * 9 / 10);
            assertThat(waiter.waitedNanos()).isBetween(0L, interval.intervalNanos() / 10);
            JavaStatus sleeper = java(interval, "pool-7-thread-1");
            assertThat(sleeper.state()).isEqualTo(Thread.State.TIMED_WAITING);
            assertThat(sleeper.contended()).isFalse();
            assertThat(sleeper.blockedNanos()).isZero();
            assertThat(sleeper.waitedNanos()).isEqualTo(interval.intervalNanos());
            assertThat(owner.java().blockedNanos()).isZero();
            Finding found = convoy(interval);
            assertThat(found.tid()).isEqualTo(owner.tid());
            assertThat(found.text())
                    .isEqualTo("thread \"lock-owner\" holds a lock that 4 threads wait for: java.util.BitSet");
            assertThat(found.evidence()).anyMatch(e -> e.startsWith("4 threads waited in each sample for"));
        }
    }

    /** Nothing is displayed, so a dump is taken only because the JVM counts contended monitors, or at a low rate. */
    @Test
    void shouldFindConvoysOfUtilLocksInTheBackground() throws Exception {
        try (LoadJvm load = LoadJvm.start("parked=5");
                Sampler sampler = Sampler.of(load.pid())) {
            Interval interval = await(sampler, i -> convoy(i) != null);
            assertThat(convoy(interval).text())
                    .isEqualTo(
                            "4 threads wait for the same lock: java.util.concurrent.locks.ReentrantLock$NonfairSync");
            assertThat(convoy(interval).evidence())
                    .contains("owner unknown: thread dumps do not contain the owners of java.util.concurrent locks");
            JavaStatus waiter = java(interval, "lock-waiter-1");
            assertThat(waiter.state()).isEqualTo(Thread.State.WAITING);
            assertThat(waiter.contended()).isTrue();
            assertThat(waiter.owner()).isEmpty();
        }
    }

    @Test
    void shouldNotReportConvoysOfIdlePools() throws Exception {
        try (LoadJvm load = LoadJvm.start("idle=10", "busy");
                Sampler sampler = Sampler.of(load.pid())) {
            sampler.watchJavaStatus(true);
            sampler.next();
            for (int i = 0; i < 5; i++) {
                Thread.sleep(300);
                assertThat(sampler.next().findings()).noneMatch(found -> found.kind() instanceof LockConvoy);
            }
        }
    }

    @Test
    void shouldAgreeWithTheAllocationThatTheJvmReports() throws Exception {
        try (LoadJvm load = LoadJvm.start("allocate", "idle");
                Sampler sampler = Sampler.of(load.pid())) {
            sampler.watchJavaStatus(true);
            sampler.next();
            long[] before = allocated(load);
            for (int i = 0; i < 5; i++) {
                Thread.sleep(1_000);
                Interval interval = sampler.next();
                long[] now = allocated(load);
                if (i > 1) {
                    double expected = (now[0] - before[0]) * 1e9 / (now[1] - before[1]);
                    double found = java(interval, "allocator").allocatedBytes() * 1e9 / interval.intervalNanos();
                    assertThat(found).isCloseTo(expected, Offset.offset(expected / 4));
                    assertThat(java(interval, "pool-7-thread-1").allocatedBytes())
                            .isZero();
                }
                before = now;
            }
        }
    }

    /** Returns the bytes that the allocating thread has allocated, and when. */
    private static long[] allocated(LoadJvm load) throws Exception {
        List<String> lines = load.send("allocated");
        String[] parts = lines.stream()
                .filter(line -> line.startsWith("allocator\t"))
                .findFirst()
                .orElseThrow()
                .split("\t", -1);
        return new long[] {Long.parseLong(parts[1]), Long.parseLong(parts[2])};
    }

    @Test
    void shouldKnowNothingWithoutAttaching() throws Exception {
        try (LoadJvm load = LoadJvm.start("convoy=5", "allocate");
                Sampler sampler = Sampler.withoutAttach(load.pid())) {
            sampler.watchJavaStatus(true);
            sampler.next();
            Thread.sleep(300);
            Interval interval = sampler.next();
            assertThat(interval.threads()).isNotEmpty().allSatisfy(thread -> assertThat(thread.java())
                    .isEqualTo(JavaStatus.UNKNOWN));
            assertThat(interval.totals().heap()).describedAs("read from a file").isNotNull();
        }
    }
}
