// SPDX-License-Identifier: Apache-2.0
// Copyright the TaskClock authors
package org.taskclock.cli;

import java.io.IOException;
import java.time.Duration;
import java.util.HashMap;
import java.util.Locale;
import java.util.Map;
import java.util.concurrent.Callable;
import org.taskclock.metrics.AccountKey;
import org.taskclock.metrics.ThreadKind;
import org.taskclock.monitor.attach.TemporaryAgent;
import org.taskclock.monitor.finding.Finding;
import org.taskclock.monitor.finding.FindingHistory;
import org.taskclock.monitor.sampling.Interval;
import org.taskclock.monitor.sampling.Sampler;
import org.taskclock.monitor.usage.ProcessUsage;
import org.taskclock.monitor.usage.ThreadUsage;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.Spec;

@Command(
        name = "check",
        description = {
            "Watch a JVM for a few seconds and fail if it uses too much CPU. For probes and CI.",
            "Thresholds apply to the average over that time, in percent of one core or of the container's CPU limit."
        },
        footer = {
            "",
            "Examples:",
            "  taskclock check 4711 --system 50%% --for 10s",
            "  taskclock check orders --cpu \"90%% of limit\" --for 1m",
            "  taskclock check 4711 --cpu 150%% --pool \"http-nio-8080-exec-#\"",
            "  taskclock check 4711 --cpu 50%% --account tenant=acme",
            "",
            "Exit codes: 0 within all thresholds, 1 failure, 2 usage error, 3 threshold exceeded, 4 no such process"
                    + " (or it exited), 5 permission denied."
        })
final class CheckCommand implements Callable<Integer> {
    private static final long SECOND = 1_000_000_000;
    private static final int MAX_THREADS = 3;

    @Spec
    private CommandSpec spec;

    @Mixin
    private SamplerOptions target;

    @Option(
            names = "--cpu",
            paramLabel = "PERCENT",
            converter = CpuThreshold.Converter.class,
            description = "Maximum user plus system time.")
    private CpuThreshold cpu;

    @Option(
            names = "--system",
            paramLabel = "PERCENT",
            converter = CpuThreshold.Converter.class,
            description = "Maximum system time.")
    private CpuThreshold system;

    @Option(
            names = "--yields",
            paramLabel = "RATE",
            converter = UnitConverters.RateConverter.class,
            description = "Maximum Thread.yield calls per second. Loads the agent for the duration of the check if"
                    + " necessary.")
    private Double yields;

    @Option(
            names = "--for",
            paramLabel = "TIME",
            defaultValue = "10s",
            description = "How long to watch (default: ${DEFAULT-VALUE}).")
    private Duration duration;

    @Option(
            names = "--pool",
            paramLabel = "NAME",
            description = "Check only this pool: the thread name with each number replaced by #. Yields of virtual"
                    + " threads count for their carriers.")
    private String pool;

    @Option(
            names = "--account",
            paramLabel = "TYPE=NAME",
            description = "Check only this named account, such as tenant=acme. Loads the agent for the duration of the"
                    + " check if necessary.")
    private String account;

    private long cpuNanos;
    private long userNanos;
    private long watchedNanos;
    private double yieldCount;
    /** Total length of the intervals in which yields were counted. */
    private long countedNanos;

    private boolean accountFound;
    private boolean poolFound;
    private boolean poolHasThreads;
    private final Map<String, Long> cpuByThread = new HashMap<>();
    private final Map<String, Long> systemByThread = new HashMap<>();

    @Override
    public Integer call() throws IOException, InterruptedException, CommandException {
        if (cpu == null && system == null && yields == null) {
            throw usageError("nothing to check: specify --cpu, --system or --yields");
        }
        if (account != null) checkAccountName();
        long pid = target.jvm().select();
        if (yields == null && account == null) return check(pid);
        if (target.isAttachDisabled()) throw usageError(agentOption() + " requires attaching: remove --no-attach");
        TemporaryAgent agent =
                yields == null ? TemporaryAgent.reportingAccounts(pid) : TemporaryAgent.countingYields(pid);
        try {
            return check(pid);
        } finally {
            agent.close();
        }
    }

    private void checkAccountName() {
        if (pool != null || yields != null) throw usageError("--account cannot be combined with --pool or --yields");
        if (AccountKey.parse(account).type().isEmpty())
            throw usageError("--account " + account + ": must be TYPE=NAME, such as tenant=acme");
    }

    private String agentOption() {
        return yields == null ? "--account" : "--yields";
    }

    private ParameterException usageError(String message) {
        return new ParameterException(spec.commandLine(), message);
    }

    private int check(long pid) throws IOException, InterruptedException, CommandException {
        try (Sampler sampler = target.open(pid)) {
            sampler.next();
            Interval last = null;
            FindingHistory findings = new FindingHistory();
            int intervals = 0;
            for (long remaining = duration.toNanos(); remaining > 0; remaining -= SECOND) {
                long part = Math.min(remaining, SECOND);
                Thread.sleep(part / 1_000_000, (int) (part % 1_000_000));
                last = sampler.next();
                add(last);
                findings.add(last.findings(), last.end(), last.intervalNanos());
                intervals++;
                if (sampler.yields() >= 0) {
                    yieldCount += pool == null ? sampler.yields() : yieldsOfPool(last, sampler);
                    countedNanos += last.intervalNanos();
                }
            }
            if (account != null && !accountFound) throw unknownAccount(last);
            if (pool != null && !poolFound) {
                throw new CommandException(Main.FAILED, "process " + pid + " has no threads in pool \"" + pool + "\"");
            }
            if (yields != null && pool != null && !poolHasThreads) {
                throw new CommandException(
                        Main.FAILED,
                        "process " + pid
                                + ": yields of virtual threads are counted by carrier: specify the carriers' pool");
            }
            boolean exceeded = checkThreshold("cpu", cpu, cpuNanos, cpuByThread, last.totals());
            exceeded |= checkThreshold("system", system, cpuNanos - userNanos, systemByThread, last.totals());
            exceeded |= checkYields(pid, last);
            if (exceeded)
                for (FindingHistory.Entry entry : findings.entries()) {
                    String when = entry.intervals() == intervals ? "" : ", " + entry.periods(TopText.TIME::format);
                    Finding finding = entry.last();
                    Main.print("! " + CellFormat.sanitize(finding.kind() + ": " + finding.text()) + when + "\n");
                }
            return exceeded ? Main.THRESHOLD : Main.OK;
        }
    }

    /** Adds the usage of the account in an interval for which the agent has reported any. */
    private void addAccount(Interval interval) {
        if (interval.accounts().isEmpty()) return;
        watchedNanos += interval.intervalNanos();
        for (ThreadUsage usage : interval.accounts()) {
            if (!usage.pool().equals(account)) continue;
            accountFound = true;
            cpuNanos += usage.cpuNanos();
            userNanos += usage.userNanos();
        }
    }

    private CommandException unknownAccount(Interval last) {
        String reason = watchedNanos == 0
                ? AccountRows.absence(last)
                : "process " + last.pid() + " has no account \"" + account + "\": taskclock top " + last.pid()
                        + " --accounts shows those that it has";
        return new CommandException(Main.FAILED, reason);
    }

    private void add(Interval interval) {
        if (account != null) {
            addAccount(interval);
            return;
        }
        watchedNanos += interval.intervalNanos();
        if (pool == null) {
            cpuNanos += interval.totals().processNanos();
            userNanos += interval.totals().processUserNanos();
        }
        for (ThreadUsage thread : interval.threads()) {
            boolean member = isMember(thread);
            poolFound |= member;
            if (pool != null && !member) continue;
            if (member) {
                cpuNanos += thread.cpuNanos();
                userNanos += thread.userNanos();
            }
            // The time of virtual threads is included in that of their carriers.
            if (thread.kind() == ThreadKind.VIRTUAL) continue;
            poolHasThreads |= member;
            cpuByThread.merge(thread.name(), thread.cpuNanos(), Long::sum);
            systemByThread.merge(thread.name(), thread.systemNanos(), Long::sum);
        }
    }

    private boolean isMember(ThreadUsage thread) {
        return pool != null && (thread.pool().equals(pool) || thread.name().equals(pool));
    }

    private double yieldsOfPool(Interval interval, Sampler sampler) {
        double perSecond = interval.threads().stream()
                .filter(this::isMember)
                .mapToDouble(sampler::yieldsPerSecond)
                .sum();
        return perSecond * interval.intervalNanos() / SECOND;
    }

    private boolean checkYields(long pid, Interval last) throws IOException, CommandException {
        if (yields == null) return false;
        if (countedNanos == 0) {
            String reason = last.notes().isEmpty() ? "" : ": " + String.join("; ", last.notes());
            throw new CommandException(Main.FAILED, "process " + pid + ": the agent did not report yields" + reason);
        }
        double rate = yieldCount * 1e9 / countedNanos;
        boolean exceeded = rate > yields;
        Main.print(
                "yields " + formatRate(rate) + ", " + (exceeded ? "exceeds " : "within ") + formatRate(yields) + "\n");
        return exceeded;
    }

    private static String formatRate(double perSecond) {
        boolean isWhole = perSecond >= 10 || perSecond == Math.rint(perSecond);
        return String.format(Locale.ROOT, isWhole ? "%,.0f/s" : "%.1f/s", perSecond);
    }

    private boolean checkThreshold(
            String name, CpuThreshold limit, long usedNanos, Map<String, Long> byThread, ProcessUsage totals)
            throws IOException {
        if (limit == null) return false;
        double percent = limit.convert(100.0 * usedNanos / watchedNanos, totals);
        boolean exceeded = percent > limit.percent();
        StringBuilder text = new StringBuilder(String.format(
                Locale.ROOT,
                "%s %.1f %% of %s, %s %.1f %%%n",
                name,
                percent,
                limit.unit(totals),
                exceeded ? "exceeds" : "within",
                limit.percent()));
        if (exceeded) {
            byThread.entrySet().stream()
                    .sorted(Map.Entry.<String, Long>comparingByValue().reversed())
                    .limit(MAX_THREADS)
                    .filter(e -> e.getValue() > 0)
                    .forEach(e -> text.append(String.format(
                            Locale.ROOT,
                            "  %.1f %% by \"%s\"%n",
                            limit.convert(100.0 * e.getValue() / watchedNanos, totals),
                            CellFormat.sanitize(e.getKey()))));
        }
        Main.print(text.toString());
        return exceeded;
    }
}
