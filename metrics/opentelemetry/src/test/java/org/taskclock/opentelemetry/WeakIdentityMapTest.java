// SPDX-License-Identifier: Apache-2.0
// Copyright the TaskClock authors
package org.taskclock.opentelemetry;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.taskclock.testing.MeasuredWork;

class WeakIdentityMapTest {
    private final WeakIdentityMap<Object, String> map = new WeakIdentityMap<>();

    @Test
    void shouldCompareKeysByIdentity() {
        List<Integer> one = new ArrayList<>();
        List<Integer> other = new ArrayList<>();
        map.put(one, "one");
        assertThat(map.get(one)).isEqualTo("one");
        assertThat(map.get(other)).isNull();
        assertThat(map.remove(other)).isNull();
        assertThat(map.remove(one)).isEqualTo("one");
        assertThat(map.size()).isZero();
    }

    @Test
    void shouldDropCollectedKeys() {
        for (int i = 0; i < 100; i++) map.put(new Object(), "collected");
        Object kept = new Object();
        MeasuredWork.await(
                () -> {
                    System.gc();
                    map.put(kept, "kept");
                    return map.size() == 1;
                },
                "collected keys stay in the map");
        assertThat(map.get(kept)).isEqualTo("kept");
    }
}
