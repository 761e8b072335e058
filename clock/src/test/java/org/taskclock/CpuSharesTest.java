// SPDX-License-Identifier: Apache-2.0
// Copyright the TaskClock authors
package org.taskclock;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;

import java.time.Duration;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.atomic.AtomicBoolean;
import org.junit.jupiter.api.Test;

/** Tests shares of processors with a clock and usage that are made up, and once with real ones. */
class CpuSharesTest {
    private static final long MILLI = 1_000_000;
    private static final Duration BURST = Duration.ofMillis(50);

    private long now = Long.MAX_VALUE - 1_000 * MILLI; // overflows during the test
    private final Map<String, Long> used = new HashMap<>();
    private final CpuShares shares = new CpuShares(1, BURST, names -> new HashMap<>(used), () -> now);

    private void use(String name, long nanos) {
        used.merge(name, nanos, Long::sum);
    }

    private void pass(long nanos) {
        now += nanos;
    }

    @Test
    void shouldReserveWhatTasksAreExpectedToUse() {
        List<CpuShares.Permit> permits = new ArrayList<>();
        for (int i = 0; i < 5; i++) permits.add(shares.admit("a", 10 * MILLI));
        assertThat(permits).doesNotContainNull();
        assertThat(shares.admit("a", 10 * MILLI)).isNull();
        assertThat(shares.admit("b", 10 * MILLI)).isNotNull();
        permits.get(0).close();
        // What it has used is not known yet.
        assertThat(shares.admit("a", 10 * MILLI)).isNull();
        pass(10 * MILLI);
        assertThat(shares.admit("a", 10 * MILLI)).isNotNull();
        assertThat(shares.admit("a", 10 * MILLI)).isNull();
    }

    @Test
    void shouldEndAReservationOnce() {
        CpuShares.Permit first = shares.admit("a", 50 * MILLI);
        first.close();
        first.close();
        pass(10 * MILLI);
        assertThat(shares.admit("a", 50 * MILLI)).isNotNull();
        assertThat(shares.admit("a", 50 * MILLI)).isNull();
    }

    @Test
    void shouldLearnWhatTasksUse() {
        CpuShares.Permit first = shares.admit("a");
        assertThat(shares.admit("a")).isNull(); // until the first one ends
        use("a", 5 * MILLI);
        first.close();
        pass(100 * MILLI);
        for (int i = 0; i < 10; i++) assertThat(shares.admit("a")).isNotNull();
        assertThat(shares.admit("a")).isNull();
    }

    @Test
    void shouldChargeWhatWasUsedBeyondTheBudget() {
        try (var permit = shares.admit("a", MILLI);
                var second = shares.admit("b", MILLI)) {
            assertThat(List.of(permit, second)).hasSize(2);
            use("a", 250 * MILLI);
            use("b", 250 * MILLI);
        }
        // Both get half of a processor.
        pass(10 * MILLI);
        assertThat(shares.admit("a", MILLI)).isNull();
        pass(389 * MILLI);
        assertThat(shares.admit("a", MILLI)).isNull();
        pass(11 * MILLI);
        assertThat(shares.admit("a", MILLI)).isNotNull();
    }

    @Test
    void shouldGiveWhatOthersDoNotNeedToThoseWhoDo() {
        for (String name : List.of("idle 1", "idle 2", "idle 3"))
            shares.admit(name, MILLI).close();
        shares.admit("a", MILLI).close();
        use("a", 150 * MILLI); // 100 ms more than its budget
        pass(90 * MILLI);
        assertThat(shares.admit("a", MILLI)).isNull();
        pass(11 * MILLI);
        assertThat(shares.admit("a", MILLI)).isNotNull();
    }

    @Test
    void shouldNotChargeUsageFromBefore() {
        use("a", 1_000_000 * MILLI);
        assertThat(shares.admit("a", MILLI)).isNotNull();
        used.put("a", 3 * MILLI); // the registry has forgotten the account
        pass(10 * MILLI);
        assertThat(shares.admit("a", 45 * MILLI)).isNotNull();
        use("a", 100 * MILLI);
        pass(10 * MILLI);
        assertThat(shares.admit("a", MILLI)).isNull();
    }

    @Test
    void shouldBeBounded() {
        List<CpuShares.Permit> permits = new ArrayList<>();
        for (int i = 0; i < 100_000; i++) shares.admit("gone " + i, MILLI).close();
        for (int i = 0; i < CpuShares.MAX_NAMES; i++) permits.add(shares.admit("a " + i, MILLI));
        assertThat(permits).doesNotContainNull();
        assertThat(shares.admit("one more", MILLI)).isNull();
        assertThat(shares.admit("a 1", MILLI)).isNotNull();
        permits.get(0).close();
        pass(10 * MILLI);
        assertThat(shares.admit("one more", MILLI)).isNotNull();
    }

    @Test
    void shouldRejectWhatCannotBeShared() {
        AccountType type = new AccountType("test", SharedAccountType.create());
        for (double processors : new double[] {0, -1, Double.NaN}) {
            assertThatIllegalArgumentException().isThrownBy(() -> new CpuShares(type, processors, BURST));
        }
        for (Duration burst : List.of(Duration.ZERO, Duration.ofMillis(-1))) {
            assertThatIllegalArgumentException().isThrownBy(() -> new CpuShares(type, 1, burst));
        }
    }

    /**
     * A processor that runs admitted tasks in turns of 1 ms. One tenant sends as many tasks of 12 ms as it may, three
     * others send tasks of 2 ms at a rate that needs less than their share.
     */
    @Test
    void shouldProtectOthersFromAStorm() {
        record Task(String name, CpuShares.Permit permit, int leftMillis) {}
        Deque<Task> running = new ArrayDeque<>();
        Map<String, Integer> refused = new HashMap<>();
        Map<String, Integer> admitted = new HashMap<>();
        long start = now;
        for (int milli = 0; milli < 20_000; milli++) {
            List<String> arrivals = new ArrayList<>(List.of("storm", "storm", "storm", "storm"));
            for (int i = 0; i < 3; i++) {
                if (milli % 20 == 6 * i) arrivals.add("quiet " + i);
            }
            for (String name : arrivals) {
                CpuShares.Permit permit = shares.admit(name);
                (permit == null ? refused : admitted).merge(name, 1, Integer::sum);
                if (permit != null) running.add(new Task(name, permit, name.equals("storm") ? 12 : 2));
            }
            Task next = running.poll();
            if (next != null) {
                use(next.name, MILLI);
                if (next.leftMillis > 1) running.add(new Task(next.name, next.permit, next.leftMillis - 1));
                else next.permit.close();
            }
            pass(MILLI);
        }
        for (int i = 0; i < 3; i++) {
            assertThat(refused.getOrDefault("quiet " + i, 0)).isLessThanOrEqualTo(1);
            assertThat(admitted.get("quiet " + i)).isGreaterThanOrEqualTo(999);
        }
        // Gets the rest: 70 % of the processor, and not more than its budget besides.
        assertThat(used.get("storm")).isBetween(13_500 * MILLI, 14_100 * MILLI);
        assertThat(running.size()).isLessThan(10);
        assertThat(refused.get("storm")).isGreaterThan(70_000);
        assertThat(now - start).isEqualTo(20_000 * MILLI);
    }

    /** With the accounts of real threads: what the storm may use in all is bounded. */
    @Test
    @SuppressWarnings("try")
    void shouldLimitRealThreads() throws InterruptedException {
        AccountType type = new AccountType("test", SharedAccountType.create());
        double processors = 0.1;
        CpuShares real = new CpuShares(type, processors, BURST);
        AtomicBoolean end = new AtomicBoolean();
        long start = System.nanoTime();
        Thread timer = new Thread(() -> {
            while (System.nanoTime() - start < 1_500 * MILLI) Thread.onSpinWait();
            end.set(true);
        });
        timer.start();
        CpuLoad.runOnThreads(4, () -> {
            while (!end.get()) {
                try (var permit = real.admit("storm", 2 * MILLI)) {
                    if (permit != null) burn(type.of("storm"));
                }
                Thread.onSpinWait();
            }
        });
        timer.join();
        long elapsed = System.nanoTime() - start;
        long share = (long) (elapsed * processors);
        // Up to 25 tasks can run at once, and each may exceed what was expected.
        assertThat(type.of("storm").cpuNanos()).isBetween(share / 4, share + 200 * MILLI);
    }

    @SuppressWarnings("try")
    private static void burn(CpuAccount account) {
        try (var section = account.enter()) {
            long before = TaskClock.cpuNanos();
            while (TaskClock.cpuNanos() - before < 2 * MILLI) CpuLoad.burnUser(1_000);
        }
    }
}
