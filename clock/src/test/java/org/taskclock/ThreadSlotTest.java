// SPDX-License-Identifier: Apache-2.0
// Copyright the TaskClock authors
package org.taskclock;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import net.jqwik.api.ForAll;
import net.jqwik.api.Property;
import net.jqwik.api.constraints.IntRange;
import net.jqwik.api.constraints.LongRange;
import net.jqwik.api.constraints.Size;
import org.junit.jupiter.api.Test;

class ThreadSlotTest {
    private static final int ACCOUNTS = 5;

    /** An open section. */
    private record Section(int account, long id) {}

    private static void close(Object[] slot, long id, long now) {
        long[] numbers = ThreadSlot.numbers(slot);
        ThreadSlot.close(slot, numbers, ThreadSlot.position(numbers, id), now);
    }

    @Property
    void shouldChargeTheInnermostSection(
            @ForAll @Size(max = 200) List<@IntRange(max = 2 * ACCOUNTS - 1) Integer> steps,
            @ForAll @LongRange(max = 1L << 60) long start,
            @ForAll @IntRange(max = 1_000_000) int stride) {
        Object[] slot = ThreadSlot.create(Thread.currentThread(), false);
        long[][] cells = new long[ACCOUNTS][];
        for (int i = 0; i < ACCOUNTS; i++) cells[i] = AccountCells.add(slot, NamedAccount.create("account " + i));
        long[] expected = new long[ACCOUNTS];
        long[] sections = new long[ACCOUNTS];
        List<Section> open = new ArrayList<>();
        long now = start;
        for (int step : steps) {
            if (!open.isEmpty()) expected[open.get(open.size() - 1).account] += stride;
            now += stride;
            if (step < ACCOUNTS && open.size() < 60) {
                open.add(new Section(step, ThreadSlot.open(slot, cells[step], now, 0)));
            } else if (!open.isEmpty()) {
                // Any of them, not only the innermost.
                Section closed = open.remove(open.size() * (step % ACCOUNTS) / ACCOUNTS);
                close(slot, closed.id, now);
                assertThat(ThreadSlot.position(ThreadSlot.numbers(slot), closed.id))
                        .isEqualTo(-1);
                sections[closed.account]++;
            }
            int innermost = open.isEmpty() ? -1 : open.get(open.size() - 1).account;
            for (int i = 0; i < ACCOUNTS; i++) {
                long state = AccountCell.state(cells[i]);
                assertThat(state != 0).isEqualTo(i == innermost);
                assertThat(AccountCell.total(cells[i], state, now)).isEqualTo(expected[i]);
                assertThat(AccountCell.total(cells[i], state, -1)).isLessThanOrEqualTo(expected[i]);
                assertThat(cells[i][AccountCounters.SECTIONS]).isEqualTo(sections[i]);
                assertThat(cells[i][AccountCounters.USER]).isBetween(0L, expected[i]);
            }
        }
    }

    @Property(tries = 200)
    void shouldFindCells(@ForAll @Size(max = 100) List<String> names) {
        Object[] slot = ThreadSlot.create(Thread.currentThread(), false);
        List<Object> accounts = new ArrayList<>();
        List<long[]> cells = new ArrayList<>();
        for (String name : names) {
            var account = NamedAccount.create(name); // names may repeat
            assertThat(AccountCells.find(slot, account, NamedAccount.hash(account)))
                    .isNull();
            accounts.add(account);
            cells.add(AccountCells.add(slot, account));
        }
        for (int i = 0; i < names.size(); i++) {
            int hash = NamedAccount.hash(NamedAccount.create(names.get(i)));
            assertThat(AccountCells.find(slot, accounts.get(i), hash)).isSameAs(cells.get(i));
        }
        AccountCells.forgetClosed(slot);
        for (int i = 0; i < names.size(); i++) {
            int hash = NamedAccount.hash(NamedAccount.create(names.get(i)));
            assertThat(AccountCells.find(slot, accounts.get(i), hash)).isNull();
        }
    }

    @Test
    void shouldAddUsageToItsAccountOnce() {
        Object[] slot = ThreadSlot.create(Thread.currentThread(), false);
        ConcurrentHashMap<Long, Object[]> threads = new ConcurrentHashMap<>(Map.of(1L, slot));
        SlotReader reader = new SlotReader("type", threads, new ArrayList<>());
        var account = NamedAccount.create("a");
        long[] cell = AccountCells.add(slot, account);
        close(slot, ThreadSlot.open(slot, cell, 100, 0), 110);
        long id = ThreadSlot.open(slot, cell, 120, 0);
        reader.foldOwn(slot);
        long open = AccountCell.total(cell, AccountCell.state(cell), 150);
        assertThat(open + NamedAccount.counters(account).get(AccountCounters.CPU))
                .isEqualTo(40);
        close(slot, id, 150);
        for (int i = 0; i < 2; i++) {
            reader.foldAll(slot);
            assertThat(NamedAccount.counters(account).get(AccountCounters.CPU)).isEqualTo(40);
            assertThat(NamedAccount.counters(account).get(AccountCounters.SECTIONS))
                    .isEqualTo(2);
        }
    }

    /** The thread closes the cell, or opens it again, after the reader has read the thread's clock. */
    @Property(tries = 100)
    void shouldNotAddAClockToAnotherState(@ForAll @LongRange(max = 1L << 60) long start) {
        long[] cell = new long[AccountCell.LENGTH];
        AccountCell.open(cell, start);
        long before = AccountCell.state(cell);
        AccountCell.close(cell, 10, 0);
        assertThat(AccountCell.total(cell, before, start + 1_000)).isEqualTo(10);
        AccountCell.open(cell, start + 500);
        assertThat(AccountCell.total(cell, before, start + 1_000)).isEqualTo(10);
    }
}
