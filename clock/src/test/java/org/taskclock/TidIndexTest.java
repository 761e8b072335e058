// SPDX-License-Identifier: Apache-2.0
// Copyright the TaskClock authors
package org.taskclock;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.Set;
import net.jqwik.api.ForAll;
import net.jqwik.api.Property;
import net.jqwik.api.constraints.IntRange;
import net.jqwik.api.constraints.Size;
import org.junit.jupiter.api.Test;

class TidIndexTest {
    private static final int MAX_TID = 4_194_304;

    @Test
    void shouldFindNothingWhenEmpty() {
        assertThat(new TidIndex().find(1)).isNegative();
    }

    @Property
    void shouldFindExactlyTheIndexedTids(
            @ForAll @Size(max = 300) Set<@IntRange(min = 1, max = MAX_TID) Integer> first,
            @ForAll @Size(max = 300) Set<@IntRange(min = 1, max = MAX_TID) Integer> second) {
        TidIndex index = new TidIndex();
        for (Set<Integer> ids : java.util.List.of(first, second)) {
            int[] tids = ids.stream().mapToInt(Integer::intValue).toArray();
            index.fill(tids, tids.length);
            for (int row = 0; row < tids.length; row++)
                assertThat(index.find(tids[row])).isEqualTo(row);
            for (int id : first)
                if (!ids.contains(id)) assertThat(index.find(id)).isNegative();
        }
    }
}
