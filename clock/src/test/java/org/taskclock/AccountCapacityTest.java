// SPDX-License-Identifier: Apache-2.0
// Copyright the TaskClock authors
package org.taskclock;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.Map;
import java.util.stream.Collectors;
import org.junit.jupiter.api.Test;

/** Tests memory and time of very many accounts, in child JVMs. */
class AccountCapacityTest {
    private static Map<String, Long> run(int names) {
        return ChildJvm.run(AccountCapacity.class, names + "")
                .succeeded()
                .out()
                .lines()
                .map(line -> line.split(" "))
                .collect(Collectors.toMap(words -> words[0], words -> Long.parseLong(words[1])));
    }

    @Test
    void shouldKeep100000NamesIn64Megabytes() {
        Map<String, Long> result = run(AccountType.CAPACITY - 2_000);
        assertThat(result)
                .containsEntry("names", AccountType.CAPACITY - 1_000L)
                .containsEntry("sections", AccountType.CAPACITY - 1_000L);
        assertThat(result.get("MB")).isLessThan(64);
        assertThat(result.get("rows")).isBetween(76L, 101L);
    }

    @Test
    void shouldCountAMillionNamesInBoundedMemory() {
        Map<String, Long> result = run(1_000_000);
        assertThat(result).containsEntry("sections", 1_001_000L);
        assertThat(result.get("names")).isLessThanOrEqualTo(AccountType.CAPACITY + 10L);
        assertThat(result.get("rows")).isBetween(76L, 101L);
        assertThat(result.get("MB")).isLessThan(64);
        // Creating a name takes 1 us; the limit leaves room for a busy machine.
        assertThat(result.get("ns")).isLessThan(20_000);
        assertThat(result.get("ratio")).isLessThan(3);
    }
}
