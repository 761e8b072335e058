// SPDX-License-Identifier: Apache-2.0
// Copyright the TaskClock authors
package org.taskclock.agent;

/**
 * A platform thread that has ended. The times are those of its kernel thread, which may have had an earlier Java
 * thread: a native thread can attach to the JVM many times.
 *
 * @param id the Java id
 * @param tid the kernel's id
 * @param cpuNanos the CPU time at the end
 * @param userNanos the user time at the end
 * @param earlierCpuNanos the part of {@code cpuNanos} that earlier Java threads have reported
 * @param earlierUserNanos the same for {@code userNanos}
 * @param tickNanos the kernel's ticks during the thread
 * @param userTickNanos the part of {@code tickNanos} in user mode
 */
record EndedThread(
        String name,
        long id,
        int tid,
        long cpuNanos,
        long userNanos,
        long earlierCpuNanos,
        long earlierUserNanos,
        long tickNanos,
        long userTickNanos) {
    /** Reads the values that ends.c reports. */
    static EndedThread of(String name, long id, long[] values) {
        return new EndedThread(
                name, id, (int) values[0], values[1], values[2], values[3], values[4], values[5], values[6]);
    }
}
