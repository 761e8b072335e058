// SPDX-License-Identifier: Apache-2.0
// Copyright the TaskClock authors
package org.taskclock.cli;

import com.google.gson.GsonBuilder;
import java.io.IOException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.concurrent.Callable;
import org.taskclock.monitor.fleet.JvmSummary;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;

@Command(
        name = "list",
        description = {
            "List the running JVMs of this machine, busiest first.",
            "Reads /proc. Attaches only to JVMs that have loaded TaskClock, to ask whether the agent is active."
        },
        footer = {
            "",
            "CPU%% is in percent of one core. AGENT is none, active, or detached.",
            "`-` means unknown, or, for CONTAINER, that the JVM is not in a container.",
            "",
            "Examples:",
            "  taskclock list",
            "  taskclock list --json | jq '.[] | select(.cpuPercent > 50) | .pid'",
            "",
            "Exit codes: 0 success (also if no JVM is running), 1 failure, 2 usage error."
        })
final class ListCommand implements Callable<Integer> {
    private static final List<String> TITLES =
            List.of("PID", "USER", "CONTAINER", "JDK", "CPU%", "THREADS", "AGENT", "NAME");

    /** The columns with numbers, which are aligned to the right. */
    private static final List<String> NUMBERS = List.of("PID", "CPU%", "THREADS");

    @Option(
            names = {"-d", "--interval"},
            paramLabel = "TIME",
            defaultValue = "500ms",
            description = "How long to measure CPU usage (default: ${DEFAULT-VALUE}).")
    private Duration interval;

    @Option(names = "--no-attach", description = "Do not attach to any JVM.")
    private boolean noAttach;

    @Option(names = "--json", description = "Print one JSON array with an object for each JVM.")
    private boolean json;

    @Override
    public Integer call() throws IOException, InterruptedException {
        List<JvmSummary> jvms = JvmSummary.all(interval.toMillis(), !noAttach);
        if (json) {
            Main.printUtf8(new GsonBuilder()
                            .serializeNulls()
                            .setPrettyPrinting()
                            .disableHtmlEscaping()
                            .create()
                            .toJson(jvms.stream().map(Row::of).toList())
                    + "\n");
        } else if (jvms.isEmpty()) {
            System.err.println("taskclock: no JVM is running");
        } else {
            Main.print(table(jvms));
        }
        return Main.OK;
    }

    /** A JVM in the order of the documented JSON keys. */
    private record Row(
            long pid,
            String name,
            String user,
            String container,
            String jdk,
            Double cpuPercent,
            Integer threads,
            String agent) {
        static Row of(JvmSummary jvm) {
            Double percent = jvm.cpuPercent() == null ? null : Math.round(jvm.cpuPercent() * 10) / 10.0;
            return new Row(
                    jvm.pid(),
                    jvm.name(),
                    jvm.user(),
                    jvm.container(),
                    jvm.jdk(),
                    percent,
                    jvm.threads(),
                    jvm.agent() == null ? null : jvm.agent().name().toLowerCase(Locale.ROOT));
        }

        List<String> cells() {
            List<String> cells = new ArrayList<>();
            for (Object value : new Object[] {pid, user, container, jdk, cpuPercent, threads, agent, name})
                cells.add(value == null ? "-" : CellFormat.sanitize(value.toString()));
            return cells;
        }
    }

    static String table(List<JvmSummary> jvms) {
        List<List<String>> lines = new ArrayList<>();
        lines.add(TITLES);
        for (JvmSummary jvm : jvms) lines.add(Row.of(jvm).cells());
        StringBuilder text = new StringBuilder();
        for (List<String> line : lines) {
            for (int i = 0; i < TITLES.size() - 1; i++) {
                int column = i;
                int width = lines.stream()
                        .mapToInt(cells -> CellFormat.width(cells.get(column)))
                        .max()
                        .orElse(0);
                String cell = line.get(i);
                text.append(
                                NUMBERS.contains(TITLES.get(i))
                                        ? CellFormat.padLeft(cell, width)
                                        : CellFormat.padRight(cell, width))
                        .append("  ");
            }
            text.append(line.get(TITLES.size() - 1)).append('\n');
        }
        return text.toString();
    }
}
