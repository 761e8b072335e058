// SPDX-License-Identifier: Apache-2.0
// Copyright the TaskClock authors
package org.taskclock;

/** The PROBE_ numbers of shared.h: 0 if a backend is usable, otherwise the reason why not. */
final class ProbeResult {
    private static final int NO_CHILD = 6;
    private static final int OUT_OF_MEMORY = 14;
    static final int SWITCHED_OFF = 16;

    private ProbeResult() {}

    /** Returns whether a later test may have another result. */
    static boolean isTemporary(int code) {
        return code == NO_CHILD || code == OUT_OF_MEMORY || code == SWITCHED_OFF;
    }

    /** Returns the reason why a backend cannot be used; null if it can. */
    static String text(int code) {
        return switch (code) {
            case 0 -> null;
            case 1 ->
                "the time-stamp counter is not reliable here: it is neither the current clock source nor listed and"
                        + " invariant";
            case 2 -> "this process may not read the time-stamp counter: prctl(PR_SET_TSC) forbids it";
            case 3 ->
                "the C library has not registered a restartable-sequences area: it is not glibc 2.35 or later, or"
                        + " GLIBC_TUNABLES disables registration";
            case 4 ->
                "the C library has registered its own area: start the JVM with GLIBC_TUNABLES=glibc.pthread.rseq=0";
            case 5 -> "the kernel refuses to register a restartable-sequences area";
            case NO_CHILD ->
                "it cannot be tested: cannot start a child process (clone fails: process limit or seccomp?)";
            case 7 -> "it cannot be tested: sched_setaffinity is not permitted";
            case 8 ->
                "the kernel kills a process that uses it, as with rseq_debug: a child process that tested it was"
                        + " killed";
            case 9 ->
                "the kernel keeps the marker of a thread that blocks: 6.19 keeps both kinds, 7.0 and later keep that of"
                        + " rseq, kernels before 6.3 keep that of rseq-own";
            case 10 -> "the kernel keeps the marker of a thread that is preempted";
            case 11 -> "it cannot be tested: no thread was preempted within two seconds";
            case 12 ->
                "the kernel removes the marker at each system call, as with rseq_debug, so it would save nothing";
            case 13 -> "the rate of the time-stamp counter does not settle";
            case OUT_OF_MEMORY -> "out of memory";
            case 15 ->
                "reading the time-stamp counter takes longer than asking the kernel: the hypervisor or the kernel"
                        + " intercepts it";
            case SWITCHED_OFF -> "switched off: the attribute Enabled of the agent's MXBean is false";
            case 17 -> "the kernel does not clear our memory in a forked child: madvise(MADV_WIPEONFORK) fails";
            case 18 -> "other code in this process uses restartable sequences: " + Library.rseqUser();
            case 19 -> "threads of this process use the marker of another backend";
            default -> "the C library's area has an unknown length, so it cannot be taken";
        };
    }
}
