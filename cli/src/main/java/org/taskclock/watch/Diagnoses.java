// SPDX-License-Identifier: Apache-2.0
// Copyright the TaskClock authors
package org.taskclock.watch;

import java.io.IOException;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;

/**
 * Finds what is wrong, interval by interval. No counter is proof of a yield storm or of a carrier that is kept busy: threads that look like
 * it have their stacks looked at, at that moment, as often as {@link Names} allows.
 */
final class Diagnoses {
    /** In percent of a core: what uses less harms nobody. */
    private static final double NOTABLE = 10;

    private static final double SYSTEM_HEAVY_PART = 0.5;
    /** A thread that yields is not switched out of its own will. */
    private static final double FEW_SWITCHES = 100;

    /** Contended, a yielder is switched out at each yield. */
    private static final double MANY_SWITCHES = 2_000;

    /** Intervals for which a thread that looks innocent is not forgotten. */
    private static final int REMEMBERED = 10;

    /** A second, of one thread. */
    private static final double MANY_YIELDS = 1_000;

    private static final int MOST_OF_A_KIND = 5;

    private static final int MANY_CARRIED = 1_000;

    private static final double MONOPOLISED = 80;
    private static final double JVM_NOTABLE = 10;
    private static final double JVM_PART = 0.25;
    private static final double THROTTLED_PART = 0.05;

    /** What is known of a thread that looks suspicious, while it does. */
    private static final class Suspect {
        /** For so many intervals by now. */
        int unsuspicious;

        int looks;
        int yielding;
        int scheduling;
        int carryingSame;
        long carrying;

        String top = "";
    }

    private final Names names;
    private final Map<Integer, Suspect> suspects = new HashMap<>();
    /** How often each virtual thread was seen carried, since carriers are suspicious. */
    private final Map<Long, Integer> carried = new HashMap<>();

    Diagnoses(Names names) {
        this.names = names;
    }

    List<Diagnosis> of(List<Row> rows, Totals totals, long intervalNanos, AgentView agent) {
        double seconds = intervalNanos / 1e9;
        List<Row> found = new ArrayList<>();
        for (Row row : rows) if (isSuspect(row, intervalNanos, seconds)) found.add(row);
        look(found);

        List<Diagnosis> all = new ArrayList<>();
        Map<String, Integer> kinds = new HashMap<>();
        for (Row row : found) {
            Suspect suspect = suspects.get(row.tid());
            List<String> evidence = evidence(row, intervalNanos, seconds);
            Diagnosis of = ofYields(row, suspect, evidence, agent);
            if (of == null && row.kind() == Row.Kind.CARRIER) of = ofCarrier(row, suspect, evidence, intervalNanos);
            else if (of == null) of = ofThread(row, suspect, evidence, seconds);
            if (of != null && kinds.merge(of.kind(), 1, Integer::sum) <= MOST_OF_A_KIND) all.add(of);
        }
        ofJvm(all, rows, totals, intervalNanos, Row.Kind.GC, "gc", "garbage collection");
        ofJvm(all, rows, totals, intervalNanos, Row.Kind.JIT, "jit", "compilation");
        if (totals.containerCores() > 0 && totals.throttledNanos() > THROTTLED_PART * intervalNanos) {
            all.add(new Diagnosis(
                    "throttled",
                    0,
                    "the container is kept from running by its limit of " + number(totals.containerCores()) + " cores",
                    List.of("throttled for " + number(totals.throttledNanos() / 1e6) + " ms in "
                            + number(intervalNanos / 1e6) + " ms")));
        }
        return all;
    }

    private static boolean isSuspect(Row row, long interval, double seconds) {
        double cpu = 100.0 * row.cpuNanos() / interval;
        if (row.tid() == 0 || cpu < NOTABLE) return false;
        return switch (row.kind()) {
            case CARRIER -> true;
            case JAVA, NATIVE -> isSystemHeavy(row) || row.involuntary() / seconds > MANY_SWITCHES;
            default -> false;
        };
    }

    private static boolean isSystemHeavy(Row row) {
        return row.systemNanos() > SYSTEM_HEAVY_PART * row.cpuNanos();
    }

    private void look(List<Row> found) {
        for (Row row : found) suspects.computeIfAbsent(row.tid(), tid -> new Suspect()).unsuspicious = 0;
        suspects.values().removeIf(suspect -> suspect.unsuspicious++ > REMEMBERED);
        if (found.isEmpty() || !names.mayAsk()) return;
        ThreadDump dump;
        try {
            dump = names.dump();
        } catch (IOException e) {
            // They stay unconfirmed; Names says why.
            return;
        }
        suspects.forEach((tid, suspect) -> look(suspect, dump.of(tid)));
        if (carried.size() > MANY_CARRIED) carried.clear();
        for (ThreadDump.Entry entry : dump.all())
            if (entry.carrying() != 0) carried.merge(entry.carrying(), 1, Integer::sum);
    }

    private static void look(Suspect suspect, ThreadDump.Entry entry) {
        suspect.looks++;
        if (entry == null) return;
        suspect.top = entry.top();

        if (entry.yields()) suspect.yielding++;
        if (entry.schedules()) suspect.scheduling++;
        suspect.carryingSame =
                entry.carrying() != 0 && entry.carrying() == suspect.carrying ? suspect.carryingSame + 1 : 0;
        suspect.carrying = entry.carrying();
    }

    /** Null unless it is certain: the agent counted, or a stack told. */
    private static Diagnosis ofYields(Row row, Suspect suspect, List<String> evidence, AgentView agent) {
        double counted = agent.yieldsASecond(row.tid());
        if (suspect.yielding == 0 && counted < MANY_YIELDS) return null;
        boolean carrier = row.kind() == Row.Kind.CARRIER;
        if (suspect.yielding > 0) {
            evidence.add(suspect.yielding + " of " + looks(suspect)
                    + (carrier ? " the virtual thread that it carried" : " it") + " was in Thread.yield");
        }
        if (counted > 0) {
            evidence.add("the agent counted " + number(counted) + " yields a second");
            evidence.addAll(agent.sites());
        }
        String who = carrier ? "virtual threads on \"" + row.name() + "\" call" : thread(row) + " calls";
        return new Diagnosis("yield-storm", row.tid(), who + " Thread.yield all the time", evidence);
    }

    private Diagnosis ofThread(Row row, Suspect suspect, List<String> evidence, double seconds) {
        if (!isSystemHeavy(row)) return null;
        if (suspect.looks == 0 && row.voluntary() / seconds < FEW_SWITCHES) {
            evidence.add("not confirmed: its stack was not looked at, because " + names.why());
            return new Diagnosis(
                    "yield-storm",
                    row.tid(),
                    thread(row) + " behaves as one that calls Thread.yield all the time",
                    evidence);
        }
        if (!suspect.top.isEmpty()) evidence.add("its stack begins " + suspect.top);
        return new Diagnosis(
                "system-heavy", row.tid(), thread(row) + " spends most of its time in the kernel", evidence);
    }

    private Diagnosis ofCarrier(Row row, Suspect suspect, List<String> evidence, long interval) {
        // On a busy machine it may have to wait for a processor; nobody else has it meanwhile.
        long kept = row.cpuNanos() + Math.max(0, row.waitNanos());
        if (suspect.carryingSame > 0 && 100.0 * kept / interval > MONOPOLISED) {
            evidence.add("it carried virtual thread #" + suspect.carrying + " each of the last "
                    + (suspect.carryingSame + 1) + " times that its stack was looked at");
            return new Diagnosis(
                    "carrier-monopolised",
                    row.tid(),
                    "virtual thread #" + suspect.carrying + " keeps its carrier \"" + row.name()
                            + "\" to itself; other virtual threads wait",
                    evidence);
        }
        // One that is met again and again, and a carrier that is found between two threads: they take turns quickly.
        long again = carried.entrySet().stream()
                .filter(e -> e.getValue() > 1)
                .map(Map.Entry::getKey)
                .findFirst()
                .orElse(0L);
        if (again == 0 || suspect.scheduling < 2 || suspect.scheduling * 3 < suspect.looks) return null;
        evidence.add(suspect.scheduling + " of " + looks(suspect) + " it was between two virtual threads");
        evidence.add("virtual thread #" + again + " was met more than once");
        evidence.add(
                "not confirmed: no stack was in Thread.yield; JVMs before 24 do not print those of virtual threads");
        return new Diagnosis(
                "yield-storm",
                row.tid(),
                "virtual threads on \"" + row.name() + "\" behave as if they called Thread.yield all the time",
                evidence);
    }

    private static String thread(Row row) {
        return "thread \"" + row.name() + "\"";
    }

    private static List<String> evidence(Row row, long interval, double seconds) {
        List<String> evidence = new ArrayList<>();
        evidence.add(number(100.0 * row.cpuNanos() / interval) + " % of a core, of which "
                + number(100.0 * row.systemNanos() / Math.max(1, row.cpuNanos())) + " % in the kernel");
        if (row.voluntary() >= 0) {
            evidence.add(number(row.voluntary() / seconds) + " voluntary and " + number(row.involuntary() / seconds)
                    + " involuntary switches a second");
        }
        return evidence;
    }

    private static String looks(Suspect suspect) {
        return suspect.looks + (suspect.looks == 1 ? " time" : " times") + " that its stack was looked at";
    }

    private static void ofJvm(
            List<Diagnosis> all,
            List<Row> rows,
            Totals totals,
            long interval,
            Row.Kind kind,
            String word,
            String what) {
        long used = 0;
        int threads = 0;
        for (Row row : rows) {
            if (row.kind() != kind || row.cpuNanos() == 0) continue;
            used += row.cpuNanos();
            threads++;
        }
        double percent = 100.0 * used / interval;
        if (percent < JVM_NOTABLE || used < JVM_PART * totals.processNanos()) return;
        all.add(new Diagnosis(
                word,
                0,
                what + " takes " + number(100.0 * used / totals.processNanos()) + " % of what the JVM uses",
                List.of(number(percent) + " % of a core, by " + threads + (threads == 1 ? " thread" : " threads"))));
    }

    private static String number(double value) {
        return String.format(Locale.ROOT, value < 10 && value != Math.rint(value) ? "%.1f" : "%,.0f", value);
    }
}
