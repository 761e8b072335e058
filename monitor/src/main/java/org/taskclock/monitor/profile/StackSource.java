// SPDX-License-Identifier: Apache-2.0
// Copyright the TaskClock authors
package org.taskclock.monitor.profile;

import java.io.IOException;
import java.util.List;

/** A sampler of stacks in another JVM. */
interface StackSource {
    /**
     * Equal stacks of one thread.
     *
     * @param tid the kernel's thread id in the JVM's pid namespace; 0 if unknown
     * @param javaId the Java thread id; 0 if unknown
     * @param frames outermost first, with the suffixes described in {@link Profile.Stack}; empty if the stack could not
     *     be read
     * @param samples how often the stack was sampled
     * @param cpuNanos the CPU time that these samples stand for
     */
    record Sample(String thread, int tid, long javaId, List<String> frames, long samples, long cpuNanos) {
        /** VirtualThread.run is called by a few methods of Continuation. */
        private static final int OUTER_FRAMES = 8;

        /** Returns whether this is a virtual thread, whose stack was sampled without that of its carrier. */
        boolean isVirtual() {
            return frames.stream().limit(OUTER_FRAMES).anyMatch(frame -> frame.startsWith("java.lang.VirtualThread."));
        }

        /** Returns whether the thread was in the kernel, if the source sees that. */
        boolean isInKernel() {
            return frames.stream().anyMatch(frame -> frame.endsWith(Profile.KERNEL_SUFFIX));
        }
    }

    /** Returns what was sampled and how, such as "JFR (jdk.CPUTimeSample)". Complete after {@link #stop}. */
    String description();

    /** Returns the CPU time between two samples; 0 if it is not constant. Complete after {@link #stop}. */
    long periodNanos();

    /** Returns limitations that a reader of the samples should know. Complete after {@link #stop}. */
    List<String> notes();

    /** Returns whether this source samples the JVM's own threads, not only Java threads. */
    boolean samplesJvmThreads();

    void start() throws IOException;

    /** Stops sampling and returns the samples since {@link #start}. Nothing stays behind in the JVM. */
    List<Sample> stop() throws IOException;

    /** Stops sampling if it is still running and deletes temporary files. Any thread may call this at any time. */
    void abort();
}
