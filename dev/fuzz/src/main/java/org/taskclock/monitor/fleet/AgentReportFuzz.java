// SPDX-License-Identifier: Apache-2.0
// Copyright the TaskClock authors
package org.taskclock.monitor.fleet;

import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.Map;
import org.taskclock.monitor.attach.AgentReport;
import org.taskclock.monitor.attach.YieldCount;

/** The report of an agent, which a program can forge. */
public final class AgentReportFuzz {
    private AgentReportFuzz() {}

    public static void fuzzerTestOneInput(byte[] data) {
        AgentReport report;
        try {
            report = AgentReport.parse(new String(data, StandardCharsets.UTF_8));
        } catch (AgentReport.AgentReportException e) {
            return;
        }
        report.schedulingNanos();
        report.schedulingUserNanos();
        report.yieldSites().forEach(AgentReport.Site::name);
        YieldCount.difference(1, report, report);
        PoolReading none = new PoolReading(List.of(), Map.of(), null);
        AgentPools pools = new AgentPools(1, isPresent -> report, true, Runnable::run, 0, () -> 0, () -> 1L << 61);
        pools.addTo(none, List.of(), 1);
    }
}
