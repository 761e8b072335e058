// SPDX-License-Identifier: Apache-2.0
// Copyright the TaskClock authors
package org.taskclock.lab;

import java.util.HashMap;
import java.util.List;
import java.util.Map;

/**
 * One run of a program by {@code yield}.
 *
 * @param carriers the scheduler's parallelism; 0 for the JDK's default, one per processor
 * @param end null if the run has not ended or was interrupted
 * @param times null if the run has not ended or was interrupted
 */
record YieldRun(
        String jdk,
        Mode mode,
        boolean virtual,
        int threads,
        boolean yielding,
        int carriers,
        List<EvenNumberProgram.Second> seconds,
        EvenNumberProgram.End end,
        ExperimentJvm.Times times) {
    /** The agent or JVM option with which a program runs. */
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

    /** Returns, for example, "one virtual thread, yielding". */
    String description() {
        return (threads == 1 ? "one " : threads + " ")
                + (virtual ? "virtual" : "platform")
                + (threads == 1 ? " thread, " : " threads, ")
                + (yielding ? "yielding" : "not yielding");
    }

    /** Returns how the program is started, to be added to its description; empty for the defaults. */
    String options() {
        return (mode == Mode.PLAIN ? "" : ", " + mode.text) + (carriers == 0 ? "" : ", carriers: " + carriers);
    }

    /** Returns this run when it has ended. */
    YieldRun ended(EvenNumberProgram.End atEnd, ExperimentJvm.Times ofProcess) {
        return new YieldRun(jdk, mode, virtual, threads, yielding, carriers, seconds, atEnd, ofProcess);
    }

    boolean isComplete() {
        return end != null;
    }

    double perSecond() {
        return end.evenNumbers() / end.seconds();
    }

    /** Returns the average number of processors that the whole process kept busy. */
    double cores() {
        return times.cores();
    }

    /** Returns the average number of processors that the sampled threads kept busy. */
    double sampledCores() {
        double seconds = 0;
        long nanos = 0;
        for (EvenNumberProgram.Second second : this.seconds) {
            seconds += second.seconds();
            for (ThreadSampler.Usage usage : second.threads()) nanos += usage.cpuNanos();
        }
        return nanos / 1e9 / seconds;
    }

    double systemPercent() {
        return times.systemPercent();
    }

    // ---- figures of the agent

    /** Returns the CPU time of the virtual threads themselves. */
    long ownNanos() {
        return end.virtual().cpuNanos();
    }

    long carriersNanos() {
        return end.carriers().stream()
                .mapToLong(AgentAccounting.CarrierUsage::cpuNanos)
                .sum();
    }

    long schedulerNanos() {
        return end.carriers().stream()
                .mapToLong(AgentAccounting.CarrierUsage::ownNanos)
                .sum();
    }

    double schedulerPercent() {
        return 100.0 * schedulerNanos() / carriersNanos();
    }

    double blockedPerThousand() {
        Map<Integer, Long> last = new HashMap<>();
        for (EvenNumberProgram.Second second : seconds) {
            for (ThreadSampler.Usage usage : second.threads()) last.merge(usage.tid(), usage.voluntary(), Math::max);
        }
        return 1000.0 * last.values().stream().mapToLong(Long::longValue).sum() / end.evenNumbers();
    }
}
