// SPDX-License-Identifier: Apache-2.0
// Copyright the TaskClock authors
package org.taskclock.monitor.fleet;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.taskclock.monitor.attach.FakeJvm;
import org.taskclock.testing.LoadJvm;

/** JVMs that accept the connections of tools and never answer, beside one that does. */
@Timeout(120)
class HungJvmsTest {
    private static final int HUNG = 20;

    @Test
    void shouldNotDelayTheNamesOfTheThreadsOfOtherJvms() throws Exception {
        List<AutoCloseable> opened = new ArrayList<>();
        try (PoolSamplers samplers = new PoolSamplers(true);
                LoadJvm load = LoadJvm.start("busy")) {
            for (int i = 0; i < HUNG; i++) {
                FakeJvm hung = new FakeJvm(request -> null);
                opened.add(hung);
                opened.add(samplers.open(hung.pid(), true));
            }
            PoolSampler honest = samplers.open(load.pid(), true);
            opened.add(honest);
            List<String> pools = new ArrayList<>();
            // Longer than the JVM may take to answer.
            for (int i = 0; i < 80; i++) {
                Thread.sleep(100);
                honest.sample();
                honest.read().pools().forEach(pool -> pools.add(pool.pool()));
            }
            assertThat(pools)
                    .contains("a busy thread with a long name, number #")
                    .doesNotContain("a busy thread w");
        } finally {
            for (AutoCloseable closeable : opened) closeable.close();
        }
    }
}
