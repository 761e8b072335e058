// SPDX-License-Identifier: Apache-2.0
// Copyright the TaskClock authors
package org.taskclock.cli;

import java.io.IOException;
import java.time.Duration;
import java.util.HashMap;
import java.util.Locale;
import java.util.Map;
import java.util.concurrent.Callable;
import org.taskclock.watch.Diagnosis;
import org.taskclock.watch.Frame;
import org.taskclock.watch.Row;
import org.taskclock.watch.Sampler;
import org.taskclock.watch.Totals;
import org.taskclock.watch.Unwatchable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.Parameters;
import picocli.CommandLine.Spec;

@Command(
        name = "check",
        mixinStandardHelpOptions = true,
        versionProvider = Main.Version.class,
        description = {
            "Watches a JVM for some seconds and tells whether it used more than it should: for probes and CI.",
            "Thresholds are for the means of that time, in percent of one core, or of what the container may use."
        },
        footer = {
            "",
            "Examples:",
            "  taskclock check 4711 --system 50%% --for 10s",
            "  taskclock check orders --cpu \"90%% of limit\" --for 1m",
            "  taskclock check 4711 --cpu 150%% --pool \"http-nio-8080-exec-#\"",
            "",
            "Exit codes: 0 within all thresholds, 1 it failed, 2 wrong usage, 3 a threshold is exceeded, 4 no such process, or"
                    + " it ended, 5 not permitted."
        })
final class Check implements Callable<Integer> {
    private static final long SECOND = 1_000_000_000;
    private static final int NAMED = 3;

    @Spec
    private CommandSpec spec;

    @Parameters(paramLabel = "PID|NAME", description = "A process id, or a part of a program's name.")
    private String process;

    @Option(
            names = "--cpu",
            paramLabel = "PERCENT",
            converter = Limit.Converter.class,
            description = "User and system time together.")
    private Limit cpu;

    @Option(names = "--system", paramLabel = "PERCENT", converter = Limit.Converter.class, description = "System time.")
    private Limit system;

    @Option(
            names = "--yields",
            paramLabel = "RATE",
            converter = Amounts.Rate.class,
            description = "Calls of Thread.yield a second; loads the agent for that time, where it is not there.")
    private Double yields;

    @Option(
            names = "--for",
            paramLabel = "TIME",
            converter = Amounts.Time.class,
            defaultValue = "10s",
            description = "How long to watch; 10s unless given.")
    private Duration length;

    @Option(
            names = "--pool",
            paramLabel = "NAME",
            description =
                    "Only threads of this pool: their name, numbers written as #. Yields of virtual threads are their carriers'.")
    private String pool;

    @Option(names = "--no-attach", description = "Ask the JVM nothing: names are the kernel's, of 15 characters.")
    private boolean noAttach;

    private long cpuNanos;
    private long userNanos;
    private long nanos;
    private double yielded;
    /** In which they were counted. */
    private long countedNanos;

    private boolean poolSeen;
    private boolean poolHasThreads;
    private final Map<String, Long> cpuByThread = new HashMap<>();
    private final Map<String, Long> systemByThread = new HashMap<>();

    @Override
    public Integer call() throws IOException, InterruptedException {
        if (cpu == null && system == null && yields == null) {
            throw new ParameterException(spec.commandLine(), "nothing to check: give --cpu, --system or --yields");
        }
        try {
            long pid = Choice.of(process, true);
            if (yields == null) return check(pid);
            if (noAttach)
                throw new ParameterException(
                        spec.commandLine(), "--yields needs the agent, and --no-attach forbids it");
            String before = Target.of(pid).yieldMode();
            if ("off".equals(before)) {
                throw new Target.Failure(Main.FAILED, "process " + pid + ": the agent has Thread.yield switched off");
            }
            if (!"count".equals(before)) Target.of(pid).tell("yield=count");
            Thread undo = new Thread(() -> putBack(pid, before));
            // Also where somebody ends us before the time.
            Runtime.getRuntime().addShutdownHook(undo);
            try {
                return check(pid);
            } finally {
                Runtime.getRuntime().removeShutdownHook(undo);
                putBack(pid, before);
            }
        } catch (Target.Failure e) {
            return Main.complain(e.getMessage(), e.exitCode);
        } catch (Unwatchable e) {
            return Choice.complain(e);
        }
    }

    private static void putBack(long pid, String mode) {
        if ("count".equals(mode)) return;
        try {
            Target.of(pid).tell(mode == null ? "detach" : "yield=" + mode);
        } catch (Target.Failure e) {
            if (e.exitCode != Main.NO_PROCESS) Main.complain(e.getMessage(), e.exitCode);
        }
    }

    private int check(long pid) throws IOException, InterruptedException, Target.Failure {
        try (Sampler sampler = noAttach ? Sampler.withoutAttach(pid) : Sampler.of(pid)) {
            sampler.next();
            Frame last = null;
            for (long left = length.toNanos(); left > 0; left -= SECOND) {
                long part = Math.min(left, SECOND);
                Thread.sleep(part / 1_000_000, (int) (part % 1_000_000));
                last = sampler.next();
                add(last);
                if (sampler.yields() >= 0) {
                    yielded += pool == null ? sampler.yields() : yieldsOfPool(last, sampler);
                    countedNanos += last.intervalNanos();
                }
            }
            if (pool != null && !poolSeen) {
                throw new Target.Failure(Main.FAILED, "process " + pid + " has no thread of a pool \"" + pool + "\"");
            }
            if (yields != null && pool != null && !poolHasThreads) {
                throw new Target.Failure(
                        Main.FAILED,
                        "process " + pid
                                + ": yields of virtual threads are known by carrier only: give the carriers' pool");
            }
            boolean exceeded = judge("cpu", cpu, cpuNanos, cpuByThread, last.totals());
            exceeded |= judge("system", system, cpuNanos - userNanos, systemByThread, last.totals());
            exceeded |= judgeYields(pid, last);
            if (exceeded)
                for (Diagnosis found : last.diagnoses()) Main.print("! " + found.kind() + ": " + found.text() + "\n");
            return exceeded ? Main.THRESHOLD : Main.OK;
        }
    }

    private void add(Frame frame) {
        nanos += frame.intervalNanos();
        if (pool == null) {
            cpuNanos += frame.totals().processNanos();
            userNanos += frame.totals().processUserNanos();
        }
        for (Row row : frame.rows()) {
            boolean member = isMember(row);
            poolSeen |= member;
            if (pool != null && !member) continue;
            if (member) {
                cpuNanos += row.cpuNanos();
                userNanos += row.userNanos();
            }
            // What virtual threads used is their carriers' already.
            if (row.kind() == Row.Kind.VIRTUAL) continue;
            poolHasThreads |= member;
            cpuByThread.merge(row.name(), row.cpuNanos(), Long::sum);
            systemByThread.merge(row.name(), row.systemNanos(), Long::sum);
        }
    }

    private boolean isMember(Row row) {
        return pool != null && (row.pool().equals(pool) || row.name().equals(pool));
    }

    private double yieldsOfPool(Frame frame, Sampler sampler) {
        double aSecond = frame.rows().stream()
                .filter(this::isMember)
                .mapToDouble(sampler::yieldsASecond)
                .sum();
        return aSecond * frame.intervalNanos() / SECOND;
    }

    private boolean judgeYields(long pid, Frame last) throws IOException, Target.Failure {
        if (yields == null) return false;
        if (countedNanos == 0) {
            String why = last.notes().isEmpty() ? "" : ": " + String.join("; ", last.notes());
            throw new Target.Failure(Main.FAILED, "process " + pid + ": the agent does not tell of yields" + why);
        }
        double rate = yielded * 1e9 / countedNanos;
        boolean exceeded = rate > yields;
        Main.print(String.format(
                Locale.ROOT, "yields %,.0f a second, %s %,.0f%n", rate, exceeded ? "exceeds" : "within", yields));
        return exceeded;
    }

    private boolean judge(String what, Limit limit, long used, Map<String, Long> byThread, Totals totals)
            throws IOException {
        if (limit == null) return false;
        double percent = 100.0 * used / nanos;
        boolean exceeded = percent > limit.ofCore(totals);
        StringBuilder text = new StringBuilder(String.format(
                Locale.ROOT,
                "%s %.1f %% of a core, %s %s%n",
                what,
                percent,
                exceeded ? "exceeds" : "within",
                limit.text(totals)));
        if (exceeded) {
            byThread.entrySet().stream()
                    .sorted(Map.Entry.<String, Long>comparingByValue().reversed())
                    .limit(NAMED)
                    .filter(e -> e.getValue() > 0)
                    .forEach(e -> text.append(String.format(
                            Locale.ROOT, "  %.1f %% by \"%s\"%n", 100.0 * e.getValue() / nanos, e.getKey())));
        }
        Main.print(text.toString());
        return exceeded;
    }
}
