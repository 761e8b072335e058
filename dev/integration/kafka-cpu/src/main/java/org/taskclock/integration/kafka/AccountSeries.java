// SPDX-License-Identifier: Apache-2.0
// Copyright the TaskClock authors
package org.taskclock.integration.kafka;

import java.util.LinkedHashMap;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import org.apache.kafka.common.metrics.Gauge;
import org.apache.kafka.common.metrics.PluginMetrics;
import org.taskclock.CpuAccount;

/**
 * The accounts of one dimension, each with a metric. Clients choose their ids, so that the number of accounts must have
 * a limit; what comes later shares the account {@code (other)}.
 */
final class AccountSeries {
    static final String OTHER = "(other)";

    private final PluginMetrics metrics;
    private final String tag;
    private final int limit;
    private final Map<String, CpuAccount> accounts = new ConcurrentHashMap<>();
    private final CpuAccount other;

    AccountSeries(PluginMetrics metrics, String tag, int limit) {
        this.metrics = metrics;
        this.tag = tag;
        this.limit = limit;
        this.other = publish(OTHER);
    }

    CpuAccount account(String value) {
        CpuAccount account = accounts.get(value);
        return account != null ? account : add(value);
    }

    private CpuAccount add(String value) {
        if (accounts.size() >= limit) return other;
        synchronized (this) {
            CpuAccount account = accounts.get(value);
            if (account != null) return account;
            // A client may call itself "(other)".
            if (accounts.size() >= limit || value.equals(OTHER)) return other;
            account = publish(value);
            accounts.put(value, account);
            return account;
        }
    }

    private CpuAccount publish(String value) {
        CpuAccount account = CpuAccount.create();
        LinkedHashMap<String, String> tags = new LinkedHashMap<>();
        tags.put(tag, value);
        metrics.addMetric(
                metrics.metricName(RequestCpu.METRIC, "CPU time of the request handler threads, in ns", tags),
                (Gauge<Long>) (configuration, now) -> account.cpuNanos());
        return account;
    }
}
