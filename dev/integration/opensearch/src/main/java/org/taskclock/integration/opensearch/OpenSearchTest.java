// SPDX-License-Identifier: Apache-2.0
// Copyright the TaskClock authors
package org.taskclock.integration.opensearch;

import com.sun.management.OperatingSystemMXBean;
import java.lang.management.ManagementFactory;
import java.net.InetSocketAddress;
import java.nio.file.Path;
import org.opensearch.Version;
import org.taskclock.TaskClock;

/**
 * Compares OpenSearch's figures for its tasks with the kernel's, and measures what they cost: {@code OpenSearchTest
 * FILE [PATCH]}. Without a patch, it needs the agent and takes turns with and without it.
 */
public final class OpenSearchTest {
    private static final OperatingSystemMXBean SYSTEM =
            (OperatingSystemMXBean) ManagementFactory.getOperatingSystemMXBean();

    private final Report report = new Report();
    private final TaskFigures figures = new TaskFigures();

    private OpenSearchTest() {}

    public static void main(String[] args) throws Exception {
        OpenSearchTest test = new OpenSearchTest();
        if (args.length == 1 && !Switches.hasAgent()) throw new IllegalStateException("no agent");
        try (SearchNode node = new SearchNode();
                HttpConnection connection = new HttpConnection(node.address())) {
            node.tracking().addTaskCompletionListener(test.figures);
            Documents.index(connection, "docs", 1);
            Documents.index(connection, "shards", 5);
            if (args.length == 1) test.withAgent(node.address(), new Switches(connection));
            else test.withPatch(args[1], node.address(), new Switches(connection));
        }
        System.exit(test.report.finish(Path.of(args[0])) ? 0 : 1);
    }

    private void withAgent(InetSocketAddress address, Switches switches) throws Exception {
        report.append(
                "# CPU time of OpenSearch tasks%n%nOpenSearch %s, one node with %,d documents; JDK %s; kernel %s;"
                        + " %d processors; backend %s; load average %.1f before the test. *JVM* is the agent switched"
                        + " off. CPU times are medians.%n%n## Figures%n%n",
                Version.CURRENT,
                Documents.COUNT,
                System.getProperty("java.runtime.version"),
                System.getProperty("os.version"),
                Runtime.getRuntime().availableProcessors(),
                TaskClock.status().backend(),
                SYSTEM.getSystemLoadAverage());
        FigureTest test = new FigureTest(report, switches, figures, address);
        Switches.agent(false);
        test.warmUp();
        test.appendHead();
        test.measure("JVM");
        Switches.agent(true);
        test.measure("agent");
        report.append("%n`GET /_tasks?detailed` while an aggregation runs on three threads, compared with the kernel's"
                + " figure of the search threads just before and just after it:%n%n"
                + "| clock | readings | below the one before, ms: median | most |"
                + " above the one after, ms: median | most |%n|---|---:|---:|---:|---:|---:|%n");
        Switches.agent(false);
        test.measureRunning("JVM");
        Switches.agent(true);
        test.measureRunning("agent");

        CostTest cost = new CostTest(report, switches, null);
        report.append(
                "%n## Cost%n%nSmall searches: %s; quartiles of the rounds in parentheses.%n%n", cost.description());
        cost.appendHead();
        cost.measure(address, "docs", "1");
        cost.measure(address, "shards", "5");
        report.append(
                "%nOne reading by ThreadMXBean, in ns. *First* and *second* are those of a thread that has just woken"
                        + " up and include System.nanoTime:%n%n"
                        + "| clock | CPU time, own id, in a loop | first | second | CPU time, other id |"
                        + " allocated bytes, own id |%n|---|---:|---:|---:|---:|---:|%n");
        ReadTest.appendCosts(report);
        switches.tracking(true);
        double one = calls(address, "docs");
        double five = calls(address, "shards");
        report.check(one != 0 && five != 0, "no search reads the CPU time");
        if (one > 0) {
            report.append(
                    "%nReadings of CPU time by id per search: %.2f with 1 shard, %.2f with 5 shards.%n", one, five);
        }
        report.append("The load average after this part was %.1f.%n", SYSTEM.getSystemLoadAverage());
    }

    private static double calls(InetSocketAddress address, String index) throws Exception {
        try (SearchLoad load = new SearchLoad(address, index, 4)) {
            return ReadTest.callsPerSearch(load);
        }
    }

    private void withPatch(String patch, InetSocketAddress address, Switches switches) throws Exception {
        report.append("%n## %s, in a JVM of its own, without the agent%n%n", patch);
        if (patch.equals("accounts.patch")) {
            new AccountTest(report, address).measure();
            return;
        }
        FigureTest test = new FigureTest(report, switches, figures, address);
        test.warmUp();
        test.appendHead();
        test.measure(patch);
        CostTest cost = new CostTest(report, switches, patch);
        report.append("%n");
        cost.appendHead();
        cost.measure(address, "docs", "1");
        cost.measure(address, "shards", "5");
        report.append("%nThe load average after this part was %.1f.%n", SYSTEM.getSystemLoadAverage());
    }
}
