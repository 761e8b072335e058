// SPDX-License-Identifier: Apache-2.0
// Copyright the TaskClock authors
package org.taskclock.cli;

import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Locale;
import org.taskclock.metrics.ThreadKind;
import org.taskclock.monitor.attach.AgentReport;

/** Formats the report of {@code time}. */
final class TimeText {
    /** The maximum number of pools and of virtual thread groups. The remaining pools are added up in one row. */
    private static final int MAX_ROWS = 20;

    private static final int MAX_CALL_SITES = 5;
    /** Smaller times would be printed as 0.000. */
    private static final long MIN_NANOS = 500_000;

    private final StringBuilder text = new StringBuilder();

    private TimeText() {}

    static String of(TimeCommand.Result result) {
        TimeText report = new TimeText();
        report.text.append('\n');
        report.total("real", result.times().realNanos());
        report.total("user", result.times().userNanos());
        report.total("sys", result.times().systemNanos());
        result.jvms().forEach(report::jvm);
        for (String note : result.notes())
            report.text.append("\nNote: ").append(CellFormat.sanitize(note)).append(".\n");
        return report.text.toString();
    }

    private void total(String name, long nanos) {
        long millis = nanos / 1_000_000;
        line("%s\t%dm%d.%03ds", name, millis / 60_000, millis / 1_000 % 60, millis % 1_000);
    }

    private void jvm(JvmUsage jvm) {
        line("");
        line(
                "JVM %d, %s%s",
                jvm.pid(), CellFormat.sanitize(jvm.name()), jvm.source().equals("agent") ? "" : ", sampled from /proc");
        line("%10s %10s %10s %8s", "cpu s", "user s", "sys s", "threads");
        times(jvm.cpuNanos(), jvm.userNanos(), "", "total");
        List<JvmUsage.Pool> rows = rows(jvm);
        List<JvmUsage.Pool> listed =
                first(rows.stream().filter(pool -> pool.cpuNanos() >= MIN_NANOS).toList());
        for (JvmUsage.Pool pool : listed) times(pool.cpuNanos(), pool.userNanos(), pool.threads(), pool.name());
        if (listed.size() < rows.size()) {
            List<JvmUsage.Pool> others = rows.subList(listed.size(), rows.size()); // they are sorted by CPU time
            JvmUsage.Pool rest = sum("(" + others.size() + " more)", others);
            times(rest.cpuNanos(), rest.userNanos(), rest.threads(), rest.name());
        }
        if (jvm.unaccountedNanos() > 0) times(jvm.unaccountedNanos(), jvm.unaccountedUserNanos(), "", "ended threads");
        if (!jvm.virtualThreads().isEmpty()) {
            line("virtual threads (included in the time of their carriers):");
            for (AgentReport.Group group : first(jvm.virtualThreads())) {
                times(group.cpuNanos(), group.userNanos(), group.live() + group.ended(), group.name());
            }
        }
        if (jvm.yields() != null) yields(jvm.yields());
    }

    /** Returns the pools of the program, and the JVM's own threads as one pool each for GC, JIT and the rest. */
    private static List<JvmUsage.Pool> rows(JvmUsage jvm) {
        List<JvmUsage.Pool> rows = new ArrayList<>();
        for (ThreadKind kind : ThreadKind.values()) {
            List<JvmUsage.Pool> pools =
                    jvm.pools().stream().filter(pool -> pool.kind() == kind).toList();
            if (pools.isEmpty()) continue;
            switch (kind) {
                case GC -> rows.add(sum("[GC]", pools));
                case JIT -> rows.add(sum("[JIT]", pools));
                case VM -> rows.add(sum("[other JVM threads]", pools));
                default -> rows.addAll(pools);
            }
        }
        rows.sort(Comparator.comparingLong(JvmUsage.Pool::cpuNanos).reversed());
        return rows;
    }

    private static JvmUsage.Pool sum(String name, List<JvmUsage.Pool> pools) {
        long cpu = 0;
        long user = 0;
        int threads = 0;
        for (JvmUsage.Pool pool : pools) {
            cpu += pool.cpuNanos();
            user += pool.userNanos();
            threads += pool.threads();
        }
        return new JvmUsage.Pool(name, pools.get(0).kind(), threads, cpu, user);
    }

    private static <T> List<T> first(List<T> all) {
        return all.subList(0, Math.min(MAX_ROWS, all.size()));
    }

    private void yields(JvmUsage.Yields yields) {
        if (yields.platform() + yields.virtual() == 0) return;
        if (yields.platform() > 0) {
            line(
                    "%,d yields in platform threads used %.3f s of CPU, %,.0f ns each",
                    yields.platform(),
                    yields.platformNanos() / 1e9,
                    (double) yields.platformNanos() / yields.platform());
        }
        if (yields.virtual() > 0) {
            line(
                    "%,d yields in virtual threads; scheduling virtual threads, for any reason, used %.3f s of CPU",
                    yields.virtual(), yields.schedulingNanos() / 1e9);
        }
        for (AgentReport.Site site : yields.sites()
                .subList(0, Math.min(MAX_CALL_SITES, yields.sites().size())))
            line("%,14d  %s", site.yields(), site.name());
    }

    private void times(long cpuNanos, long userNanos, Object threads, String name) {
        line(
                "%10.3f %10.3f %10.3f %8s  %s",
                cpuNanos / 1e9, userNanos / 1e9, (cpuNanos - userNanos) / 1e9, threads, CellFormat.sanitize(name));
    }

    private void line(String format, Object... values) {
        text.append(String.format(Locale.ROOT, format, values)).append('\n');
    }
}
