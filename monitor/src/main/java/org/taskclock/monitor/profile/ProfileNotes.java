// SPDX-License-Identifier: Apache-2.0
// Copyright the TaskClock authors
package org.taskclock.monitor.profile;

import java.util.ArrayList;
import java.util.List;
import org.taskclock.monitor.usage.ThreadUsage;

/** The limitations of a profile that follow from what was selected and sampled. */
final class ProfileNotes {
    private ProfileNotes() {}

    static List<String> of(
            ProfileSelection selection, StackSource source, MeasuredStacks measured, List<ThreadUsage> threads) {
        List<String> notes = new ArrayList<>();
        boolean samplesAll = source.samplesJvmThreads();
        if (selection.hasCarriers() || measured.hasVirtual())
            notes.add("virtual threads are sampled on their carriers, whose CPU time includes theirs"
                    + (samplesAll ? "" : "; this source does not say which carrier ran a virtual thread"));
        long cpu = measured.cpuNanos();
        long jvmThreads = threads.stream()
                .filter(selection::includes)
                .filter(thread -> thread.tid() != 0 && !ProfileSelection.isJava(thread))
                .mapToLong(ThreadUsage::cpuNanos)
                .sum();
        long jvmPercent = percent(jvmThreads, cpu);
        if (!samplesAll && jvmPercent > 0)
            notes.add("threads that are not Java threads, such as those of the garbage collector and the compilers,"
                    + " used " + jvmPercent + " % of the CPU time and are not sampled");
        long systemPercent = percent(cpu - measured.userNanos(), cpu);
        if (!measured.seesKernel() && systemPercent > 0)
            notes.add("no sample was taken in the kernel: system time, " + systemPercent
                    + " % of the CPU time, counts for the methods that made the system calls");
        long endedPercent = percent(measured.endedNanos(), cpu);
        if (!selection.isAll() && endedPercent > 0)
            notes.add("threads that have ended used " + endedPercent
                    + " % of the CPU time, estimated from their samples");
        return notes;
    }

    private static long percent(long nanos, long all) {
        return all <= 0 ? 0 : Math.round(100.0 * nanos / all);
    }
}
