// SPDX-License-Identifier: Apache-2.0
// Copyright the TaskClock authors
package org.taskclock;

/**
 * The id of a Linux clock that {@code clock_gettime(2)} accepts: the CPU clock of a thread of this process or of any
 * process, or the clock of a device. {@link #encode} and {@link #decode} convert it to the kernel's 32 bits and back.
 *
 * <pre>
 * [31:3]  bitwise NOT of the thread or process id (0: the caller) or of a file descriptor
 * [2]     1: one thread; 0: the whole process
 * [1:0]   the {@link Kind}
 * </pre>
 *
 * <p>The layout is user ABI: glibc and musl build the same ids in {@code pthread_getcpuclockid}. Sources:
 * include/linux/posix-timers.h and kernel/time/posix-cpu-timers.c.
 *
 * @param id thread id, process id, or file descriptor; 0 is the calling thread or process
 * @param perThread true for one thread, false for a whole process
 * @param kind what the clock counts
 */
public record ClockId(int id, boolean perThread, Kind kind) {
    private static final int KIND_BITS = 3;
    private static final int THREAD_BIT = 4;
    private static final int ID_SHIFT = 3;
    /** Ids are 29 bits wide, and the highest bit must stay clear because CPU clock ids are negative numbers. */
    private static final int MAX_ID = (1 << 28) - 1;

    /** The kind of time that a clock counts. */
    public enum Kind {
        /** User and system time, in whole ticks if accounting is tick-based (CPUCLOCK_PROF). */
        PROF(0),
        /** User time, in whole ticks if accounting is tick-based (CPUCLOCK_VIRT). */
        VIRT(1),
        /** User and system time, precise (CPUCLOCK_SCHED). */
        SCHED(2),
        /** Not CPU time: the clock of a device, given by a file descriptor (CLOCKFD). Never per thread. */
        FD(3);

        private final int bits;

        Kind(int bits) {
            this.bits = bits;
        }
    }

    /**
     * Checks that the kernel can represent the id.
     *
     * @throws IllegalArgumentException if the id is negative or too large, or a {@link Kind#FD} clock is per thread
     */
    public ClockId {
        if (id < 0 || id > MAX_ID) throw new IllegalArgumentException("id " + id + " is not in 0.." + MAX_ID);
        if (perThread && kind == Kind.FD)
            throw new IllegalArgumentException("a file descriptor clock cannot be per thread");
    }

    /**
     * Returns the id of a CPU clock of a thread of this process. The kernel rejects thread ids of other processes.
     *
     * @param tid the kernel's thread id; 0 for the calling thread
     * @param kind what to count
     * @return the id
     * @throws IllegalArgumentException as for the constructor
     */
    public static ClockId thread(int tid, Kind kind) {
        return new ClockId(tid, true, kind);
    }

    /**
     * Returns the id of a CPU clock of a process. It counts all threads, including those that have ended.
     *
     * @param pid the process id; 0 for the calling process
     * @param kind what to count
     * @return the id
     * @throws IllegalArgumentException as for the constructor, and for {@link Kind#FD}
     */
    public static ClockId process(int pid, Kind kind) {
        if (kind == Kind.FD) throw new IllegalArgumentException("a file descriptor clock cannot be per process");
        return new ClockId(pid, false, kind);
    }

    /**
     * Returns the id of a device's clock, such as a PTP hardware clock.
     *
     * @param fd an open file descriptor
     * @return the id
     * @throws IllegalArgumentException as for the constructor
     */
    public static ClockId fd(int fd) {
        return new ClockId(fd, false, Kind.FD);
    }

    /**
     * Returns the kernel's form of the id.
     *
     * @return the 32 bits that {@code clock_gettime} accepts
     */
    public int encode() {
        return encode(id, perThread, kind);
    }

    static int encode(int id, boolean perThread, Kind kind) {
        return ~id << ID_SHIFT | (perThread ? THREAD_BIT : 0) | kind.bits;
    }

    /**
     * Returns whether {@link #decode} accepts an id. It rejects the static clocks, whose ids are not negative
     * (CLOCK_MONOTONIC is 1), and the per-thread form of {@link Kind#FD}, which the kernel rejects, too.
     *
     * @param bits any clock id
     * @return true if the id can be decoded
     */
    public static boolean canDecode(int bits) {
        return bits < 0 && (bits & (THREAD_BIT | KIND_BITS)) != (THREAD_BIT | KIND_BITS);
    }

    /**
     * Parses the kernel's form of an id.
     *
     * @param bits a clock id
     * @return the id, equal to the one that was encoded
     * @throws IllegalArgumentException if {@link #canDecode} returns false
     */
    public static ClockId decode(int bits) {
        if (!canDecode(bits)) {
            throw new IllegalArgumentException("cannot decode clock id " + bits + ": "
                    + (bits < 0 ? "a file descriptor clock cannot be per thread" : "it is not negative"));
        }
        return new ClockId(~(bits >> ID_SHIFT), (bits & THREAD_BIT) != 0, Kind.values()[bits & KIND_BITS]);
    }

    /**
     * Returns the id of another clock of the same thread or process, for example to read a thread's user time in
     * addition to its total.
     *
     * @param other what to count instead
     * @return the id
     * @throws IllegalArgumentException as for the constructor
     */
    public ClockId withKind(Kind other) {
        return new ClockId(id, perThread, other);
    }

    /**
     * Reads the clock with one system call. Any thread may call this. On a virtual thread, id 0 means its carrier.
     *
     * @return CPU time in nanoseconds since the thread or process started, or the time of the device for
     *     {@link Kind#FD}; -1 if the clock does not exist, if it may not be read, or if the native library is not in
     *     use (see {@link TaskClock#status()})
     */
    public long nanos() {
        if (!Library.isAvailable()) return -1;
        // A process clock visits all threads, which takes too long to delay a safepoint.
        return perThread ? Native.clockNanos(encode()) : Native.processNanos(encode());
    }

    /** Returns a readable form, such as {@code thread 42 VIRT (0xFFFFFEAD)}. */
    @Override
    public String toString() {
        String owner = kind == Kind.FD ? "fd " + id : (perThread ? "thread " : "process ") + (id == 0 ? "self" : id);
        return owner + " " + kind + String.format(" (0x%08X)", encode());
    }
}
