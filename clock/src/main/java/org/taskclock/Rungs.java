// SPDX-License-Identifier: Apache-2.0
// Copyright the TaskClock authors
package org.taskclock;

import java.util.ArrayList;
import java.util.EnumMap;
import java.util.List;
import java.util.Map;

/** Chooses the rung, once, and remembers why. */
final class Rungs {
    static final String PROPERTY = "taskclock.rung";

    /** By the numbers of taskclock.h; the first says that nothing is wrong. */
    private static final List<String> REFUSALS = List.of(
            "",
            "the time-stamp counter is not steady here: /sys/devices/system/clocksource does not offer tsc",
            "the C library has registered no restartable-sequences area: it is not glibc 2.35 or later, or was told not to",
            "the C library has registered its own area: start the JVM with GLIBC_TUNABLES=glibc.pthread.rseq=0",
            "the kernel has no restartable-sequences area of this thread, and takes none",
            "it cannot be tried, as sched_setaffinity is not permitted",
            "the kernel keeps the marker of a thread that blocks: 6.19 keeps both kinds, 7.0 and later that of rseq, those before"
                    + " 6.3 that of rseq-own",
            "there is no memory for it");

    /** What was found out, in order; a rung below the chosen one is not tried, but for the last two. */
    private static final Map<Rung, String> TRIED = new EnumMap<>(Rung.class);

    static final Rung CHOSEN = choose(System.getProperty(PROPERTY));

    private Rungs() {}

    private static Rung choose(String forced) {
        if (forced == null) {
            for (Rung rung : Rung.values()) if (rung == Rung.MXBEAN || refusal(rung) == null) return rung;
        }
        Rung rung = named(forced);
        String refusal = refusal(rung);
        if (refusal == null) return rung;
        throw new IllegalStateException("-D" + PROPERTY + "=" + forced + ": the rung cannot be used here: " + refusal
                + "; leave the property away" + " and the best usable rung is taken");
    }

    private static Rung named(String name) {
        for (Rung rung : Rung.values()) if (rung.toString().equals(name)) return rung;
        throw new IllegalArgumentException(
                "-D" + PROPERTY + "=" + name + ": no such rung; there are " + List.of(Rung.values()));
    }

    /** Tries a rung, and changes to it where it is usable. */
    private static String refusal(Rung rung) {
        if (rung == Rung.MXBEAN) return MxbeanClock.refusal();
        String refusal = libraryRefusal();
        if (refusal == null) {
            int code = Library.selectRung(rung.number);
            refusal = code == 0 ? null : REFUSALS.get(code);
        }
        TRIED.put(rung, refusal == null ? "" : refusal);
        return refusal;
    }

    private static String libraryRefusal() {
        if (!Library.isLoaded()) return Library.failure();
        int errno = Library.probeErrno();
        return errno == 0 ? null : "the kernel refuses clock_gettime or getrusage with errno " + errno + " (seccomp?)";
    }

    static ClockStatus status() {
        List<ClockStatus.Verdict> verdicts = new ArrayList<>();
        for (Rung rung : Rung.values()) verdicts.add(verdict(rung));
        boolean loaded = Library.isLoaded();
        String glibc = loaded ? Library.libc() : null;
        return new ClockStatus(
                CHOSEN,
                List.copyOf(verdicts),
                loaded ? Native.binding() : "none",
                Library.tickNanos(),
                !loaded
                        ? ClockStatus.Accounting.UNKNOWN
                        : Library.isPrecise() ? ClockStatus.Accounting.PRECISE : ClockStatus.Accounting.TICK,
                Library.state(),
                glibc != null ? "glibc " + glibc : loaded ? "not glibc" : "unknown",
                calibration());
    }

    private static ClockStatus.Calibration calibration() {
        if (CHOSEN != Rung.RSEQ && CHOSEN != Rung.RSEQ_OWN) return null;
        long[] facts = new long[3];
        Library.calibration(facts);
        return new ClockStatus.Calibration(facts[0], facts[1], facts[2]);
    }

    private static ClockStatus.Verdict verdict(Rung rung) {
        String refusal;
        if (rung == Rung.MXBEAN) refusal = MxbeanClock.refusal();
        else if (rung == Rung.SYSCALL) refusal = libraryRefusal();
        else if (TRIED.containsKey(rung)) refusal = TRIED.get(rung).isEmpty() ? null : TRIED.get(rung);
        else refusal = Library.isLoaded() ? "not tried, as " + CHOSEN + " is in use" : Library.failure();
        return new ClockStatus.Verdict(rung, refusal == null, refusal == null ? praise(rung) : refusal);
    }

    private static String praise(Rung rung) {
        if (rung == Rung.MXBEAN) return "ThreadMXBean of this JVM";
        String others =
                Library.knowsJavaThreads() ? "" : "; other threads by ThreadMXBean, as libjvm's tables are not visible";
        String how =
                switch (rung) {
                    case RSEQ -> "time-stamp counter, and a marker in the C library's area";
                    case RSEQ_OWN -> "time-stamp counter, and a marker in an area of our own";
                    default -> "one clock_gettime, id 0";
                };
        return how + ", by " + Native.binding() + others;
    }
}
