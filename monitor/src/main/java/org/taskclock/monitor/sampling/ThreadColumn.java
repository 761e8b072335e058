// SPDX-License-Identifier: Apache-2.0
// Copyright the TaskClock authors
package org.taskclock.monitor.sampling;

import java.util.EnumSet;
import java.util.List;
import java.util.Locale;
import java.util.Set;
import java.util.function.Function;
import java.util.function.ToLongFunction;
import org.taskclock.monitor.usage.Json;
import org.taskclock.monitor.usage.ThreadUsage;

/**
 * The columns of the thread table, in the order of the terminal. {@code top} shows and prints them, also as JSON and
 * CSV, and the page of {@code serve} gets this list from its server.
 */
@SuppressWarnings("ImmutableEnumChecker") // the functions are immutable
public enum ThreadColumn {
    PID("PID", ColumnUnit.ID, 4, "process id", ThreadUsage::pid),
    TID("TID", ColumnUnit.ID, 3, "kernel thread id", ThreadUsage::tid),
    STATE(
            "S",
            ColumnUnit.STATE,
            1,
            8,
            "R running or runnable, S sleeping, D uninterruptible sleep in the kernel, T stopped",
            "state",
            thread -> String.valueOf(thread.state() > ' ' && thread.state() < 0x7f ? thread.state() : '?'),
            ThreadColumn::procState),
    CPU("CPU%", ColumnUnit.PERCENT, 0, "user plus system time; 100 % is one processor", ThreadUsage::cpuNanos),
    USER("USER%", ColumnUnit.PERCENT, 1, "CPU time in user mode", ThreadUsage::userNanos),
    SYSTEM("SYS%", ColumnUnit.PERCENT, 2, "CPU time in the kernel", ThreadUsage::systemNanos),
    LIMIT("LIM%", ColumnUnit.LIMIT, 11, "CPU% relative to the container's limit", ThreadUsage::cpuNanos),
    WAIT("WAIT%", ColumnUnit.PERCENT, 5, "runnable, but waiting for a processor", ThreadUsage::waitNanos),
    VOLUNTARY("VOL/s", ColumnUnit.RATE, 7, "voluntary context switches: the thread blocked", ThreadUsage::voluntary),
    INVOLUNTARY(
            "INV/s",
            ColumnUnit.RATE,
            6,
            "involuntary context switches: time slice used up, preempted or yielded",
            ThreadUsage::involuntary),
    ALLOCATION(
            "ALLOC/s",
            ColumnUnit.BYTES,
            13,
            "bytes allocated, in units of 1024 (from rounded totals)",
            thread -> thread.java().allocatedBytes()),
    SECTIONS("SECT/s", ColumnUnit.RATE, 3, "sections that were closed, such as requests", thread -> thread.sections()
            .count()),
    P50("P50", ColumnUnit.DURATION, 4, "median CPU time of these sections", thread -> thread.sections()
            .p50Nanos()),
    P99("P99", ColumnUnit.DURATION, 4, "99th percentile of the CPU time of these sections", thread -> thread.sections()
            .p99Nanos()),
    TIME("TIME", ColumnUnit.SECONDS, 10, "CPU time since the thread started", "total", ThreadUsage::totalNanos),
    WATCHED("+TIME", ColumnUnit.SECONDS, 12, "the part of TIME since watching began", ThreadUsage::watchedNanos),
    BAR("", ColumnUnit.DRAWING, 8, 9, "user and system time; a full bar is one processor"),
    RECENT(
            "RECENT",
            ColumnUnit.DRAWING,
            6,
            8,
            "CPU usage in the last intervals or the range shown, newest at the right"),
    RISE("RISE", ColumnUnit.DIFFERENCE, 6, 2, "how much CPU% exceeds its median in the previous intervals"),
    JSTATE(
            "JSTATE",
            ColumnUnit.TEXT,
            8,
            11,
            "Java state: BLOCKED waits for a monitor; TIMED is TIMED_WAITING",
            "javaState",
            thread -> thread.java().label(),
            thread -> known(thread.java().stateName())),
    BLOCKED(
            "~BLK%",
            ColumnUnit.ESTIMATE, 12, "estimated time in which the thread waited for locks", thread -> thread.java()
                    .blockedNanos()),
    BLOCKED_BY(
            "BLOCKED BY",
            ColumnUnit.TEXT,
            16,
            11,
            "owner of the lock that the thread waits for; in parentheses, the lock's class",
            "blockedBy",
            thread -> thread.java().blockedBy(),
            thread -> known(thread.java().owner())),
    KIND(
            "KIND",
            ColumnUnit.TEXT,
            7,
            12,
            "java, carrier, virtual, gc, jit, vm, native",
            "kind",
            ThreadUsage::kindLabel,
            thread -> thread.kind().label()),
    JAVA("JAVA", ColumnUnit.ID, 13, "Java thread id", "javaId", ThreadUsage::javaId),
    POOL("POOL", 24, 14, "thread name with numbers replaced by #", ThreadUsage::pool),
    NAME("NAME", 0, -1, "thread, or pool with its number of threads; ~ marks a truncated name", ThreadUsage::name);

    /** A value of a row of JSON or CSV; null if it is unknown. */
    public interface Value {
        Object of(ThreadUsage thread, Interval interval);
    }

    /**
     * A member of the JSON objects of {@code top --json}, which is a column of {@code --csv}.
     *
     * @param type the type's name in top.schema.json: percent, nanos, count, id, or text
     */
    public record Member(String name, String type, Value value) {}

    /** The columns that only named accounts have. */
    private static final Set<ThreadColumn> ONLY_ACCOUNTS = EnumSet.of(SECTIONS, P50, P99);

    /** The columns that named accounts have. */
    private static final Set<ThreadColumn> ACCOUNTS =
            EnumSet.of(PID, CPU, USER, SYSTEM, LIMIT, WAIT, SECTIONS, P50, P99, TIME, BAR, RECENT, RISE, NAME);

    /** The states of /proc/PID/stat. Groups have none. */
    private static final String PROC_STATES = "RSDTtZXIWKP";

    /** The name in options, menus, saved settings, and on the page. */
    public final String id;

    public final String title;
    public final ColumnUnit unit;

    /** Width on a terminal. */
    public final int width;

    /** Columns with the highest rank are dropped first on a narrow screen. */
    public final int rank;

    /** What the column means. */
    public final String help;

    /** The name of the value in the API of {@code serve}; null if the value is not in it. */
    public final String member;

    private final ToLongFunction<ThreadUsage> amount;
    private final Function<ThreadUsage, String> text;
    private final Function<ThreadUsage, String> exactText;

    ThreadColumn(String title, ColumnUnit unit, int rank, String help, ToLongFunction<ThreadUsage> amount) {
        this(title, unit, rank, help, "", amount);
    }

    ThreadColumn(
            String title, ColumnUnit unit, int rank, String help, String member, ToLongFunction<ThreadUsage> amount) {
        this(title, unit, unit.width, rank, help, member, amount, null, null);
    }

    ThreadColumn(String title, int width, int rank, String help, Function<ThreadUsage, String> text) {
        this(title, ColumnUnit.TEXT, width, rank, help, "", text, text);
    }

    ThreadColumn(
            String title,
            ColumnUnit unit,
            int width,
            int rank,
            String help,
            String member,
            Function<ThreadUsage, String> text,
            Function<ThreadUsage, String> exactText) {
        this(title, unit, width, rank, help, member, null, text, exactText);
    }

    ThreadColumn(String title, ColumnUnit unit, int width, int rank, String help) {
        this(title, unit, width, rank, help, null, null, null, null);
    }

    /** @param member empty if it is the id */
    ThreadColumn(
            String title,
            ColumnUnit unit,
            int width,
            int rank,
            String help,
            String member,
            ToLongFunction<ThreadUsage> amount,
            Function<ThreadUsage, String> text,
            Function<ThreadUsage, String> exactText) {
        id = name().toLowerCase(Locale.ROOT).replace('_', '-');
        this.title = title;
        this.unit = unit;
        this.width = width;
        this.rank = rank;
        this.help = help;
        this.member = "".equals(member) ? id : member;
        this.amount = amount;
        this.text = text;
        this.exactText = exactText;
    }

    /** Returns the column with this id. */
    public static ThreadColumn of(String id) {
        for (ThreadColumn column : values()) if (column.id.equals(id)) return column;
        throw new IllegalArgumentException(id);
    }

    /** Returns whether the column shows {@link ThreadUsage#java}, which requires thread dumps. */
    public boolean isJavaStatus() {
        return this == ALLOCATION || this == JSTATE || this == BLOCKED || this == BLOCKED_BY;
    }

    /** Returns whether the column has a value for a named account, or else for a thread. */
    public boolean isOf(boolean account) {
        return account ? ACCOUNTS.contains(this) : !ONLY_ACCOUNTS.contains(this);
    }

    public boolean isSortable() {
        return unit != ColumnUnit.DRAWING;
    }

    /** Returns whether a cell is text, and not a number or a drawing. */
    public boolean hasText() {
        return unit == ColumnUnit.TEXT || unit == ColumnUnit.STATE;
    }

    /** Returns what the unit describes, or -1 if it is unknown. */
    public long amount(ThreadUsage thread) {
        return amount.applyAsLong(thread);
    }

    /** Returns the value as it is shown, or -1 if it is unknown; NaN for drawings and differences. */
    public double value(ThreadUsage thread, Interval interval) {
        return switch (unit) {
            case DRAWING, DIFFERENCE -> Double.NaN;
            case TEXT -> 0;
            case STATE -> thread.state() == 'R' ? 1 : 0;
            default -> unit.shown(amount(thread), interval);
        };
    }

    /** Returns the text of a cell, not yet cleared of control characters. */
    public String text(ThreadUsage thread) {
        return text.apply(thread);
    }

    /** Returns the text in JSON and CSV; null if it is unknown. */
    public String exactText(ThreadUsage thread) {
        return exactText.apply(thread);
    }

    /** Returns what {@code top --json} and {@code --csv} contain of this column. */
    public List<Member> members() {
        if (member == null) return List.of();
        Value known = (thread, interval) -> Json.known(amount(thread));
        return switch (unit) {
            case ID ->
                List.of(new Member(member, "id", (thread, interval) -> amount(thread) == 0 ? null : amount(thread)));
            case PERCENT ->
                List.of(
                        new Member(member + "Percent", "percent", this::percent),
                        new Member(member + "Nanos", "nanos", known));
            case ESTIMATE -> List.of(new Member(member + "NanosEstimate", "nanos", known));
            case SECONDS, DURATION -> List.of(new Member(member + "Nanos", "nanos", known));
            case RATE -> List.of(new Member(member, "count", known));
            case BYTES -> List.of(new Member(this == ALLOCATION ? "allocatedBytes" : member + "Bytes", "count", known));
            case STATE, TEXT -> List.of(new Member(member, "text", (thread, interval) -> exactText(thread)));
            case LIMIT, DIFFERENCE, DRAWING -> List.of();
        };
    }

    private Double percent(ThreadUsage thread, Interval interval) {
        double value = value(thread, interval);
        return value < 0 ? null : Math.round(value * 1_000) / 1_000.0;
    }

    private static String procState(ThreadUsage thread) {
        return PROC_STATES.indexOf(thread.state()) < 0 ? null : String.valueOf(thread.state());
    }

    private static String known(String text) {
        return text.isEmpty() ? null : text;
    }
}
