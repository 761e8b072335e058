// SPDX-License-Identifier: Apache-2.0
// Copyright the TaskClock authors
package org.taskclock.cli;

import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Locale;
import org.taskclock.watch.AgentReport;
import org.taskclock.watch.Row;

/** What time prints. */
final class TimeText {
    /** So many of each, and the rest together. */
    private static final int ROWS = 20;

    private static final int SITES = 5;
    /** What would be 0.000. */
    private static final long LEAST_NANOS = 500_000;

    private final StringBuilder text = new StringBuilder();

    private TimeText() {}

    static String of(Time.Result result) {
        TimeText all = new TimeText();
        all.text.append('\n');
        all.total("real", result.times().realNanos());
        all.total("user", result.times().userNanos());
        all.total("sys", result.times().systemNanos());
        result.jvms().forEach(all::jvm);
        for (String note : result.notes())
            all.text.append("\nNote: ").append(note).append(".\n");
        return all.text.toString();
    }

    private void total(String name, long nanos) {
        long millis = nanos / 1_000_000;
        line("%s\t%dm%d.%03ds", name, millis / 60_000, millis / 1_000 % 60, millis % 1_000);
    }

    private void jvm(Usage jvm) {
        line("");
        line("JVM %d, %s%s", jvm.pid(), jvm.name(), jvm.source().equals("agent") ? "" : ", seen from outside");
        line("%10s %10s %10s %8s", "cpu s", "user s", "sys s", "threads");
        times(jvm.cpuNanos(), jvm.userNanos(), "", "all");
        List<Usage.Pool> rows = rows(jvm);
        List<Usage.Pool> shown =
                first(rows.stream().filter(row -> row.cpuNanos() >= LEAST_NANOS).toList());
        for (Usage.Pool row : shown) times(row.cpuNanos(), row.userNanos(), row.threads(), row.name());
        if (shown.size() < rows.size()) {
            Usage.Pool rest = together("(" + (rows.size() - shown.size()) + " more)", without(rows, shown));
            times(rest.cpuNanos(), rest.userNanos(), rest.threads(), rest.name());
        }
        if (jvm.unseenNanos() > 0) times(jvm.unseenNanos(), jvm.unseenUserNanos(), "", "ended unseen");
        if (!jvm.virtualThreads().isEmpty()) {
            line("virtual threads, in the time of those that carry them:");
            for (AgentReport.Group group : first(jvm.virtualThreads())) {
                times(group.cpuNanos(), group.userNanos(), group.live() + group.ended(), group.name());
            }
        }
        if (jvm.yields() != null) yields(jvm.yields());
    }

    /** The program's own pools one by one, the JVM's as one group each. */
    private static List<Usage.Pool> rows(Usage jvm) {
        List<Usage.Pool> rows = new ArrayList<>();
        for (Row.Kind kind : Row.Kind.values()) {
            List<Usage.Pool> pools =
                    jvm.pools().stream().filter(pool -> pool.kind() == kind).toList();
            if (pools.isEmpty()) continue;
            switch (kind) {
                case GC -> rows.add(together("[GC]", pools));
                case JIT -> rows.add(together("[JIT]", pools));
                case VM -> rows.add(together("[other threads of the JVM]", pools));
                default -> rows.addAll(pools);
            }
        }
        rows.sort(Comparator.comparingLong(Usage.Pool::cpuNanos).reversed());
        return rows;
    }

    private static List<Usage.Pool> without(List<Usage.Pool> rows, List<Usage.Pool> shown) {
        List<Usage.Pool> rest = new ArrayList<>(rows);
        rest.removeAll(shown);
        return rest;
    }

    private static Usage.Pool together(String name, List<Usage.Pool> pools) {
        long cpu = 0;
        long user = 0;
        int threads = 0;
        for (Usage.Pool pool : pools) {
            cpu += pool.cpuNanos();
            user += pool.userNanos();
            threads += pool.threads();
        }
        return new Usage.Pool(name, pools.get(0).kind(), threads, cpu, user);
    }

    private static <T> List<T> first(List<T> all) {
        return all.subList(0, Math.min(ROWS, all.size()));
    }

    private void yields(Usage.Yields yields) {
        if (yields.platform() + yields.virtual() == 0) return;
        if (yields.platform() > 0) {
            line(
                    "%,d yields of platform threads took %.3f s of CPU, %,.0f ns each",
                    yields.platform(),
                    yields.platformNanos() / 1e9,
                    (double) yields.platformNanos() / yields.platform());
        }
        if (yields.virtual() > 0) {
            line(
                    "%,d yields of virtual threads; carriers used %.3f s of CPU for scheduling, yields and all else",
                    yields.virtual(), yields.schedulingNanos() / 1e9);
        }
        for (AgentReport.Site site :
                yields.sites().subList(0, Math.min(SITES, yields.sites().size())))
            line("%,14d  %s", site.yields(), site.name());
    }

    private void times(long cpuNanos, long userNanos, Object threads, String name) {
        line(
                "%10.3f %10.3f %10.3f %8s  %s",
                cpuNanos / 1e9, userNanos / 1e9, (cpuNanos - userNanos) / 1e9, threads, name);
    }

    private void line(String format, Object... values) {
        text.append(String.format(Locale.ROOT, format, values)).append('\n');
    }
}
