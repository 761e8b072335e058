// SPDX-License-Identifier: Apache-2.0
// Copyright the TaskClock authors
package org.taskclock.monitor.usage;

import org.taskclock.PoolName;
import org.taskclock.metrics.Counters;
import org.taskclock.metrics.PoolKey;
import org.taskclock.metrics.ThreadKind;

/**
 * The CPU use of one thread, or of a group of threads, in one interval. Times and event counts are those of the
 * interval; -1 means unknown. {@link #of} and {@link #change} create it.
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
 * @param state as in /proc, such as R for running or S for sleeping; - if unknown
 * @param totalNanos CPU time since the thread started; for a group, since the agent counts it
 * @param watchedNanos the part of {@code totalNanos} since watching began
 * @param java what the JVM reports about the thread
 * @param sections the closed sections of a named account
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
        JavaStatus java,
        SectionUsage sections) {
    /** The columns of a usage. What is not set is unknown. */
    public static final class Builder {
        private final int pid;
        private final int tid;
        private final String name;
        private final ThreadKind kind;
        private long javaId;
        private boolean truncated;
        private String pool;
        private int threads = 1;
        private long cpuNanos = -1;
        private long userNanos = -1;
        private long waitNanos = -1;
        private long voluntary = -1;
        private long involuntary = -1;
        private char state = '-';
        private long totalNanos = -1;
        private long watchedNanos = -1;
        private JavaStatus java = JavaStatus.UNKNOWN;
        private SectionUsage sections = SectionUsage.UNKNOWN;

        private Builder(int pid, int tid, String name, ThreadKind kind, String pool) {
            this.pid = pid;
            this.tid = tid;
            this.name = name;
            this.kind = kind;
            this.pool = pool;
        }

        public Builder javaId(long id) {
            javaId = id;
            return this;
        }

        public Builder truncated(boolean isTruncated) {
            truncated = isTruncated;
            return this;
        }

        public Builder pool(String poolName) {
            pool = poolName;
            return this;
        }

        public Builder threads(int count) {
            threads = count;
            return this;
        }

        public Builder cpu(long cpu, long user) {
            cpuNanos = cpu;
            userNanos = user;
            return this;
        }

        public Builder waited(long nanos) {
            waitNanos = nanos;
            return this;
        }

        public Builder switches(long voluntarySwitches, long involuntarySwitches) {
            voluntary = voluntarySwitches;
            involuntary = involuntarySwitches;
            return this;
        }

        public Builder counters(Counters used) {
            return cpu(used.cpuNanos, used.userNanos).waited(used.waitNanos).switches(used.voluntary, used.involuntary);
        }

        public Builder state(char procState) {
            state = procState;
            return this;
        }

        public Builder total(long total, long watched) {
            totalNanos = total;
            watchedNanos = watched;
            return this;
        }

        public Builder java(JavaStatus status) {
            java = status;
            return this;
        }

        public Builder sections(SectionUsage closed) {
            sections = closed;
            return this;
        }

        public ThreadUsage build() {
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
                    java,
                    sections);
        }
    }

    /** Starts the usage of a thread. */
    public static Builder of(int pid, int tid, String name, ThreadKind kind) {
        return new Builder(pid, tid, name, kind, PoolName.of(name));
    }

    /** Starts the usage of a group of threads. */
    public static Builder ofGroup(int pid, PoolKey pool, int threads) {
        return new Builder(pid, 0, pool.pool(), pool.kind(), pool.pool()).threads(threads);
    }

    /** Starts a usage that differs from this one in some columns. */
    public Builder change() {
        return rename(name, pool);
    }

    /** Starts a usage that differs from this one in its names. */
    public Builder rename(String otherName, String otherPool) {
        return new Builder(pid, tid, otherName, kind, otherPool)
                .javaId(javaId)
                .truncated(truncated)
                .threads(threads)
                .cpu(cpuNanos, userNanos)
                .waited(waitNanos)
                .switches(voluntary, involuntary)
                .state(state)
                .total(totalNanos, watchedNanos)
                .java(java)
                .sections(sections);
    }

    /** Adds what was used in an earlier interval. Everything else stays, such as the number of threads. */
    public ThreadUsage plus(ThreadUsage earlier) {
        return change().cpu(Counters.sum(earlier.cpuNanos, cpuNanos), Counters.sum(earlier.userNanos, userNanos))
                .waited(Counters.sum(earlier.waitNanos, waitNanos))
                .switches(Counters.sum(earlier.voluntary, voluntary), Counters.sum(earlier.involuntary, involuntary))
                .sections(sections.plus(earlier.sections))
                .build();
    }

    /** Returns the kind's label; "-" if it is unknown, because only the kernel's name is known and is not HotSpot's. */
    public String kindLabel() {
        return truncated && kind == ThreadKind.JAVA ? "-" : kind.label();
    }

    /** Identifies the thread or the group in the intervals of all JVMs. */
    public String key() {
        return pid + "/" + tid + "/" + (tid == 0 ? kind + name : "");
    }

    public long systemNanos() {
        return cpuNanos < 0 || userNanos < 0 ? -1 : cpuNanos - userNanos;
    }
}
