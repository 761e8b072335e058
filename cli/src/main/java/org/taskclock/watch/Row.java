// SPDX-License-Identifier: Apache-2.0
// Copyright the TaskClock authors
package org.taskclock.watch;

/**
 * What one thread used in one interval, or a group of virtual threads. Numbers of events and times are those of the interval; -1
 * where they cannot be known.
 *
 * @param tid the kernel's id as the JVM itself sees it; 0 for a group
 * @param javaId 0 where it is not known, or there is none
 * @param name Java's name; the kernel's, of 15 characters, where {@code cut}
 * @param pool the name with numbers as #
 * @param threads 1, or how many a group has
 * @param cpuNanos user + system
 * @param userNanos of it
 * @param waitNanos in which it could have run, but had no processor
 * @param voluntary switches to another thread because it waited
 * @param involuntary switches because its time was up, or it yielded
 * @param state as in /proc, R for running, S for sleeping
 */
public record Row(
        int pid,
        int tid,
        long javaId,
        String name,
        boolean cut,
        Kind kind,
        String pool,
        int threads,
        long cpuNanos,
        long userNanos,
        long waitNanos,
        long voluntary,
        long involuntary,
        char state) {
    /** What sort of thread it is. */
    public enum Kind {
        /** A platform thread of the program. */
        JAVA,
        /** One that carries virtual threads. */
        CARRIER,
        /** Virtual threads of one name; their time is in that of the carriers. */
        VIRTUAL,
        /** Of the JVM: garbage collection. */
        GC,
        /** Of the JVM: compilation. */
        JIT,
        /** Another one of the JVM. */
        VM,
        /** Neither Java's nor the JVM's, as far as is known. */
        NATIVE
    }

    public long systemNanos() {
        return cpuNanos < 0 || userNanos < 0 ? -1 : cpuNanos - userNanos;
    }
}
