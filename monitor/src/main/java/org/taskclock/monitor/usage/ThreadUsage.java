// SPDX-License-Identifier: Apache-2.0
// Copyright the TaskClock authors
package org.taskclock.monitor.usage;

import org.taskclock.metrics.ThreadKind;

/**
 * The CPU use of one thread, or of a group of virtual threads, in one interval. Times and event counts are those of the
 * interval; -1 means unknown.
 *
 * @param tid the kernel's thread id in the JVM's pid namespace; 0 for a group
 * @param javaId the Java thread id; 0 if unknown or not a Java thread
 * @param name the Java name; the kernel's name of at most 15 characters if {@code truncated}
 * @param pool the name with each number replaced with #
 * @param threads the number of threads in a group; otherwise 1
 * @param cpuNanos user + system
 * @param userNanos the part of {@code cpuNanos} spent in user mode
 * @param waitNanos time spent runnable without a processor
 * @param voluntary context switches because the thread blocked
 * @param involuntary context switches because the thread was preempted or yielded
 * @param state as in /proc, such as R for running or S for sleeping
 * @param totalNanos CPU time since the thread started; for a group, since the agent counts it
 * @param watchedNanos the part of {@code totalNanos} since watching began
 * @param java what the JVM reports about the thread
 */
public record ThreadUsage(
        int pid,
        int tid,
        long javaId,
        String name,
        boolean truncated,
        ThreadKind kind,
        String pool,
        int threads,
        long cpuNanos,
        long userNanos,
        long waitNanos,
        long voluntary,
        long involuntary,
        char state,
        long totalNanos,
        long watchedNanos,
        JavaStatus java) {
    /** Creates the usage of a thread whose CPU time outside the interval and Java status are unknown. */
    public ThreadUsage(
            int pid,
            int tid,
            long javaId,
            String name,
            boolean truncated,
            ThreadKind kind,
            String pool,
            int threads,
            long cpuNanos,
            long userNanos,
            long waitNanos,
            long voluntary,
            long involuntary,
            char state) {
        this(
                pid,
                tid,
                javaId,
                name,
                truncated,
                kind,
                pool,
                threads,
                cpuNanos,
                userNanos,
                waitNanos,
                voluntary,
                involuntary,
                state,
                -1,
                -1);
    }

    /** Creates the usage of a thread whose Java status is unknown. */
    public ThreadUsage(
            int pid,
            int tid,
            long javaId,
            String name,
            boolean truncated,
            ThreadKind kind,
            String pool,
            int threads,
            long cpuNanos,
            long userNanos,
            long waitNanos,
            long voluntary,
            long involuntary,
            char state,
            long totalNanos,
            long watchedNanos) {
        this(
                pid,
                tid,
                javaId,
                name,
                truncated,
                kind,
                pool,
                threads,
                cpuNanos,
                userNanos,
                waitNanos,
                voluntary,
                involuntary,
                state,
                totalNanos,
                watchedNanos,
                JavaStatus.UNKNOWN);
    }

    /** Returns the kind's label; "-" if it is unknown, because only the kernel's name is known and is not HotSpot's. */
    public String kindLabel() {
        return truncated && kind == ThreadKind.JAVA ? "-" : kind.label();
    }

    /** Returns the same usage with this Java status. */
    public ThreadUsage withJava(JavaStatus status) {
        return new ThreadUsage(
                pid,
                tid,
                javaId,
                name,
                truncated,
                kind,
                pool,
                threads,
                cpuNanos,
                userNanos,
                waitNanos,
                voluntary,
                involuntary,
                state,
                totalNanos,
                watchedNanos,
                status);
    }

    public long systemNanos() {
        return cpuNanos < 0 || userNanos < 0 ? -1 : cpuNanos - userNanos;
    }
}
