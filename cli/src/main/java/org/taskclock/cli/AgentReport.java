// SPDX-License-Identifier: Apache-2.0
// Copyright the TaskClock authors
package org.taskclock.cli;

import com.google.gson.Gson;
import com.google.gson.JsonParseException;
import java.io.IOException;
import java.util.List;

/** What the agent tells the command line, as org.taskclock.agent.Report writes it. Times in ns. */
record AgentReport(
        String version,
        long pid,
        String java,
        String command,
        long elapsedNanos,
        long cpuNanos,
        long userNanos,
        List<Pool> pools,
        List<Group> virtualThreads,
        long carrierNanos,
        long carriedNanos,
        String yieldMode,
        long platformYields,
        long virtualYields,
        long platformYieldNanos,
        List<Site> yieldSites,
        boolean overflown) {
    record Pool(String name, String example, boolean java, int threads, long cpuNanos, long userNanos) {}

    record Group(String name, long live, long ended, long cpuNanos, long userNanos) {}

    record Site(long yields, long virtualYields, List<String> stack) {
        /** The caller of yield. */
        String name() {
            return stack.isEmpty() ? "(other)" : stack.get(0);
        }
    }

    static AgentReport parse(String json) throws IOException {
        try {
            AgentReport report = new Gson().fromJson(json, AgentReport.class);
            if (report != null && report.pools != null && report.yieldSites != null) return report;
        } catch (JsonParseException e) {
            throw new IOException("what the agent says cannot be read: " + e.getMessage(), e);
        }
        throw new IOException("what the agent says cannot be read");
    }
}
