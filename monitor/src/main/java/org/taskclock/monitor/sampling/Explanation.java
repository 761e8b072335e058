// SPDX-License-Identifier: Apache-2.0
// Copyright the TaskClock authors
package org.taskclock.monitor.sampling;

import java.util.ArrayList;
import java.util.Comparator;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.function.Function;
import java.util.function.ToLongFunction;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.taskclock.metrics.AccountKey;
import org.taskclock.metrics.PoolKey;
import org.taskclock.metrics.ThreadKind;
import org.taskclock.monitor.attach.ThreadDump;
import org.taskclock.monitor.finding.Finding;
import org.taskclock.monitor.finding.FindingHistory;
import org.taskclock.monitor.finding.FindingKind;
import org.taskclock.monitor.finding.FindingKinds;
import org.taskclock.monitor.finding.LockConvoy;
import org.taskclock.monitor.usage.JavaStatus;
import org.taskclock.monitor.usage.ProcessUsage;
import org.taskclock.monitor.usage.ThreadUsage;

/**
 * Explains in five sentences where the CPU time of a JVM went: how much it used, which pools used it, which threads
 * wait and why, what problem there is, and what to do next.
 */
public final class Explanation {
    private static final int MAX_GROUPS = 3;
    /** Problems besides the most severe one. */
    private static final int MAX_OTHERS = 2;
    /** Of the CPU time of the JVM. Smaller shares are not mentioned. */
    private static final double MIN_SHARE = 0.01;
    /** Of one processor. Less waiting is not mentioned. */
    private static final double MIN_WAIT = 0.05;
    /** A JVM that uses less of one processor is idle. */
    private static final double IDLE = 0.05;
    /** Of all processors. */
    private static final double FULL = 0.9;

    private static final Pattern COMMAND = Pattern.compile("taskclock ([a-z]+) PID");

    private final IntervalSum sum = new IntervalSum();
    private final FindingHistory findings = new FindingHistory();
    private final ProgramSites sites = new ProgramSites();

    /** Adds the next interval. At least one is needed. */
    public void add(Interval interval) {
        sum.add(interval);
        findings.add(interval.findings(), interval.end(), interval.intervalNanos());
    }

    /** Adds a thread dump that was taken at the end of an interval. */
    public void add(Interval interval, ThreadDump dump) {
        addSites(sites(interval, dump));
    }

    /** Returns what an explanation needs of such a thread dump: where the program's threads ran, by thread id. */
    public static Map<Integer, String> sites(Interval interval, ThreadDump dump) {
        return ProgramSites.of(interval, dump);
    }

    /** Adds what {@link #sites} returned. */
    public void addSites(Map<Integer, String> found) {
        sites.add(found);
    }

    /**
     * Returns the sentences, one for each line.
     *
     * @param since returns when a problem began
     */
    public List<String> lines(Function<FindingHistory.Entry, String> since) {
        List<FindingHistory.Entry> problems = problems();
        return new Text(sum.interval(), problems.isEmpty() ? null : problems.get(0), also(problems), since, sites)
                .lines();
    }

    /** Returns the problems that have lasted, the most severe first. */
    private List<FindingHistory.Entry> problems() {
        return findings.entries().stream()
                .filter(findings::hasLasted)
                .sorted(Comparator.comparing(entry -> entry.last().kind(), FindingKinds.BY_SEVERITY))
                .toList();
    }

    /** Returns the first problem of each other kind. */
    private static String also(List<FindingHistory.Entry> problems) {
        Map<FindingKind, String> others = new LinkedHashMap<>();
        for (FindingHistory.Entry problem : problems) {
            Finding other = problem.last();
            if (!other.kind().equals(problems.get(0).last().kind()) && others.size() < MAX_OTHERS)
                others.putIfAbsent(other.kind(), other.text() + " (" + other.kind() + ")");
        }
        return others.isEmpty() ? "" : " Also: " + String.join("; ", others.values()) + ".";
    }

    /** Threads with the same name, or of the same purpose. */
    private static final class Group {
        private final String name;
        private final ThreadUsage first;
        private ThreadUsage usage;
        private ThreadUsage busiest;
        private final List<JavaStatus> statuses = new ArrayList<>();
        private int threads;

        Group(String name, ThreadUsage first) {
            this.name = name;
            this.first = first;
        }

        void add(ThreadUsage thread) {
            usage = usage == null ? thread : usage.plus(thread);
            if (busiest == null || thread.cpuNanos() > busiest.cpuNanos()) busiest = thread;
            statuses.add(thread.java());
            threads += thread.threads();
        }

        /** Returns the sum of what the JVM reports, and one of the locks. */
        JavaStatus java() {
            return JavaStatus.ofPool(statuses);
        }

        String subject() {
            return threads == 1 && first.tid() != 0 && name.startsWith("\"") ? '"' + first.name() + '"' : name;
        }
    }

    private record Text(
            Interval interval,
            FindingHistory.Entry problem,
            String also,
            Function<FindingHistory.Entry, String> since,
            ProgramSites sites) {
        List<String> lines() {
            List<Group> groups = groups();
            return List.of(total(), users(groups), waiting(groups), problemText(), next(groups));
        }

        private List<Group> groups() {
            Map<String, Group> groups = new LinkedHashMap<>();
            for (ThreadUsage thread : interval.threads()) {
                // Their time is that of their carriers.
                if (thread.kind() == ThreadKind.VIRTUAL) continue;
                groups.computeIfAbsent(name(thread), name -> new Group(name, thread))
                        .add(thread);
            }
            return groups.values().stream()
                    .sorted(Comparator.comparingLong((Group group) -> -group.usage.cpuNanos()))
                    .toList();
        }

        private static String name(ThreadUsage thread) {
            return switch (thread.kind()) {
                case GC -> "garbage collection";
                case JIT -> "compilation";
                case VM -> "other work of the JVM";
                default ->
                    thread.pool().equals(PoolKey.ENDED.pool()) ? "threads that have ended" : '"' + thread.pool() + '"';
            };
        }

        private String total() {
            ProcessUsage totals = interval.totals();
            double available = totals.containerCores() > 0 ? totals.containerCores() : totals.processors();
            String text = interval.name() + " (" + interval.pid() + ") used "
                    + processors(totals.processNanos()) + " of " + number(available) + " processors for "
                    + seconds(interval.intervalNanos()) + ": user " + processors(totals.processUserNanos())
                    + ", system " + processors(totals.processNanos() - totals.processUserNanos()) + ".";
            long others = totals.machineNanos() - totals.processNanos();
            return others > IDLE * interval.intervalNanos()
                    ? text + " Other processes of the machine used " + processors(others) + "."
                    : text;
        }

        private String users(List<Group> groups) {
            if (isIdle()) return "It is idle.";
            long total = interval.totals().processNanos();
            List<String> parts = new ArrayList<>();
            for (Group group : groups) {
                if (parts.size() == MAX_GROUPS || group.usage.cpuNanos() < MIN_SHARE * total) break;
                parts.add(percent(group.usage.cpuNanos(), total) + " by " + group.subject() + " (" + details(group)
                        + ")");
            }
            return "Of that, " + String.join(", ", parts) + "." + site(groups) + virtualThreads(total) + accounts();
        }

        /** Returns where the busiest thread of the program was. */
        private String site(List<Group> groups) {
            return groups.stream()
                    .filter(group -> group.first.kind() == ThreadKind.JAVA || group.first.kind() == ThreadKind.CARRIER)
                    .findFirst()
                    .map(group -> sites.describe(group.busiest))
                    .orElse("");
        }

        private static String details(Group group) {
            ThreadUsage usage = group.usage;
            String system = percent(usage.systemNanos(), Math.max(1, usage.cpuNanos())) + " of it system time";
            if (group.threads == 1) return system;
            String busiest = group.busiest.cpuNanos() * 2 > usage.cpuNanos() && group.first.tid() != 0
                    ? ", most of it by \"" + group.busiest.name() + '"'
                    : "";
            return group.threads + " threads, " + system + busiest;
        }

        private String virtualThreads(long total) {
            return largest(interval.threads(), ThreadKind.VIRTUAL, total, " Virtual threads \"%s\" used %s.");
        }

        private String accounts() {
            Map<String, List<ThreadUsage>> types = new LinkedHashMap<>();
            for (ThreadUsage account : interval.accounts())
                types.computeIfAbsent(AccountKey.parse(account.pool()).type(), type -> new ArrayList<>())
                        .add(account);
            StringBuilder text = new StringBuilder();
            types.values()
                    .forEach(accounts -> text.append(largest(
                            accounts, ThreadKind.ACCOUNT, interval.totals().processNanos(), " %s used %s.")));
            return text.toString();
        }

        private static String largest(List<ThreadUsage> usages, ThreadKind kind, long total, String format) {
            return usages.stream()
                    .filter(usage -> usage.kind() == kind && usage.cpuNanos() >= MIN_SHARE * total)
                    .max(Comparator.comparingLong(ThreadUsage::cpuNanos))
                    .map(usage -> String.format(Locale.ROOT, format, usage.pool(), percent(usage.cpuNanos(), total)))
                    .orElse("");
        }

        private String waiting(List<Group> groups) {
            List<String> parts = new ArrayList<>();
            Group waiting = most(groups, group -> group.usage.waitNanos());
            if (waiting != null)
                parts.add("For a processor, " + waiting.subject() + " waited " + seconds(waiting.usage.waitNanos())
                        + ", " + whyWaiting() + ".");
            Group blocked = blocked(groups);
            if (blocked != null) {
                JavaStatus lock = blocked.java();
                parts.add("For a lock" + (lock.owner().isEmpty() ? "" : " that \"" + lock.owner() + "\" held") + ", "
                        + blocked.subject() + " waited about " + seconds(lock.blockedNanos()) + ".");
            }
            return parts.isEmpty() ? "No threads waited for a processor or a lock for long." : String.join(" ", parts);
        }

        private Group blocked(List<Group> groups) {
            return most(groups, group -> group.java().blockedNanos());
        }

        private Group most(List<Group> groups, ToLongFunction<Group> nanos) {
            return groups.stream()
                    .filter(group -> nanos.applyAsLong(group) > MIN_WAIT * interval.intervalNanos())
                    .max(Comparator.comparingLong(nanos))
                    .orElse(null);
        }

        private String whyWaiting() {
            ProcessUsage totals = interval.totals();
            if (totals.throttledNanos() > MIN_WAIT * interval.intervalNanos())
                return "because the limit of the container was used up in "
                        + percent(totals.throttledNanos(), interval.intervalNanos()) + " of the periods";
            if (totals.machineNanos() < FULL * totals.processors() * interval.intervalNanos())
                return "although not all processors were busy: more threads than processors run at the same time";
            long others = totals.machineNanos() - totals.processNanos();
            return others > totals.processNanos()
                    ? "because other processes used most of the machine"
                    : "because the JVM itself used most of the machine";
        }

        private String problemText() {
            if (problem == null) return "No known problem was found.";
            return "Problem: " + problem.last().text() + " (" + problem.last().kind() + ", since "
                    + since.apply(problem) + "). "
                    + problem.last().kind().meaning() + also;
        }

        private String next(List<Group> groups) {
            if (problem == null && isIdle()) return "Next: nothing to do.";
            Matcher command =
                    COMMAND.matcher(problem == null ? "" : problem.last().kind().action());
            String name = command.find() ? command.group(1) : isAboutLocks(groups) ? "dump" : "profile";
            return "Next: taskclock " + name + " " + interval.pid()
                    + (name.equals("profile") ? target(groups) + " --lines" : "");
        }

        private boolean isAboutLocks(List<Group> groups) {
            if (problem != null) return problem.last().kind().equals(new LockConvoy());
            Group blocked = blocked(groups);
            return blocked != null
                    && blocked.java().blockedNanos() > interval.totals().processNanos();
        }

        private String target(List<Group> groups) {
            if (problem != null && problem.last().tid() > 0)
                return " --thread " + problem.last().tid();
            ThreadUsage largest = groups.get(0).first;
            boolean isOfProgram = largest.kind() == ThreadKind.JAVA || largest.kind() == ThreadKind.CARRIER;
            return isOfProgram && largest.tid() != 0 ? " --pool " + quote(largest.pool()) : "";
        }

        /** Returns a word for a shell. */
        private static String quote(String text) {
            return text.matches("[A-Za-z0-9_.-]+") ? text : "'" + text.replace("'", "'\\''") + "'";
        }

        private boolean isIdle() {
            return interval.totals().processNanos() < IDLE * interval.intervalNanos();
        }

        private String processors(long nanos) {
            return String.format(Locale.ROOT, "%.2f", (double) nanos / interval.intervalNanos());
        }

        private static String seconds(long nanos) {
            return String.format(Locale.ROOT, "%.1f s", nanos / 1e9);
        }

        private static String percent(long nanos, long ofNanos) {
            return String.format(Locale.ROOT, "%.0f %%", 100.0 * nanos / ofNanos);
        }

        private static String number(double value) {
            return String.format(Locale.ROOT, value == Math.rint(value) ? "%.0f" : "%.1f", value);
        }
    }
}
