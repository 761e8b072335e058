// SPDX-License-Identifier: Apache-2.0
// Copyright the TaskClock authors
package org.taskclock.integration.kafka;

import java.lang.management.ManagementFactory;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ThreadLocalRandom;
import java.util.concurrent.locks.LockSupport;
import javax.management.JMException;
import javax.management.ObjectName;
import org.apache.kafka.common.metrics.KafkaMetric;
import org.apache.kafka.common.metrics.MetricsReporter;

/** Fills the broker's heap on a thread of its own while its MBean's {@code Enabled} is true. Part of the test only. */
public final class GcPressure implements MetricsReporter, GcPressureMBean {
    static final String NAME = "org.taskclock:type=GcPressure";

    private static final int LIVE_BLOCKS = 200_000;
    private static final int BLOCK_BYTES = 400;
    /** How much is allocated every millisecond. */
    private static final int BLOCKS_AT_ONCE = 125;

    private volatile boolean isEnabled;

    @Override
    public void configure(Map<String, ?> configuration) {
        try {
            ManagementFactory.getPlatformMBeanServer().registerMBean(this, new ObjectName(NAME));
        } catch (JMException e) {
            throw new IllegalStateException(e);
        }
    }

    @Override
    public boolean isEnabled() {
        return isEnabled;
    }

    @Override
    public void setEnabled(boolean enabled) {
        isEnabled = enabled;
        if (!enabled) return;
        Thread thread = new Thread(this::allocate, "gc-pressure");
        thread.setDaemon(true);
        thread.start();
    }

    /** Keeps the last blocks, so that each collection has something to copy. */
    private void allocate() {
        byte[][] live = new byte[LIVE_BLOCKS][];
        while (isEnabled) {
            for (int i = 0; i < BLOCKS_AT_ONCE; i++) {
                live[ThreadLocalRandom.current().nextInt(LIVE_BLOCKS)] = new byte[BLOCK_BYTES];
            }
            LockSupport.parkNanos(1_000_000);
        }
    }

    @Override
    public void init(List<KafkaMetric> metrics) {}

    @Override
    public void metricChange(KafkaMetric metric) {}

    @Override
    public void metricRemoval(KafkaMetric metric) {}

    @Override
    public void close() {}
}
