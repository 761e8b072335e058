// SPDX-License-Identifier: Apache-2.0
// Copyright the TaskClock authors
package org.taskclock.metrics;

import java.util.ArrayList;
import java.util.List;
import java.util.function.Function;
import org.taskclock.AccountUsage;
import org.taskclock.CpuTime;
import org.taskclock.metrics.JvmUsage.ContainerUsage;

/**
 * The metrics of a JVM, as docs/metrics.md defines them. Units, and the attributes {@code cpu.mode} and
 * {@code process.context_switch.type}, are those of OpenTelemetry's semantic conventions; no other name is in a
 * namespace of theirs. {@code taskclock.pool.kind} is a {@linkplain ThreadKind#label() label}.
 */
@SuppressWarnings("ImmutableEnumChecker") // the lists and functions are immutable
public enum Metric {
    THREAD_CPU_TIME(
            "taskclock.thread.cpu.time",
            Type.COUNTER,
            "s",
            "CPU time used by the threads of the JVM.",
            List.of(Metric.POOL, Metric.KIND, Metric.MODE),
            usage -> Points.each(
                    usage.pools(),
                    pool -> List.of(
                            Points.pool(pool, pool.userNanos(), 1e9, "user"),
                            Points.pool(pool, pool.systemNanos(), 1e9, "system")))),
    THREAD_COUNT(
            "taskclock.threads",
            Type.UP_DOWN_COUNTER,
            "{thread}",
            "Number of live threads, including those of the JVM itself and native ones.",
            List.of(Metric.POOL, Metric.KIND),
            usage -> Points.each(usage.pools(), pool -> List.of(Points.pool(pool, pool.threads(), 1)))),
    VIRTUAL_THREAD_COUNT(
            "taskclock.virtual_threads",
            Type.UP_DOWN_COUNTER,
            "{thread}",
            "Number of live virtual threads, by state.",
            List.of("taskclock.virtual_thread.state"),
            usage -> {
                VirtualThreadCounts counts = usage.virtualThreads();
                if (!counts.isKnown()) return List.of();
                List<Point> points = new ArrayList<>();
                points.add(new Point(List.of("mounted"), counts.mounted()));
                if (counts.queued() >= 0) {
                    points.add(new Point(List.of("queued"), counts.queued()));
                    points.add(new Point(List.of("waiting"), counts.waiting()));
                }
                return points;
            }),
    VIRTUAL_THREAD_PARALLELISM(
            "taskclock.virtual_thread.parallelism",
            Type.GAUGE,
            "{thread}",
            "Number of virtual threads that the JDK's scheduler runs at the same time.",
            List.of(),
            usage -> usage.virtualThreads().parallelism() > 0
                    ? List.of(new Point(List.of(), usage.virtualThreads().parallelism()))
                    : List.of()),
    THREAD_WAIT_TIME(
            "taskclock.thread.wait.time",
            Type.COUNTER,
            "s",
            "Time that threads of the JVM were ready to run but had no processor.",
            List.of(Metric.POOL, Metric.KIND),
            usage -> Points.each(usage.pools(), pool -> Points.known(Points.pool(pool, pool.waitNanos(), 1e9)))),
    THREAD_CONTEXT_SWITCHES(
            "taskclock.thread.context_switches",
            Type.COUNTER,
            "{context_switch}",
            "Number of times that threads of the JVM left a processor.",
            List.of(Metric.POOL, Metric.KIND, "process.context_switch.type"),
            usage -> Points.each(
                    usage.pools(),
                    pool -> pool.voluntary() < 0 || pool.involuntary() < 0
                            ? List.of()
                            : List.of(
                                    Points.pool(pool, pool.voluntary(), 1, "voluntary"),
                                    Points.pool(pool, pool.involuntary(), 1, "involuntary")))),
    THREAD_YIELD_COUNT(
            "taskclock.thread.yield.count",
            Type.COUNTER,
            "{yield}",
            "Number of calls of Thread.yield.",
            List.of(Metric.POOL, Metric.KIND),
            usage -> Points.each(usage.pools(), pool -> Points.known(Points.pool(pool, pool.yields(), 1)))),
    ACCOUNT_CPU_TIME(
            "taskclock.account.cpu.time",
            Type.COUNTER,
            "s",
            "CPU time used for a named account, such as a tenant.",
            List.of(Metric.ACCOUNT_TYPE, Metric.ACCOUNT_NAME, Metric.MODE),
            usage -> Points.each(
                    usage.accounts(),
                    account -> List.of(
                            Points.seconds(account.userNanos(), account.type(), account.name(), "user"),
                            Points.seconds(account.systemNanos(), account.type(), account.name(), "system")))),
    ACCOUNT_WAIT_TIME(
            "taskclock.account.wait.time",
            Type.COUNTER,
            "s",
            "Time that threads that worked for a named account were ready to run but had no processor.",
            List.of(Metric.ACCOUNT_TYPE, Metric.ACCOUNT_NAME),
            usage -> Points.accounts(usage, AccountUsage::waitNanos, 1e9)),
    ACCOUNT_ALLOCATED(
            "taskclock.account.allocated",
            Type.COUNTER,
            "By",
            "Bytes of heap allocated for a named account.",
            List.of(Metric.ACCOUNT_TYPE, Metric.ACCOUNT_NAME),
            usage -> Points.accounts(usage, AccountUsage::allocatedBytes, 1)),
    ACCOUNT_SECTIONS(
            "taskclock.account.sections",
            Type.COUNTER,
            "{section}",
            "Number of sections, such as requests, of a named account.",
            List.of(Metric.ACCOUNT_TYPE, Metric.ACCOUNT_NAME),
            usage -> Points.accounts(usage, AccountUsage::sections, 1)),
    ACCOUNT_SECTION_CPU_TIME(
            "taskclock.account.section.cpu.time",
            Type.HISTOGRAM,
            "s",
            "CPU time of each closed section of a named account.",
            List.of(Metric.ACCOUNT_TYPE, Metric.ACCOUNT_NAME),
            usage -> Points.each(
                    usage.accounts(),
                    account -> account.distribution() == null
                            ? List.of()
                            : List.of(Points.histogram(account.distribution(), account.type(), account.name())))),
    PROCESS_CPU_TIME(
            "taskclock.process.cpu.time",
            Type.COUNTER,
            "s",
            "Total CPU seconds broken down by different CPU modes.",
            List.of(Metric.MODE),
            usage -> {
                CpuTime process = usage.process();
                return process.cpuNanos() < 0
                        ? List.of()
                        : List.of(
                                Points.seconds(process.userNanos(), "user"),
                                Points.seconds(process.systemNanos(), "system"));
            }),
    CONTAINER_CPU_TIME(
            "taskclock.container.cpu.time",
            Type.COUNTER,
            "s",
            "Total CPU time consumed.",
            List.of(),
            usage -> Points.container(usage, container -> container.cpuNanos() / 1e9)),
    CONTAINER_CPU_THROTTLED_TIME(
            "taskclock.container.cpu.throttled.time",
            Type.COUNTER,
            "s",
            "Time that the CPU limit kept the container from running, added up over processors.",
            List.of(),
            usage -> Points.container(usage, container -> container.throttledNanos() / 1e9)),
    CONTAINER_CPU_PERIODS(
            "taskclock.container.cpu.periods",
            Type.COUNTER,
            "{period}",
            "Periods of the CPU limit of the container in which it ran.",
            List.of(),
            usage -> Points.container(usage, ContainerUsage::periods)),
    CONTAINER_CPU_THROTTLED_PERIODS(
            "taskclock.container.cpu.throttled.periods",
            Type.COUNTER,
            "{period}",
            "Periods in which the container was kept from running because it had used up its CPU limit.",
            List.of(),
            usage -> Points.container(usage, ContainerUsage::throttledPeriods)),
    CONTAINER_CPU_LIMIT(
            "taskclock.container.cpu.limit",
            Type.GAUGE,
            "{cpu}",
            "CPU limit of the container, in processors.",
            List.of(),
            usage -> Points.container(usage, container -> container.limit() <= 0 ? -1 : container.limit())),
    FINDING(
            "taskclock.finding",
            Type.GAUGE,
            "{finding}",
            "Whether the JVM has a problem of this kind (1), or only had one (0).",
            List.of(Metric.FINDING_KIND),
            usage -> Points.findings(usage, finding -> finding.isCurrent() ? 1 : 0)),
    FINDING_START_TIME(
            "taskclock.finding.start_time",
            Type.GAUGE,
            "s",
            "When the problem of this kind began, now or the last time, since 1970.",
            List.of(Metric.FINDING_KIND),
            usage -> Points.findings(usage, finding -> finding.startMillis() / 1e3));

    /** How the values of a metric change, as in OpenTelemetry. */
    public enum Type {
        COUNTER,
        UP_DOWN_COUNTER,
        GAUGE,
        /** Numbers of observations by value, all of which only increase. */
        HISTOGRAM
    }

    /**
     * A value.
     *
     * @param attributes the values of {@link Metric#attributes()}, in the same order
     * @param value that of a histogram is the sum of what it counts
     * @param counts of a histogram: the number of observations in each bucket, whose upper bounds are {@link #BOUNDS},
     *     and the number above; otherwise empty
     */
    public record Point(List<String> attributes, double value, List<Long> counts) {
        public Point(List<String> attributes, double value) {
            this(attributes, value, List.of());
        }
    }

    /** The version of OpenTelemetry's semantic conventions that the names follow which it defines. */
    public static final String SCHEMA_URL = "https://opentelemetry.io/schemas/1.44.0";

    /** The upper bounds of the buckets of histograms, in seconds: from 10 us to 100 s, more of them in between. */
    public static final List<Double> BOUNDS =
            List.of(1e-5, 1e-4, 3e-4, 1e-3, 3e-3, 0.01, 0.03, 0.1, 0.3, 1.0, 10.0, 100.0);

    private static final String POOL = "taskclock.pool.name";
    private static final String KIND = "taskclock.pool.kind";
    private static final String MODE = "cpu.mode";
    private static final String ACCOUNT_TYPE = "taskclock.account.type";
    private static final String ACCOUNT_NAME = "taskclock.account.name";
    private static final String FINDING_KIND = "taskclock.finding.kind";

    private final String id;
    private final Type type;
    private final String unit;
    private final String description;
    private final List<String> attributes;
    private final Function<JvmUsage, List<Point>> points;

    Metric(
            String id,
            Type type,
            String unit,
            String description,
            List<String> attributes,
            Function<JvmUsage, List<Point>> points) {
        this.id = id;
        this.type = type;
        this.unit = unit;
        this.description = description;
        this.attributes = attributes;
        this.points = points;
    }

    /** Returns the name, such as {@code taskclock.thread.cpu.time}. */
    public String id() {
        return id;
    }

    public Type type() {
        return type;
    }

    /** Returns the unit in UCUM, such as {@code s}. */
    public String unit() {
        return unit;
    }

    public String description() {
        return description;
    }

    /** Returns the names of the attributes. */
    public List<String> attributes() {
        return attributes;
    }

    /** Returns the values, at most one for each combination of attributes; none if the metric is unknown. */
    public List<Point> points(JvmUsage usage) {
        return points.apply(usage);
    }
}
