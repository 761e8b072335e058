// SPDX-License-Identifier: Apache-2.0
// Copyright the TaskClock authors
package org.taskclock.cli;

import java.math.BigDecimal;
import java.util.List;
import java.util.Locale;
import java.util.TreeMap;
import java.util.stream.Collectors;
import org.taskclock.ClockStatus;
import org.taskclock.Rung;

/** The doctor's findings for people, section by section. */
final class DoctorText {
    private static final double MILLIS = 1e6;

    private DoctorText() {}

    static String machine(Machine machine, ClockStatus status) {
        return fact("kernel", machine.kernel())
                + fact("libc", machine.libc())
                + fact("JDK", machine.jdk())
                + fact("CPU", machine.processors() + " x " + machine.cpu())
                + fact("clock source", machine.clockSource())
                + fact("tick", tick(status.tickNanos()))
                + fact("accounting", accounting(status.accounting()));
    }

    private static String fact(String name, String value) {
        return format("%-14s%s%n", name, value);
    }

    private static String tick(long nanos) {
        if (nanos <= 0) return "unknown";
        return BigDecimal.valueOf(nanos, 6).stripTrailingZeros().toPlainString() + " ms, HZ=" + Math.round(1e9 / nanos);
    }

    private static String accounting(ClockStatus.Accounting accounting) {
        return switch (accounting) {
            case TICK -> "tick: user or system is what a thread is doing when the tick comes";
            case PRECISE -> "precise: user and system are measured at each entry to the kernel";
            case UNKNOWN -> "unknown";
        };
    }

    static String rungs(ClockStatus status) {
        StringBuilder text = new StringBuilder(format("%-14s%-14s%s%n", "rung", "verdict", "reason"));
        for (ClockStatus.Verdict verdict : status.rungs()) {
            String state = verdict.rung() == status.rung() ? "in use" : verdict.usable() ? "usable" : "not usable";
            text.append(format("%-14s%-14s%s%n", verdict.rung(), state, verdict.reason()));
        }
        return text.toString();
    }

    static String reads(List<Timing.Read> reads) {
        StringBuilder text = new StringBuilder(
                format("%-30s%11s%11s%11s%14s%n", "ns per read", "median", "p99", "max", "stock / this"));
        Timing.Stock group = Timing.Stock.NONE;
        for (Timing.Read read : reads) {
            if (read.stock() != group) text.append(System.lineSeparator());
            group = read.stock();
            if (read.reason() == null) text.append(figures(read));
            else text.append(format("%-30s%11s%n", read.name(), "-"));
        }
        long batches = reads.stream().mapToLong(Timing.Read::batches).max().orElse(0);
        text.append(
                format("%nover the means of %,d batches; stock / this: how many times cheaper than stock%n", batches));
        text.append(format("stock: ThreadMXBean of this JVM; view: TaskClock.threadMXBean(); ThreadClock: another,%n"));
        text.append(format("parked thread; clock_gettime in C: the floor under what asks the kernel for cpu%n"));
        missing(reads, text);
        return text.toString();
    }

    private static String figures(Timing.Read read) {
        return format(
                "%-30s%11s%11s%11s%s%n",
                read.name(),
                nanos(read.medianNanos()),
                nanos(read.p99Nanos()),
                nanos(read.maxNanos()),
                read.ratioToStock() == null ? "" : format("%14.2f", read.ratioToStock()));
    }

    private static String nanos(double nanos) {
        return format(nanos < 1000 ? "%.1f" : "%,.0f", nanos);
    }

    private static void missing(List<Timing.Read> reads, StringBuilder text) {
        reads.stream()
                .filter(read -> read.reason() != null)
                .collect(Collectors.groupingBy(
                        Timing.Read::reason,
                        TreeMap::new,
                        Collectors.mapping(Timing.Read::name, Collectors.joining(", "))))
                .forEach((reason, names) -> text.append(format("not available: %s: %s%n", names, reason)));
    }

    /** A line, where the rung in use reads the counter; else nothing. */
    static String calibration(ClockStatus.Calibration calibration) {
        if (calibration == null) return "";
        if (calibration.counterHertz() < 0) return fact("counter", "not measured yet");
        return fact(
                "counter",
                format(
                        "%,.3f MHz, measured over %,.0f ms, found wrong %d times",
                        calibration.counterHertz() / 1e6, calibration.overNanos() / MILLIS, calibration.resets()));
    }

    /** Lines on how long the counter is trusted, where the rung in use reads it; else nothing. */
    static String accuracy(ClockStatus.Accuracy accuracy) {
        if (accuracy == null) return "";
        String life = accuracy.lifeNanos() == 0
                ? "; too much time is taken away here, so the kernel is asked at each reading"
                : format("; the kernel is asked again after %,.3f ms", accuracy.lifeNanos() / MILLIS);
        String seen = accuracy.observedNanos() == 0
                ? "nothing yet"
                : format(
                        "%,.3f ms taken away by the hypervisor or interrupts in %,.0f ms of CPU time",
                        Math.max(0, accuracy.aheadNanos()) / MILLIS, accuracy.observedNanos() / MILLIS);
        return fact("accuracy", format("at most %,d ns ahead on average%s", accuracy.budgetNanos(), life))
                + fact("observed", seen);
    }

    static String contract(Contract c, Rung rung) {
        StringBuilder text = new StringBuilder();
        text.append(format("contract of rung %s: %,d readings on %d threads%n", rung, c.readings(), c.threads()));
        if (!c.readingsHold()) text.append(line(false, "readings", format("%,d are -1", c.unknownReadings())));
        text.append(line(
                c.cpuHolds(),
                "cpu",
                format(
                        "differs from %s by %,d ns at p99.99, %,d ns at worst, %,.1f ns on average",
                        c.reference(), c.cpuErrorP9999Nanos(), c.cpuErrorMaxNanos(), c.cpuErrorMeanNanos())));
        text.append(
                line(c.sumsHold(), "sums", format("%,d readings in which user + system is not cpu", c.sumErrors())));
        text.append(line(
                c.stepsHold(),
                "steps",
                format("%,d readings that went backward or contradict each other", c.backwardSteps())));
        text.append(split(c));
        text.append(line(
                c.waitsHold(),
                "blocked",
                format(
                        "%,d ns counted of %,.0f ms in %,d waits",
                        c.blockedNanosCounted(), c.waitedNanos() / MILLIS, c.waits())));
        text.append(c.holds() ? format("%nthe contract holds%n") : format("%nthe contract does not hold%n"));
        return text.toString();
    }

    private static String split(Contract c) {
        if (c.splitErrorMaxNanos() == null) return line("not checked", "split", "without the native library");
        String error = format("differs from getrusage by %.3f ms at worst", c.splitErrorMaxNanos() / MILLIS);
        if (c.splitBoundNanos() == null) return line("no promise", "split", error);
        return line(c.splitHolds(), "split", format("%s, allowed are %.3f", error, c.splitBoundNanos() / MILLIS));
    }

    private static String line(boolean holds, String name, String finding) {
        return line(holds ? "holds" : "BROKEN", name, finding);
    }

    private static String line(String verdict, String name, String finding) {
        return format("%-14s%-14s%s%n", name, verdict, finding);
    }

    /** The same figures look the same everywhere. */
    private static String format(String pattern, Object... values) {
        return String.format(Locale.ROOT, pattern, values);
    }
}
