// SPDX-License-Identifier: Apache-2.0
// Copyright the TaskClock authors
package org.taskclock;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;

import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.atomic.AtomicLongArray;
import java.util.stream.Collectors;
import net.jqwik.api.ForAll;
import net.jqwik.api.Property;
import net.jqwik.api.constraints.IntRange;
import net.jqwik.api.constraints.Size;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Tests which accounts have a row, with made-up usage. */
class AccountRowsTest {
    private final Object[] shared = SharedAccountType.create();
    private final AccountType type = new AccountType("test", shared);

    /** Adds usage to an account, as an ended thread does. */
    private void use(String name, long nanos) {
        AtomicLongArray counters = NamedAccount.counters(type.named(name).shared());
        counters.getAndAdd(AccountCounters.CPU, nanos);
        counters.getAndAdd(AccountCounters.SECTIONS, 1);
    }

    private Map<String, Long> rows() {
        return rows(type.read());
    }

    private static Map<String, Long> rows(AccountReading reading) {
        return reading.accounts().stream().collect(Collectors.toMap(AccountUsage::name, AccountUsage::cpuNanos));
    }

    @Test
    void shouldShowTheBusiestAccounts() {
        type.maxNames(4);
        for (int i = 0; i < 10; i++) use("first " + i, 1_000_000 - i);
        assertThat(rows()).containsOnlyKeys("first 0", "first 1", "first 2", "first 3", "other");
        assertThat(type.read().names()).isEqualTo(10);
    }

    @Test
    void shouldKeepTheLastQuarterForBusyAccounts() {
        type.maxNames(4);
        use("busy", 1_000_000);
        for (int i = 0; i < 10; i++) use("idle " + i, 10);
        assertThat(rows()).hasSize(4).containsKeys("busy", "other");
        use("newcomer", 1_000_000);
        assertThat(rows()).hasSize(5).containsEntry("newcomer", 1_000_000L);
    }

    @Test
    void shouldGiveTheRowOfAnIdleAccountToABusyOneAndBack() {
        type.maxNames(4);
        for (int i = 0; i < 4; i++) use("old " + i, 1_000 + i);
        assertThat(rows()).containsOnlyKeys("old 0", "old 1", "old 2", "old 3");
        use("new", 1_000_000);
        AccountReading replaced = type.read();
        assertThat(rows(replaced)).containsOnlyKeys("new", "old 1", "old 2", "old 3");
        assertThat(replaced.retired().cpuNanos()).isEqualTo(1_000);
        use("old 0", 7);
        assertThat(rows()).containsEntry("other", 7L).doesNotContainKey("old 0");
        use("old 0", 100_000_000);
        AccountReading back = type.read();
        // What it used without a row stays where it was counted.
        assertThat(rows(back)).containsEntry("old 0", 100_001_000L).containsEntry("other", 7L);
        assertThat(back.retired().cpuNanos()).isEqualTo(1_001);
        assertThat(type.of("old 0").cpuNanos()).isEqualTo(100_001_007);
    }

    @Test
    void shouldRetireRowsIfThereMayBeFewer() {
        for (int i = 0; i < 10; i++) use("account " + i, 1_000 + i);
        assertThat(rows()).hasSize(10);
        type.maxNames(4);
        AccountReading fewer = type.read();
        assertThat(rows(fewer)).containsOnlyKeys("account 6", "account 7", "account 8", "account 9");
        assertThat(fewer.retired().cpuNanos()).isEqualTo(6_015);
        assertThat(fewer.retired().sections()).isEqualTo(6);
    }

    @ParameterizedTest
    @ValueSource(ints = {-1, 0, 3, 1_001})
    void shouldRejectANumberOfNames(int count) {
        assertThatIllegalArgumentException()
                .isThrownBy(() -> type.maxNames(count))
                .withMessageContaining(count + "");
    }

    /** Two copies of the library read alternately. */
    @Property(tries = 300)
    void shouldNeverDecreaseNorLoseTime(
            @ForAll @Size(max = 300) List<@IntRange(max = 400) Integer> accounts, @ForAll @IntRange(min = 1) int seed) {
        Object[] ownShared = SharedAccountType.create();
        AccountType[] copies = {new AccountType("test", ownShared), new AccountType("test", ownShared)};
        copies[0].maxNames(4);
        Map<String, Long> last = new HashMap<>();
        long sum = 0;
        for (int i = 0; i < accounts.size(); i++) {
            int account = accounts.get(i) % 20;
            long nanos = (long) Math.abs(seed % 1_000 + 1) << accounts.get(i) % 16;
            NamedAccount.counters(copies[0].named("account " + account).shared())
                    .getAndAdd(AccountCounters.CPU, nanos);
            sum += nanos;
            if (i % 3 != 0) continue;
            AccountReading reading = copies[i % 2].read();
            Map<String, Long> rows = rows(reading);
            assertThat(rows.size()).isLessThanOrEqualTo(5);
            rows.forEach((name, row) -> assertThat(row).isGreaterThanOrEqualTo(last.getOrDefault(name, 0L)));
            last.putAll(rows);
            long shown = rows.values().stream().mapToLong(Long::longValue).sum();
            assertThat(shown + reading.retired().cpuNanos()).isEqualTo(sum);
            assertThat(reading.retired().cpuNanos()).isNotNegative();
        }
    }

    @Test
    void shouldForgetIdleAccountsOnlyIfThereAreMany() {
        int many = AccountType.CAPACITY / 2;
        for (int i = 0; i < 75; i++) use("busy " + i, 1_000);
        type.read(); // gives rows to these
        for (int i = 75; i < many; i++) use("account " + (i - 75), 1);
        CpuAccount kept = type.of("account 1");
        type.read();
        assertThat(type.read().names()).isEqualTo(many); // they were in use a moment ago
        type.of("account 2").enter().close(); // this thread may use it again
        use("busy 0", 1_000_000_000); // so it gets no row
        type.read();
        makeIdle();
        // The reading forgets them, and the next one shows it.
        long before = type.read().accounts().stream()
                .mapToLong(AccountUsage::cpuNanos)
                .sum();
        AccountReading after = type.read();
        assertThat(after.names()).isBetween(76, 101);
        assertThat(after.accounts().stream().mapToLong(AccountUsage::cpuNanos).sum())
                .isGreaterThanOrEqualTo(before);
        assertThat(type.accounts()).containsKey("account 2").doesNotContainKey("account 1");
        // A view of a forgotten account starts a new one.
        assertThat(kept.cpuNanos()).isZero();
        kept.enter().close();
        assertThat(kept.cpuNanos()).isPositive().isEqualTo(type.of("account 1").cpuNanos());
        assertThat(type.read().names()).isBetween(77, 102);
    }

    private void makeIdle() {
        for (var account : type.accounts().values())
            ((long[]) account.getPlain(NamedAccount.STATE))[AccountEntry.ACTIVE_AT] -= 20_000_000_000L;
    }

    @Test
    void shouldCutNamesAndReplaceWhatIsNoText() {
        String huge = "x".repeat(10_000_000);
        use(huge, 1);
        use(huge + "y", 1);
        use("lone \ud800", 1);
        use("pair \ud83d\ude00", 1);
        use("", 1);
        use("a\nb\u0000", 1);
        assertThat(rows())
                .containsOnlyKeys("x".repeat(200) + "~", "lone ?", "pair \ud83d\ude00", "", "a\nb\u0000")
                .containsEntry("x".repeat(200) + "~", 2L);
    }

    @ParameterizedTest
    @ValueSource(strings = {"other", "(unaccounted)", "(retired)"})
    void shouldCountReservedNamesAsOther(String name) {
        use(name, 5);
        use("x", 1);
        assertThat(rows()).containsOnlyKeys("x", "other").containsEntry("other", 5L);
        AccountReading reading = type.read();
        assertThat(reading.rows().stream().filter(row -> row.name().equals(name)))
                .hasSizeLessThanOrEqualTo(1);
    }

    @ParameterizedTest
    @ValueSource(
            strings = {"", "Tenant", "1", "a b", "tenant\n", "é", "-a", "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa"})
    void shouldRejectATypeThatIsNoWord(String name) {
        assertThatIllegalArgumentException()
                .isThrownBy(() -> CpuAccounts.type(name))
                .withMessageContaining(name);
    }
}
