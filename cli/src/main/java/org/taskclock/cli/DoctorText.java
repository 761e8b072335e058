// SPDX-License-Identifier: Apache-2.0
// Copyright the TaskClock authors
package org.taskclock.cli;

import java.math.BigDecimal;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Locale;
import java.util.TreeMap;
import java.util.stream.Collectors;
import org.taskclock.Backend;
import org.taskclock.ClockStatus;
import org.taskclock.ThreadContext;
import org.taskclock.report.MachineInfo;

/** Formats the output of {@code doctor} as text, section by section. */
final class DoctorText {
    private static final double MILLIS = 1e6;

    /** Exists if the kernel was built to measure user and system time (CONFIG_NO_HZ_FULL). */
    private static final Path NOHZ_FULL = Path.of("/sys/devices/system/cpu/nohz_full");

    private DoctorText() {}

    static String machine(MachineInfo machine, ClockStatus status) {
        return entry("kernel", machine.kernel())
                + entry("architecture", System.getProperty("os.arch"))
                + entry("libc", status.libc())
                + entry("JDK", machine.jdk())
                + entry("CPU", machine.processors() + " x " + machine.cpu())
                + entry("clock source", machine.clockSource())
                + entry("tick", tick(status.tickNanos()))
                + entry("accounting", accounting(status.accounting()))
                + context(ThreadContext.state());
    }

    /** Returns a line about the contexts of threads, or an empty string if they are not requested. */
    static String context(String state) {
        return state.equals("off") ? "" : entry("context", state);
    }

    private static String entry(String name, String value) {
        return format("%-14s%s%n", name, value);
    }

    private static String tick(long nanos) {
        if (nanos <= 0) return "unknown";
        return BigDecimal.valueOf(nanos, 6).stripTrailingZeros().toPlainString() + " ms, HZ=" + Math.round(1e9 / nanos);
    }

    static String accounting(ClockStatus.Accounting accounting) {
        return switch (accounting) {
            case TICK ->
                "tick: each tick is charged to user or system, whichever mode the thread is in; "
                        + (Files.exists(NOHZ_FULL)
                                ? "this kernel measures them if it is booted with nohz_full="
                                : "this kernel cannot measure them");
            case PRECISE -> "precise: measured at each entry to and exit from the kernel";
            case UNKNOWN -> "unknown";
        };
    }

    static String backends(ClockStatus status) {
        StringBuilder text = new StringBuilder(format("%-14s%-14s%s%n", "backend", "verdict", "reason"));
        for (ClockStatus.Verdict verdict : status.backends()) {
            String state =
                    verdict.backend() == status.backend() ? "in use" : verdict.usable() ? "usable" : "not usable";
            text.append(format("%-14s%-14s%s%n", verdict.backend(), state, verdict.reason()));
        }
        return text.toString();
    }

    static String reads(List<ReadTimer.Latency> reads) {
        StringBuilder text = new StringBuilder(
                format("%-30s%11s%11s%11s%14s%n", "ns per read", "median", "p99", "max", "stock / this"));
        ReadTimer.Stock group = ReadTimer.Stock.NONE;
        for (ReadTimer.Latency read : reads) {
            if (read.stock() != group) text.append(System.lineSeparator());
            group = read.stock();
            if (read.reason() == null) text.append(figures(read));
            else text.append(format("%-30s%11s%n", read.name(), "-"));
        }
        long batches =
                reads.stream().mapToLong(ReadTimer.Latency::batches).max().orElse(0);
        text.append(format("%nmeans of %,d batches; stock / this: speedup over stock%n", batches));
        text.append(format("stock: this JVM's ThreadMXBean; view: TaskClock.threadMXBean(); ThreadClock: reads a%n"));
        text.append(format("parked thread; clock_gettime in C: the lower bound for reading cpu from the kernel%n"));
        appendUnavailable(reads, text);
        return text.toString();
    }

    private static String figures(ReadTimer.Latency read) {
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

    private static void appendUnavailable(List<ReadTimer.Latency> reads, StringBuilder text) {
        reads.stream()
                .filter(read -> read.reason() != null)
                .collect(Collectors.groupingBy(
                        ReadTimer.Latency::reason,
                        TreeMap::new,
                        Collectors.mapping(ReadTimer.Latency::name, Collectors.joining(", "))))
                .forEach((reason, names) -> text.append(format("not available: %s: %s%n", names, reason)));
    }

    /** Returns a line about the time-stamp counter, or an empty string if the backend does not read it. */
    static String calibration(ClockStatus.Calibration calibration) {
        if (calibration == null) return "";
        if (calibration.counterHertz() < 0) return entry("counter", "not measured yet");
        return entry(
                "counter",
                format(
                        "%,.3f MHz (steps of %.1f ns), measured over %,.0f ms, reset %d times",
                        calibration.counterHertz() / 1e6,
                        calibration.stepNanos(),
                        calibration.overNanos() / MILLIS,
                        calibration.resets()));
    }

    /**
     * Returns two lines about the accuracy of the time-stamp counter, or an empty string if the backend does not read
     * it.
     */
    static String accuracy(ClockStatus.Accuracy accuracy, ClockStatus.Calibration calibration) {
        if (accuracy == null) return "";
        String life = accuracy.lifeNanos() == 0
                ? "; asks the kernel at each reading, because "
                        + (2 * accuracy.budgetNanos() <= calibration.stepNanos()
                                ? "the counter's steps are too long for this"
                                : "too much time is lost here")
                : format("; asks the kernel again after %,.3f ms", accuracy.lifeNanos() / MILLIS);
        String observed = accuracy.observedNanos() == 0
                ? "nothing yet"
                : format(
                        "%,.3f ms lost to the hypervisor or interrupts in %,.0f ms of CPU time",
                        Math.max(0, accuracy.aheadNanos()) / MILLIS, accuracy.observedNanos() / MILLIS);
        return entry("accuracy", format("at most %,d ns ahead on average%s", accuracy.budgetNanos(), life))
                + entry("observed", observed);
    }

    static String contract(ContractResult c, Backend backend) {
        StringBuilder text = new StringBuilder();
        text.append(format("contract of backend %s: %,d readings on %d threads%n", backend, c.readings(), c.threads()));
        if (!c.readingsHold()) text.append(line(false, "readings", format("%,d are -1", c.unknownReadings())));
        text.append(line(
                c.cpuHolds(),
                "cpu",
                format(
                        "differs from %s by %,d ns at p99.99, %,d ns at most, %,.1f ns on average",
                        c.reference(), c.cpuErrorP9999Nanos(), c.cpuErrorMaxNanos(), c.cpuErrorMeanNanos())));
        text.append(line(c.sumsHold(), "sums", format("%,d readings where user + system is not cpu", c.sumErrors())));
        text.append(line(
                c.stepsHold(),
                "steps",
                format("%,d readings that go backward or contradict each other", c.backwardSteps())));
        text.append(split(c));
        text.append(line(
                c.waitsHold(),
                "blocked",
                format(
                        "%,d ns counted during %,.0f ms in %,d waits",
                        c.blockedNanosCounted(), c.waitedNanos() / MILLIS, c.waits())));
        text.append(c.holds() ? format("%nthe contract holds%n") : format("%nthe contract does not hold%n"));
        return text.toString();
    }

    private static String split(ContractResult c) {
        if (c.splitErrorMaxNanos() == null) return line("not checked", "split", "requires the native library");
        String error = format("differs from getrusage by at most %.3f ms", c.splitErrorMaxNanos() / MILLIS);
        if (c.splitBoundNanos() == null) return line("no bound", "split", error);
        return line(c.splitHolds(), "split", format("%s; limit: %.3f ms", error, c.splitBoundNanos() / MILLIS));
    }

    private static String line(boolean holds, String name, String finding) {
        return line(holds ? "holds" : "BROKEN", name, finding);
    }

    private static String line(String verdict, String name, String finding) {
        return format("%-14s%-14s%s%n", name, verdict, finding);
    }

    /** Formats independently of the default locale. */
    private static String format(String pattern, Object... values) {
        return String.format(Locale.ROOT, pattern, values);
    }
}
