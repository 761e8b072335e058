// SPDX-License-Identifier: Apache-2.0
// Copyright the TaskClock authors
package org.taskclock;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.DirectoryStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicLong;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** Tests what accounts count besides CPU time, and limits by type. */
@Tag("contract")
@SuppressWarnings("try") // sections are opened only to count
class AccountDetailsTest {
    private static final long WORK_NANOS = 3_000_000;
    private static final int MAX_WAIT_FILES = 256;

    private final AccountType type = new AccountType("test", SharedAccountType.create());

    private static void work() {
        long start = TaskClock.cpuNanos();
        while (TaskClock.cpuNanos() < start + WORK_NANOS) CpuLoad.burnUser(1_000);
    }

    private AccountUsage row(String name) {
        return type.read().accounts().stream()
                .filter(row -> row.name().equals(name))
                .findFirst()
                .orElseThrow();
    }

    private static long schedstatWaitNanos() {
        try {
            return Long.parseLong(
                    Files.readString(Path.of("/proc/thread-self/schedstat")).split(" ", 3)[1]);
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    @Test
    void shouldCountWaitTimeAsTheKernelDoes() throws InterruptedException {
        assumeTrue(ExpectedBackend.isNative(), "no native library for this system");
        type.withWaitTime();
        CpuAccount account = type.of("a");
        AtomicLong inside = new AtomicLong();
        AtomicLong around = new AtomicLong();
        CpuLoad.runOnThreads(2 * Runtime.getRuntime().availableProcessors(), () -> {
            for (int i = 0; i < 10; i++) {
                long before = schedstatWaitNanos();
                try (var section = account.enter()) {
                    long start = schedstatWaitNanos();
                    work();
                    inside.addAndGet(schedstatWaitNanos() - start);
                }
                around.addAndGet(schedstatWaitNanos() - before);
            }
        });
        assertThat(inside.get()).isPositive();
        assertThat(row("a").waitNanos()).isBetween(inside.get(), around.get());
        assertThat(row("a").allocatedBytes()).isEqualTo(-1);
    }

    /** Threads that have ended leave their files open, and the JDK refuses a checkpoint while files are open. */
    @Test
    void shouldKeepFewFilesOpen() throws Exception {
        assumeTrue(ExpectedBackend.isNative(), "no native library for this system");
        assertThat(Library.isAvailable()).isTrue();
        for (int round = 0; round < 3; round++) {
            CpuLoad.runOnThreads(MAX_WAIT_FILES, () -> Library.waitNanos());
            assertThat(waitFiles()).isBetween(1, MAX_WAIT_FILES);
        }
        long waited = Library.waitNanos();
        assertThat(waited).isNotNegative();
        Library.keepWaitFiles(false);
        assertThat(Library.waitNanos()).isGreaterThanOrEqualTo(waited);
        assertThat(waitFiles()).isZero();
        Library.keepWaitFiles(true);
        assertThat(Library.waitNanos()).isGreaterThanOrEqualTo(waited);
        assertThat(waitFiles()).isOne();
    }

    /** Returns the number of open files, all of which must be closed on exec. */
    private static int waitFiles() throws IOException {
        int count = 0;
        try (DirectoryStream<Path> files = Files.newDirectoryStream(Path.of("/proc/self/fd"))) {
            for (Path file : files) {
                if (!Files.isSymbolicLink(file) || !Files.readSymbolicLink(file).endsWith("schedstat")) continue;
                count++;
                assertThat(Files.readString(Path.of("/proc/self/fdinfo").resolve(file.getFileName())))
                        .containsPattern("flags:\\s+0?2");
            }
        }
        return count;
    }

    /** A section that other means have measured has no wait time and no bytes. */
    @Test
    void shouldReportWhatIsNotKnownOfASectionAsUnknown() {
        type.withAllocatedBytes().withWaitTime();
        type.of("a").enter().close();
        type.of("b").enter().close();
        type.add("a", new CpuTime(10, 10, 0), 1);
        assertThat(row("a").allocatedBytes()).isEqualTo(-1);
        assertThat(row("a").waitNanos()).isEqualTo(-1);
        assertThat(type.of("a").now().allocatedBytes()).isEqualTo(-1);
        assertThat(row("b").allocatedBytes()).isNotNegative();
        assertThat(row("b").waitNanos() >= 0).isEqualTo(Library.isLoaded());
    }

    @Test
    void shouldCountAllocatedBytesOfTheInnermostSection() {
        type.withAllocatedBytes();
        byte[][] kept = new byte[40][];
        try (var outer = type.of("a").enter()) {
            for (int i = 0; i < 10; i++) kept[i] = new byte[100_000];
            try (var inner = type.of("b").enter()) {
                for (int i = 10; i < 30; i++) kept[i] = new byte[100_000];
            }
        }
        for (int i = 30; i < 40; i++) kept[i] = new byte[100_000];
        assertThat((Object[]) kept).doesNotContainNull();
        assertThat(row("a").allocatedBytes()).isBetween(1_000_000L, 1_900_000L);
        assertThat(row("b").allocatedBytes()).isBetween(2_000_000L, 2_900_000L);
        assertThat(row("a").waitNanos()).isEqualTo(-1);
    }

    @Test
    void shouldNotCountDetailsOfSectionsThatWereOpenBefore() {
        byte[][] kept = new byte[10][];
        long waited = schedstatWaitNanos();
        for (int round = 0; round < 2; round++) {
            try (var section = type.of("a").enter()) {
                for (int i = 0; i < 10; i++) kept[i] = new byte[1_000_000];
                if (round > 0) continue;
                type.withAllocatedBytes().withWaitTime();
                waited = schedstatWaitNanos();
            }
        }
        assertThat((Object[]) kept).doesNotContainNull();
        assertThat(row("a").allocatedBytes()).isBetween(10_000_000L, 11_000_000L);
        assertThat(row("a").waitNanos()).isLessThanOrEqualTo(schedstatWaitNanos() - waited);
    }

    @Test
    void shouldCountSectionsByTheirTime() {
        type.withDistribution();
        CpuAccount account = type.of("a");
        account.enter().close();
        assertThat(row("a").distribution().count()).isZero(); // has a row from now on
        List<Long> heard = new ArrayList<>();
        type.listen((name, nanos) -> heard.add(nanos));
        for (int i = 0; i < 100; i++) {
            try (var section = account.enter()) {
                CpuLoad.burnUser(1_000 * i);
            }
        }
        heard.sort(null);
        Distribution distribution = row("a").distribution();
        assertThat(distribution.count()).isEqualTo(100);
        for (int percent = 1; percent <= 100; percent++) {
            long exact = heard.get(percent - 1);
            assertThat(distribution.quantileNanos((percent - 0.5) / 100))
                    .isBetween(exact + 1, exact + Math.max(1, exact / 8));
        }
    }

    @Test
    void shouldReportEachAccountThatReachesTheLimitOnce() {
        List<String> reached = new CopyOnWriteArrayList<>();
        type.limit(WORK_NANOS, reached::add);
        type.of("short").enter().close();
        for (int i = 0; i < 3; i++) {
            try (var section = type.of("long").enter()) {
                work();
            }
        }
        assertThat(reached).containsExactly("long");
        assertThat(type.of("long").isOverLimit()).isTrue();
        assertThat(type.of("short").isOverLimit()).isFalse();
        // It has used more already.
        type.limit(2 * WORK_NANOS, name -> reached.add(name + " again"));
        type.of("long").enter().close();
        type.check();
        assertThat(reached).containsExactly("long", "long again");
    }

    /** Many short sections must not exceed the limit by more than a few steps of a thousandth. */
    @Test
    void shouldDetectTheLimitWithinAThousandth() throws InterruptedException {
        long limit = 20_000_000;
        AtomicLong usedAtLimit = new AtomicLong();
        type.limit(limit, name -> usedAtLimit.set(type.of(name).cpuNanos()));
        CpuLoad.runOnThreads(1, () -> {
            while (usedAtLimit.get() == 0) {
                try (var section = type.of("a").enter()) {
                    CpuLoad.burnUser(100);
                }
            }
        });
        // One section can be long if the machine is busy.
        assertThat(usedAtLimit.get()).isBetween(limit, limit + 5_000_000);
    }

    @Test
    void shouldDetectTheLimitOfAnOpenSectionOfAnotherThread() throws InterruptedException {
        List<String> reached = new CopyOnWriteArrayList<>();
        CountDownLatch end = new CountDownLatch(1);
        Thread worker = new Thread(() -> {
            try (var section = type.of("a").enter()) {
                while (end.getCount() > 0) CpuLoad.burnUser(1_000);
            }
        });
        type.limit(WORK_NANOS, reached::add);
        worker.start();
        while (reached.isEmpty()) type.check();
        assertThat(type.of("a").cpuNanos()).isGreaterThanOrEqualTo(WORK_NANOS);
        type.check();
        end.countDown();
        worker.join();
        assertThat(reached).containsExactly("a");
    }

    @Test
    void shouldLimitOneAccount() {
        AtomicLong calls = new AtomicLong();
        type.of("a").limit(0, calls::incrementAndGet);
        type.of("b").enter().close();
        assertThat(calls).hasValue(0);
        type.of("a").enter().close();
        type.of("a").enter().close();
        assertThat(calls).hasValue(1);
        assertThat(type.of("a").check()).isTrue();
        assertThat(type.of("b").check()).isFalse();
    }

    @Test
    void shouldCountTheSectionIfACallbackThrows() throws Exception {
        AutoCloseable subscription = type.listen((name, nanos) -> {
            throw new IllegalStateException("expected");
        });
        CpuSection section = type.of("a").enter();
        assertThatThrownBy(section::close).hasMessage("expected");
        subscription.close();
        type.limit(0, name -> {
            throw new IllegalStateException("too much");
        });
        assertThatThrownBy(() -> type.of("a").enter().close()).hasMessage("too much");
        type.of("a").enter().close();
        assertThat(row("a").sections()).isEqualTo(3);
        assertThat(type.of("a").now().isComplete()).isTrue();
    }

    @Test
    void shouldForgetLimitsOfAccountsThatNoLongerExist() {
        type.limit(1L << 60, name -> {});
        for (int i = 0; i < 10_000; i++) type.limit("gone " + i);
        assertThat(type.limitCount()).isLessThan(2_100);
    }

    @Test
    void shouldRejectANegativeLimit() {
        assertThatIllegalArgumentException()
                .isThrownBy(() -> type.limit(-1, name -> {}))
                .withMessageContaining("-1");
    }
}
