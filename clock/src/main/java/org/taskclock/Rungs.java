// SPDX-License-Identifier: Apache-2.0
// Copyright the TaskClock authors
package org.taskclock;

import java.util.ArrayList;
import java.util.List;

/** Chooses the rung, once, and remembers why. */
final class Rungs {
    static final String PROPERTY = "taskclock.rung";

    static final Rung CHOSEN = choose(System.getProperty(PROPERTY));

    private Rungs() {}

    private static Rung choose(String forced) {
        if (forced == null) return syscallRefusal() == null ? Rung.SYSCALL : Rung.MXBEAN;
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

    private static String refusal(Rung rung) {
        return rung == Rung.SYSCALL ? syscallRefusal() : MxbeanClock.refusal();
    }

    private static String syscallRefusal() {
        if (!Library.isLoaded()) return Library.failure();
        int errno = Library.probeErrno();
        return errno == 0 ? null : "the kernel refuses clock_gettime or getrusage with errno " + errno + " (seccomp?)";
    }

    static ClockStatus status() {
        List<ClockStatus.Verdict> verdicts = new ArrayList<>();
        for (Rung rung : Rung.values()) {
            String refusal = refusal(rung);
            verdicts.add(new ClockStatus.Verdict(rung, refusal == null, refusal == null ? praise(rung) : refusal));
        }
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
                glibc != null ? "glibc " + glibc : loaded ? "not glibc" : "unknown");
    }

    private static String praise(Rung rung) {
        if (rung == Rung.MXBEAN) return "ThreadMXBean of this JVM";
        String others =
                Library.knowsJavaThreads() ? "" : "; other threads by ThreadMXBean, as libjvm's tables are not visible";
        return "one clock_gettime, id 0, by " + Native.binding() + others;
    }
}
