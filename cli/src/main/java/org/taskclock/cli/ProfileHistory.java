// SPDX-License-Identifier: Apache-2.0
// Copyright the TaskClock authors
package org.taskclock.cli;

import java.io.IOException;
import java.nio.file.Path;
import java.time.DateTimeException;
import java.time.Duration;
import java.time.Instant;
import java.time.LocalDate;
import java.time.LocalDateTime;
import java.time.LocalTime;
import java.time.ZoneId;
import java.time.ZonedDateTime;
import java.util.List;
import java.util.Locale;
import java.util.stream.Collectors;
import org.taskclock.history.HistoryQueries;
import org.taskclock.history.StackHistory;
import org.taskclock.monitor.profile.Profile;
import org.taskclock.monitor.usage.DurationText;
import picocli.CommandLine.Option;

/** The options with which {@code profile} reads what {@code serve --profile} has recorded, instead of profiling now. */
final class ProfileHistory {
    /** The rest of a pool is one stack. */
    private static final int MAX_STACKS = 10_000;

    private static final String TIMES = "14:30, 2026-11-24, 2026-11-24T14:30, or 2h (two hours ago)";

    @Option(
            names = "--from",
            paramLabel = "TIME",
            description = "Show what serve --profile has recorded since TIME, instead of profiling now. TIME is "
                    + TIMES + ".")
    private String from;

    @Option(names = "--to", paramLabel = "TIME", description = "With --from: until TIME (default: now).")
    private String to;

    @Option(
            names = "--against",
            paramLabel = "TIME",
            description = "With --from: compare with the same length of time since TIME, and list the methods whose CPU"
                    + " time per second changed most.")
    private String against;

    @Option(
            names = "--data",
            paramLabel = "DIR",
            description = "With --from: directory of the history (default: $XDG_STATE_HOME/taskclock or"
                    + " ~/.local/state/taskclock).")
    private Path data;

    /** A time range and its profile. */
    record Part(Instant from, Instant to, Profile profile) {}

    boolean isUsed() {
        return from != null;
    }

    boolean isComparison() {
        return against != null;
    }

    void check() throws CommandException {
        if (!isUsed() && (to != null || against != null || data != null))
            throw new CommandException(Main.USAGE, "--to, --against, and --data need --from");
    }

    /**
     * Reads the profiles of a program: one, or with --against two, the earlier one first.
     *
     * @param name a process id or part of a name
     * @param pool the name of a pool or part of it; null for all threads
     */
    List<Part> read(String name, String pool) throws IOException, CommandException {
        Instant now = Instant.now();
        Instant start = time("--from", from, now, ZoneId.systemDefault());
        Instant end = to == null ? now : time("--to", to, now, ZoneId.systemDefault());
        if (!start.isBefore(end)) throw new CommandException(Main.USAGE, "--from " + from + ": must be before --to");
        HistoryQueries queries = HistoryQueries.of(data == null ? QueryCommand.defaultDirectory() : data);
        Instant first = against == null ? start : time("--against", against, now, ZoneId.systemDefault());
        HistoryQueries.Program program = program(queries, name, first.isBefore(start) ? first : start, end);
        Part part = read(queries, program, start, end, pool);
        if (against == null) return List.of(part);
        Instant firstEnd = first.plus(Duration.between(start, end));
        return List.of(read(queries, program, first, firstEnd, pool), part);
    }

    private static HistoryQueries.Program program(HistoryQueries queries, String name, Instant from, Instant to)
            throws IOException, CommandException {
        List<HistoryQueries.Program> found = queries.programs(name, from, to);
        if (found.size() == 1) return found.get(0);
        for (HistoryQueries.Program program : found) if (program.name().equalsIgnoreCase(name)) return program;
        if (found.isEmpty())
            throw new CommandException(Main.NO_PROCESS, "no JVM in the history has \"" + name + "\" in its name");
        throw new CommandException(
                Main.USAGE,
                '"' + name + "\" matches " + found.size() + " programs in the history: "
                        + found.stream()
                                .map(program -> CellFormat.sanitize(program.name()))
                                .collect(Collectors.joining(", "))
                        + ": give more of the name");
    }

    private static Part read(
            HistoryQueries queries, HistoryQueries.Program program, Instant from, Instant to, String pool)
            throws IOException, CommandException {
        StackHistory all = queries.stacks(program, from, to, null, MAX_STACKS);
        if (all.profiled().isZero())
            throw new CommandException(
                    Main.FAILED,
                    "the history has no profiles of " + program.name() + " from " + local(from) + " to " + local(to)
                            + ": run taskclock serve --profile 1%");
        StackHistory selected = pool == null ? all : all.pool(pool);
        if (selected.stacks().isEmpty())
            throw new CommandException(
                    Main.FAILED,
                    "no pool with \"" + pool + "\" in its name was profiled: the pools are "
                            + all.stacks().stream()
                                    .map(stack -> CellFormat.sanitize(stack.pool()))
                                    .distinct()
                                    .collect(Collectors.joining(", ")));
        String threads = pool == null
                ? "all threads"
                : "pool \"" + selected.stacks().get(0).pool() + '"';
        return new Part(from, to, selected.profile(0, program.name(), threads, to, List.of()));
    }

    static String local(Instant time) {
        LocalDateTime local =
                LocalDateTime.ofInstant(time, ZoneId.systemDefault()).withNano(0);
        return local.toLocalDate() + " " + local.toLocalTime();
    }

    /** Returns a time that a user has given, which is in the past. */
    static Instant time(String option, String text, Instant now, ZoneId zone) throws CommandException {
        ZonedDateTime local = now.atZone(zone);
        try {
            if (text.matches(".*[a-z]")) return now.minus(DurationText.parse(text));
            if (text.endsWith("Z")) return Instant.parse(text.toUpperCase(Locale.ROOT));
            if (text.contains("T") || text.contains(" "))
                return LocalDateTime.parse(text.replace(' ', 'T')).atZone(zone).toInstant();
            if (text.contains("-"))
                return LocalDate.parse(text).atStartOfDay(zone).toInstant();
            ZonedDateTime today = local.with(LocalTime.parse(text));
            return (today.isAfter(local) ? today.minusDays(1) : today).toInstant();
        } catch (DateTimeException | IllegalArgumentException e) {
            throw new CommandException(Main.USAGE, option + " \"" + text + "\" is not a time such as " + TIMES);
        }
    }
}
