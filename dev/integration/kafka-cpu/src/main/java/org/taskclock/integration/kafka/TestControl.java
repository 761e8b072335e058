// SPDX-License-Identifier: Apache-2.0
// Copyright the TaskClock authors
package org.taskclock.integration.kafka;

import java.lang.management.ManagementFactory;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.concurrent.ThreadLocalRandom;
import java.util.concurrent.locks.LockSupport;
import javax.management.JMException;
import javax.management.ObjectName;
import org.apache.kafka.common.metrics.KafkaMetric;
import org.apache.kafka.common.metrics.MetricsReporter;
import org.taskclock.AccountReading;
import org.taskclock.AccountUsage;
import org.taskclock.CpuAccounts;

/**
 * What the test needs in the broker: its MBean reads the accounts, and fills the heap on a thread of its own while
 * {@code GcPressure} is true.
 */
public final class TestControl implements MetricsReporter, TestControlMBean {
    static final String NAME = "org.taskclock:type=TestControl";

    private static final int LIVE_BLOCKS = 200_000;
    private static final int BLOCK_BYTES = 400;
    /** How much is allocated every millisecond. */
    private static final int BLOCKS_AT_ONCE = 125;

    private volatile boolean isGcPressure;

    @Override
    public void configure(Map<String, ?> configuration) {
        try {
            ManagementFactory.getPlatformMBeanServer().registerMBean(this, new ObjectName(NAME));
        } catch (JMException e) {
            throw new IllegalStateException(e);
        }
    }

    @Override
    public Map<String, Map<String, Long>> getAccounts() {
        Map<String, Map<String, Long>> types = new TreeMap<>();
        for (AccountReading type : CpuAccounts.read()) {
            Map<String, Long> accounts = new TreeMap<>();
            for (AccountUsage account : type.accounts()) accounts.put(account.name(), account.cpuNanos());
            types.put(type.type(), accounts);
        }
        return types;
    }

    @Override
    public boolean isGcPressure() {
        return isGcPressure;
    }

    @Override
    public void setGcPressure(boolean on) {
        isGcPressure = on;
        if (!on) return;
        Thread thread = new Thread(this::allocate, "gc-pressure");
        thread.setDaemon(true);
        thread.start();
    }

    /** Keeps the last blocks, so that each collection has something to copy. */
    private void allocate() {
        byte[][] live = new byte[LIVE_BLOCKS][];
        while (isGcPressure) {
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
