// SPDX-License-Identifier: Apache-2.0
// Copyright the TaskClock authors
package org.taskclock.lab;

import java.util.HashMap;
import java.util.List;
import java.util.Map;

/**
 * One program of {@code yield}, from start to end.
 *
 * @param carriers the scheduler's parallelism; 0 for what the JDK takes, one for each processor
 * @param end null if it was cut short, as are times
 */
record YieldRun(
        String jdk,
        Mode mode,
        boolean virtual,
        int threads,
        boolean yielding,
        int carriers,
        List<EvenNumbers.Second> seconds,
        EvenNumbers.End end,
        Jvm.Times times) {
    /** What was done to the program. */
    enum Mode {
        PLAIN("nothing"),
        ACCOUNTED("agent, vthreads=on"),
        SILENCED("agent, yield=off"),
        FLAG("-XX:+DontYieldALot");

        final String text;

        Mode(String text) {
            this.text = text;
        }
    }

    /** In words, as "one virtual thread, yielding". */
    String what() {
        return (threads == 1 ? "one " : threads + " ")
                + (virtual ? "virtual" : "platform")
                + (threads == 1 ? " thread, " : " threads, ")
                + (yielding ? "yielding" : "not yielding");
    }

    boolean isComplete() {
        return end != null;
    }

    double perSecond() {
        return end.evenNumbers() / end.seconds();
    }

    /** Processors that the whole process kept busy, in the mean. */
    double cores() {
        return times.cores();
    }

    /** Processors that the watched threads kept busy, in the mean. */
    double watchedShare() {
        double seconds = 0;
        long nanos = 0;
        for (EvenNumbers.Second second : this.seconds) {
            seconds += second.seconds();
            for (Watched.Used used : second.threads()) nanos += used.cpuNanos();
        }
        return nanos / 1e9 / seconds;
    }

    double systemPercent() {
        return times.systemPercent();
    }

    // ---- by the agent

    long carriersNanos() {
        return end.carriers().stream().mapToLong(Accounts.Carrier::cpuNanos).sum();
    }

    long schedulerNanos() {
        return end.carriers().stream().mapToLong(Accounts.Carrier::ownNanos).sum();
    }

    double schedulerPercent() {
        return 100.0 * schedulerNanos() / carriersNanos();
    }

    /** How often its threads blocked, for each 1,000 yields. */
    double blockedPerThousand() {
        Map<Integer, Long> last = new HashMap<>();
        for (EvenNumbers.Second second : seconds) {
            for (Watched.Used used : second.threads()) last.merge(used.tid(), used.voluntary(), Math::max);
        }
        return 1000.0 * last.values().stream().mapToLong(Long::longValue).sum() / end.evenNumbers();
    }
}
