// SPDX-License-Identifier: Apache-2.0
// Copyright the TaskClock authors
package org.taskclock.agent;

import java.util.List;
import java.util.Map;
import org.taskclock.CpuTime;
import org.taskclock.ProcessClock;

/** What the agent knows, as JSON, for the command line. There is no library for that here, as the program may have one. */
final class JsonReport {
    /** So many places, the busiest. */
    private static final int SITES = 200;

    private final StringBuilder text = new StringBuilder("{");

    private JsonReport() {}

    /** Looks at each virtual thread that lives. Times in ns; the elapsed one has no origin. */
    static String of(Agency agency, Map<String, Summary.Pool> pools) {
        JsonReport report = new JsonReport();
        report.member("version", Agency.version());
        report.member("pid", ProcessHandle.current().pid());
        report.member("java", System.getProperty("java.version"));
        report.member("command", System.getProperty("sun.java.command", ""));
        report.member("elapsedNanos", System.nanoTime());
        CpuTime process = ProcessClock.current().now();
        report.member("cpuNanos", process.cpuNanos());
        report.member("userNanos", process.userNanos());
        report.key("pools").text.append('[');
        pools.forEach(report::pool);
        report.endList().key("virtualThreads").text.append('[');
        agency.accounts().groups().forEach(report::group);
        report.endList();
        report.carriers(agency.accounts().carriers());
        report.yields(agency.yields());
        boolean overflown =
                agency.yields().counts().isOverflown() || agency.accounts().isOverflown();
        report.key("overflown").text.append(overflown);
        return report.text.append('}').toString();
    }

    private void pool(String name, Summary.Pool pool) {
        begin();
        member("name", name);
        member("example", pool.example);
        key("java").text.append(pool.java);
        member("threads", pool.threads);
        member("cpuNanos", pool.cpuNanos);
        member("userNanos", pool.userNanos);
        text.append('}');
    }

    private void group(VirtualAccounts.Group group) {
        begin();
        member("name", group.name());
        member("live", group.live());
        member("ended", group.ended());
        member("cpuNanos", group.cpuNanos());
        member("userNanos", group.userNanos());
        text.append('}');
    }

    private void carriers(List<VirtualAccounts.Carrier> carriers) {
        long cpu = 0;
        long carried = 0;
        for (VirtualAccounts.Carrier carrier : carriers) {
            cpu += carrier.cpuNanos();
            carried += carrier.carriedNanos();
        }
        member("carrierNanos", cpu);
        member("carriedNanos", carried);
    }

    private void yields(Yields yields) {
        long platform = 0;
        long virtual = 0;
        long nanos = 0;
        for (YieldCounts.Yielder yielder : yields.yielders()) {
            platform += yielder.yields();
            virtual += yielder.virtualYields();
            // Where each yield switches, those that are measured take longer, by the measuring.
            nanos += Math.min(yielder.yieldNanos(), yielder.userNanos() + yielder.systemNanos());
        }
        member("yieldMode", yields.mode().toString());
        member("platformYields", platform);
        member("virtualYields", virtual);
        member("platformYieldNanos", nanos);
        key("yieldSites").text.append('[');
        yields.counts().sites().stream().limit(SITES).forEach(this::site);
        endList();
    }

    private void site(YieldCounts.Site site) {
        begin();
        member("yields", site.yields());
        member("virtualYields", site.virtualYields());
        key("stack").text.append('[');
        for (StackTraceElement frame : site.frames()) value(frame.toString()).append(',');
        endList().text.append('}');
    }

    // ---- as text

    private void begin() {
        separate();
        text.append('{');
    }

    private void separate() {
        char last = text.charAt(text.length() - 1);
        if (last != '{' && last != '[' && last != ',') text.append(',');
    }

    private JsonReport endList() {
        int last = text.length() - 1;
        if (text.charAt(last) == ',') text.setLength(last);
        text.append(']');
        return this;
    }

    private JsonReport key(String name) {
        separate();
        text.append('"').append(name).append("\":");
        return this;
    }

    private void member(String name, long value) {
        key(name).text.append(value);
    }

    private void member(String name, String value) {
        key(name).value(value);
    }

    private StringBuilder value(String value) {
        text.append('"');
        for (int i = 0; i < value.length(); i++) {
            char c = value.charAt(i);
            if (c == '"' || c == '\\') text.append('\\').append(c);
            // Surrogates too: one alone would be no UTF-8.
            else if (c >= ' ' && c < 0xd800) text.append(c);
            else text.append("\\u").append(Integer.toHexString(0x10000 | c), 1, 5);
        }
        return text.append('"');
    }
}
