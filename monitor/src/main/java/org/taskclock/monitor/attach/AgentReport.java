// SPDX-License-Identifier: Apache-2.0
// Copyright the TaskClock authors
package org.taskclock.monitor.attach;

import com.google.gson.Gson;
import com.google.gson.GsonBuilder;
import com.google.gson.JsonDeserializer;
import com.google.gson.JsonParseException;
import com.google.gson.reflect.TypeToken;
import java.io.IOException;
import java.lang.reflect.Type;
import java.util.Arrays;
import java.util.HashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Set;
import java.util.function.Function;
import java.util.function.ToLongFunction;
import java.util.stream.Collectors;
import org.taskclock.AccountUsage;
import org.taskclock.Distribution;
import org.taskclock.PoolName;
import org.taskclock.ProcessClock;
import org.taskclock.metrics.AccountKey;
import org.taskclock.metrics.VirtualThreadCounts;

/** The report of the agent in a JVM, as org.taskclock.agent.AgentReportWriter writes it. Times are in nanoseconds. */
public record AgentReport(
        String version,
        long pid,
        String java,
        String command,
        long elapsedNanos,
        long cpuNanos,
        long userNanos,
        List<Pool> pools,
        List<Group> virtualThreads,
        long queuedVirtualThreads,
        int virtualThreadParallelism,
        List<Carrier> carriers,
        String yieldMode,
        long platformYields,
        long virtualYields,
        long platformYieldNanos,
        List<Yielder> yielders,
        List<Site> yieldSites,
        List<AccountUsage> accounts,
        List<Section> openSections,
        Health health,
        boolean truncated,
        long reportNanos) {
    public AgentReport {
        // Agents before these existed.
        if (accounts == null) accounts = List.of();
        if (openSections == null) openSections = List.of();
    }

    /** For each figure and for the sum of a list: in ns, 36 years of CPU time. */
    private static final long MAX_FIGURE = 1L << 60;

    private static final int MAX_ENTRIES = 100_000;
    private static final int MAX_ACCOUNTS = 10_000;
    private static final int MAX_NAME = 300;
    private static final int MAX_BUCKETS = 1_000;
    private static final long TOLERANCE_NANOS = 100_000_000;

    private static final Type LONGS = new TypeToken<List<Long>>() {}.getType();

    /** Remembers how to read each type, which takes as long as reading a report. */
    private static final Gson GSON = new GsonBuilder()
            .registerTypeAdapter(Distribution.class, (JsonDeserializer<Distribution>)
                    (json, type, context) -> distribution(context.deserialize(json, LONGS)))
            .create();

    /** The name of the agent property that holds the report. */
    private static final String PROPERTY = "taskclock.report";

    /** Thrown if the loaded agent's report cannot be read, because the agent is from another version. */
    public static final class AgentReportException extends IOException {
        private static final long serialVersionUID = 1;

        AgentReportException(String message) {
            super(message);
        }

        AgentReportException(Throwable cause) {
            super(
                    "cannot read the report of its agent, which is from another version of TaskClock:"
                            + " detach it with the taskclock that attached it",
                    cause);
        }
    }

    public record Pool(String name, String example, boolean java, int threads, long cpuNanos, long userNanos) {}

    public record Group(String name, long live, long mounted, long ended, long cpuNanos, long userNanos) {
        public Group {
            // The program can forge it.
            if (name != null) name = PoolName.of(name);
        }
    }

    /**
     * A thread that carried virtual threads.
     *
     * @param carriedNanos the part of {@code cpuNanos} that virtual threads used
     */
    public record Carrier(long tid, long cpuNanos, long userNanos, long carriedNanos, long carriedUserNanos) {}

    /** The state of the agent itself; {@code lastFailure} is null if nothing failed. */
    public record Health(
            List<Feature> features,
            long mounts,
            long mountClockCalls,
            long mountUsageCalls,
            long stacks,
            int failures,
            String lastFailure,
            long memoryBytes) {
        /** A feature of the agent; {@code problem} is null if it is in the requested state. */
        public record Feature(String name, String state, String problem) {}
    }

    /**
     * A live platform thread that yielded or carried yielding virtual threads.
     *
     * @param yieldNanos the CPU time of its own yields
     * @param cpuNanos its CPU time since it started; -1 if it has ended
     */
    public record Yielder(int tid, long yields, long yieldNanos, long cpuNanos) {}

    /** A call site of Thread.yield. {@code yields} includes {@code virtualYields}. */
    public record Site(long yields, long virtualYields, List<String> stack) {
        /** Returns the caller of yield. */
        public String name() {
            return stack.isEmpty() ? "(other)" : stack.get(0);
        }
    }

    /** A section of a named account that was open. {@code tid} is that of a platform thread, or else -1. */
    public record Section(
            String type, String name, String thread, long javaId, int tid, long openNanos, long cpuNanos) {}

    /** Returns the states of the virtual threads; unknown if they are not accounted for. */
    public VirtualThreadCounts virtualThreadCounts() {
        boolean isKnown = health.features.stream()
                .anyMatch(feature -> feature.name.equals("vthreads") && "on".equals(feature.state));
        if (!isKnown) return VirtualThreadCounts.UNKNOWN;
        return new VirtualThreadCounts(
                sum(virtualThreads, Group::live),
                sum(virtualThreads, Group::mounted),
                queuedVirtualThreads,
                virtualThreadParallelism);
    }

    /** Returns the ids of the carriers that have not ended, as the JVM sees them. */
    public Set<Long> carrierTids() {
        return carriers.stream().map(Carrier::tid).filter(tid -> tid != 0).collect(Collectors.toSet());
    }

    /** Returns the CPU time that carriers used for anything other than running virtual threads. */
    public long schedulingNanos() {
        return carriers.stream().mapToLong(c -> c.cpuNanos - c.carriedNanos).sum();
    }

    public long schedulingUserNanos() {
        return carriers.stream()
                .mapToLong(c -> c.userNanos - c.carriedUserNanos)
                .sum();
    }

    /** Requests the report from a running JVM. Returns null if no agent is loaded. */
    public static AgentReport request(AttachClient jvm, long timeoutMillis) throws IOException {
        AgentReport report = requestOnce(jvm, timeoutMillis);
        // Another tool may have deleted the request file, which all tools share.
        return report == null ? requestOnce(jvm, timeoutMillis) : report;
    }

    private static AgentReport requestOnce(AttachClient jvm, long timeoutMillis) throws IOException {
        create(jvm);
        try {
            AgentReport report = jvm.execute(timeoutMillis, AgentReport::read, "agentProperties");
            if (report != null) report.checkAgainst(ProcessClock.of(jvm.pid()).cpuNanos());
            return report;
        } finally {
            delete(jvm);
        }
    }

    private static AgentReport read(AttachReply reply) throws IOException {
        String report = reply.property(PROPERTY);
        return report == null || report.isEmpty() ? null : parse(report);
    }

    private static void create(AttachClient jvm) {
        try {
            jvm.files().create(jvm.reportRequest());
        } catch (IOException e) {
            return; // another tool has created it; if no tool can, there is no report
        }
    }

    private static void delete(AttachClient jvm) {
        try {
            jvm.files().deleteIfExists(jvm.reportRequest());
        } catch (IOException e) {
            return; // a tool of another user has created it
        }
    }

    /** Parses a report. Throws if its format is not that of this version. */
    public static AgentReport parse(String json) throws AgentReportException {
        try {
            AgentReport report = GSON.fromJson(json, AgentReport.class);
            if (report != null && report.isComplete()) {
                report.checkFigures();
                return report;
            }
        } catch (JsonParseException e) {
            if (e.getCause() instanceof AgentReportException impossible) throw impossible;
            throw new AgentReportException(e);
        }
        throw new AgentReportException((Throwable) null);
    }

    /** Throws if a figure is impossible, so that it ends neither in a sum that overflows nor in a negative counter. */
    private void checkFigures() throws AgentReportException {
        for (List<?> list : List.of(pools, virtualThreads, carriers, yielders, yieldSites, accounts, openSections))
            if (list.size() > MAX_ENTRIES)
                throw new AgentReportException("its agent reports more than " + MAX_ENTRIES + " entries");
        if (accounts.size() > MAX_ACCOUNTS)
            throw new AgentReportException("its agent reports more than " + MAX_ACCOUNTS + " accounts");
        check("process", cpuNanos, userNanos, reportNanos);
        check("yields", platformYields, virtualYields, platformYieldNanos);
        check("agent", health.mounts, health.mountClockCalls, health.mountUsageCalls);
        check("agent", health.stacks, health.failures, health.memoryBytes);
        checkSum("threads", pools, Pool::threads);
        checkTimes("pools", pools, Pool::cpuNanos, Pool::userNanos);
        checkSum("live virtual threads", virtualThreads, Group::live);
        checkSum("mounted virtual threads", virtualThreads, Group::mounted);
        checkSum("ended virtual threads", virtualThreads, Group::ended);
        check("queued virtual threads", queuedVirtualThreads);
        check("parallelism of virtual threads", virtualThreadParallelism);
        checkTimes("virtual threads", virtualThreads, Group::cpuNanos, Group::userNanos);
        checkTimes("carriers", carriers, Carrier::cpuNanos, Carrier::userNanos);
        checkTimes("carried threads", carriers, Carrier::carriedNanos, Carrier::carriedUserNanos);
        checkSum("yielders", yielders, Yielder::yields);
        checkSum("yielders", yielders, Yielder::yieldNanos);
        checkSum("yielders", yielders, Yielder::cpuNanos);
        checkSum("call sites", yieldSites, Site::yields);
        checkSum("call sites", yieldSites, Site::virtualYields);
        checkSum("accounts", accounts, AccountUsage::cpuNanos);
        checkSum("accounts", accounts, AccountUsage::waitNanos);
        checkSum("accounts", accounts, AccountUsage::allocatedBytes);
        checkSum("accounts", accounts, AccountUsage::sections);
        checkSum("sections", accounts, AgentReport::sectionNanos);
        for (AccountUsage account : accounts) checkAccount(account);
        if (accounts.stream().map(AgentReport::key).distinct().count() < accounts.size())
            throw new AgentReportException("its agent reports an account twice");
        checkSum("open sections", openSections, Section::cpuNanos);
        checkSum("open sections", openSections, Section::openNanos);
    }

    private static void checkAccount(AccountUsage account) throws AgentReportException {
        check("accounts", account.uncounted(), account.unclosed(), account.misclosed());
        if (account.cpuNanos() < 0 || account.userNanos() < 0) throw impossible("accounts", account.cpuNanos());
        if (account.systemNanos() < 0) throw impossible("user time of accounts", account.userNanos());
        if (account.type().length() > MAX_NAME || account.name().length() > MAX_NAME)
            throw new AgentReportException("its agent reports an account with a name of more than " + MAX_NAME);
        if (account.distribution() != null)
            checkSum(
                    "sections",
                    Arrays.stream(account.distribution().counts()).boxed().toList(),
                    n -> n);
    }

    /**
     * Reads the distribution of an account.
     *
     * @param values the CPU time of its sections, followed by pairs of the index of a bucket and its number of sections
     */
    private static Distribution distribution(List<Long> values) {
        if (values.contains(null)) throw new JsonParseException("null");
        int size = values.size();
        if (size % 2 == 0 || size > 2 * MAX_BUCKETS) throw new JsonParseException(impossible("sections", size));
        long[] counts = new long[MAX_BUCKETS];
        for (int i = 1; i < size; i += 2) {
            long bucket = values.get(i);
            if (bucket < 0 || bucket >= MAX_BUCKETS) throw new JsonParseException(impossible("sections", bucket));
            counts[(int) bucket] = values.get(i + 1);
        }
        return new Distribution(counts, values.get(0));
    }

    private static AccountKey key(AccountUsage account) {
        return new AccountKey(account.type(), account.name());
    }

    /** Returns the CPU time of the sections in the distribution of an account. */
    private static long sectionNanos(AccountUsage account) {
        return account.distribution() == null ? 0 : account.distribution().sumNanos();
    }

    private static <T> void checkTimes(
            String what, List<T> all, ToLongFunction<T> cpuNanos, ToLongFunction<T> userNanos)
            throws AgentReportException {
        checkSum(what, all, cpuNanos);
        checkSum(what, all, userNanos);
        for (T one : all)
            if (userNanos.applyAsLong(one) > withTolerance(cpuNanos.applyAsLong(one)))
                throw impossible("user time of " + what, userNanos.applyAsLong(one));
    }

    private static <T> void checkSum(String what, List<T> all, ToLongFunction<T> figure) throws AgentReportException {
        long sum = 0;
        for (T one : all) {
            long value = figure.applyAsLong(one);
            check(what, value);
            // Neither is larger than the limit, so this does not overflow.
            sum += Math.max(0, value);
            check(what, sum);
        }
    }

    private static void check(String what, long... figures) throws AgentReportException {
        for (long figure : figures) if (figure < -1 || figure > MAX_FIGURE) throw impossible(what, figure);
    }

    private static AgentReportException impossible(String what, long figure) {
        return new AgentReportException("its agent reports an impossible figure for " + what + ": " + figure);
    }

    /** Returns the most that an agent may report of a time: clocks are not read at the same moment. */
    static long withTolerance(long nanos) {
        return nanos + nanos / 16 + TOLERANCE_NANOS;
    }

    /**
     * Throws if an agent claims more than its process has used according to the kernel, which no program can forge.
     *
     * @param processNanos the CPU time of the process after the agent has reported; negative if it is unknown
     */
    void checkAgainst(long processNanos) throws AgentReportException {
        if (processNanos < 0) return;
        checkTotal("its process", cpuNanos, processNanos);
        checkTotal("pools", sum(pools, Pool::cpuNanos), processNanos);
        checkTotal("virtual threads", sum(virtualThreads, Group::cpuNanos), processNanos);
        checkTotal("carriers", sum(carriers, Carrier::cpuNanos), processNanos);
        checkTotal("carried threads", sum(carriers, Carrier::carriedNanos), processNanos);
        checkTotal("yielders", sum(yielders, Yielder::cpuNanos), processNanos);
        Map<String, Long> types = new HashMap<>();
        Map<String, Long> sections = new HashMap<>();
        for (AccountUsage account : accounts) {
            types.merge(account.type(), account.cpuNanos(), Long::sum);
            sections.merge(account.type(), sectionNanos(account), Long::sum);
        }
        // The CPU time of each type adds up to that of the process.
        for (long nanos : types.values()) checkTotal("accounts", nanos, processNanos);
        for (long nanos : sections.values()) checkTotal("sections", nanos, processNanos);
        // None of these takes less than a nanosecond.
        long yields = Math.max(platformYields + virtualYields, sum(yieldSites, Site::yields));
        for (long count : new long[] {yields, sum(yielders, Yielder::yields), health.mounts})
            if (count > withTolerance(processNanos)) throw impossible("yields and mounts", count);
    }

    private static <T> long sum(List<T> all, ToLongFunction<T> figure) {
        return all.stream().mapToLong(figure).filter(value -> value > 0).sum();
    }

    public static void checkTotal(String what, long nanos, long processNanos) throws AgentReportException {
        if (nanos > withTolerance(processNanos))
            throw new AgentReportException(String.format(
                    Locale.ROOT,
                    "its agent claims %.1f s of CPU time for %s, but the process has only used %.1f s",
                    nanos / 1e9,
                    what,
                    processNanos / 1e9));
    }

    private boolean isComplete() {
        return isComplete(pools, Pool::name)
                && isComplete(virtualThreads, Group::name)
                && isComplete(carriers, Carrier::tid)
                && yieldMode != null
                && isComplete(yielders, Yielder::tid)
                && health != null
                && isComplete(health.features, Health.Feature::name)
                && isComplete(yieldSites, Site::stack)
                && isComplete(accounts, AccountUsage::type)
                && isComplete(accounts, AccountUsage::name)
                && isComplete(openSections, Section::type)
                && isComplete(openSections, Section::name)
                && isComplete(openSections, Section::thread)
                && yieldSites.stream().allMatch(site -> isComplete(site.stack, frame -> frame));
    }

    /** Returns whether a list and what identifies its elements are there. */
    private static <T> boolean isComplete(List<T> list, Function<T, Object> key) {
        return list != null && list.stream().allMatch(element -> element != null && key.apply(element) != null);
    }
}
