// SPDX-License-Identifier: Apache-2.0
// Copyright the TaskClock authors
package org.taskclock;

/**
 * The id by which Linux names a CPU clock: what {@code clock_gettime(2)} takes for any thread of this process and for any
 * process. Immutable; {@link #encode} and {@link #decode} turn it into the kernel's 32 bits and back.
 *
 * <pre>
 * [31:3]  bitwise NOT of the thread or process id, 0 standing for the caller; or of a file descriptor
 * [2]     1: one thread, 0: the whole process
 * [1:0]   the {@link Kind}
 * </pre>
 *
 * <p>The layout is user ABI: glibc and musl build the same ids in {@code pthread_getcpuclockid}. Source:
 * include/linux/posix-timers.h and kernel/time/posix-cpu-timers.c.
 *
 * @param id thread id, process id or file descriptor; 0 is the calling thread or process
 * @param perThread whether one thread is meant rather than a whole process
 * @param kind what is counted
 */
public record ClockId(int id, boolean perThread, Kind kind) {
    private static final int KIND_BITS = 3;
    private static final int THREAD_BIT = 4;
    private static final int ID_SHIFT = 3;
    /** Ids are 29 bits wide, and the highest must stay clear: an id of a CPU clock is a negative number. */
    private static final int MAX_ID = (1 << 28) - 1;

    /** What a clock counts. */
    public enum Kind {
        /** User and system time, counted a tick at a time where accounting is tick-based (CPUCLOCK_PROF). */
        PROF(0),
        /** User time, counted a tick at a time where accounting is tick-based (CPUCLOCK_VIRT). */
        VIRT(1),
        /** User and system time, precise (CPUCLOCK_SCHED). */
        SCHED(2),
        /** Not CPU time: the clock of a device behind a file descriptor (CLOCKFD). Never per thread. */
        FD(3);

        private final int bits;

        Kind(int bits) {
            this.bits = bits;
        }
    }

    /**
     * Checks that the kernel can express the id.
     *
     * @throws IllegalArgumentException if the id is negative or too large, or a {@link Kind#FD} clock is per thread
     */
    public ClockId {
        if (id < 0 || id > MAX_ID) throw new IllegalArgumentException("id " + id + " is not in 0.." + MAX_ID);
        if (perThread && kind == Kind.FD)
            throw new IllegalArgumentException("a file descriptor's clock is not a thread's");
    }

    /**
     * A clock of one thread of this process. The kernel answers thread ids of other processes with an error.
     *
     * @param tid the kernel's thread id; 0 for the calling thread
     * @param kind what to count
     * @return the id
     * @throws IllegalArgumentException as the constructor
     */
    public static ClockId thread(int tid, Kind kind) {
        return new ClockId(tid, true, kind);
    }

    /**
     * A clock of a process, of all its threads together, also of those that have ended.
     *
     * @param pid the process id; 0 for the calling process
     * @param kind what to count
     * @return the id
     * @throws IllegalArgumentException as the constructor, and for {@link Kind#FD}
     */
    public static ClockId process(int pid, Kind kind) {
        if (kind == Kind.FD) throw new IllegalArgumentException("a file descriptor's clock is not a process's");
        return new ClockId(pid, false, kind);
    }

    /**
     * The clock of a device, as PTP hardware clocks are read.
     *
     * @param fd an open file descriptor
     * @return the id
     * @throws IllegalArgumentException as the constructor
     */
    public static ClockId fd(int fd) {
        return new ClockId(fd, false, Kind.FD);
    }

    /**
     * Returns the kernel's form.
     *
     * @return the 32 bits that {@code clock_gettime} takes
     */
    public int encode() {
        return encode(id, perThread, kind);
    }

    static int encode(int id, boolean perThread, Kind kind) {
        return ~id << ID_SHIFT | (perThread ? THREAD_BIT : 0) | kind.bits;
    }

    /**
     * Tells whether an id is one that this class describes. The others are the static clocks, which are not negative
     * (CLOCK_MONOTONIC is 1), and the per-thread form of {@link Kind#FD}, which the kernel refuses.
     *
     * @param bits any clock id
     * @return whether {@link #decode} accepts it
     */
    public static boolean isCpuClock(int bits) {
        return bits < 0 && (bits & (THREAD_BIT | KIND_BITS)) != (THREAD_BIT | KIND_BITS);
    }

    /**
     * Reads the kernel's form.
     *
     * @param bits a clock id
     * @return the id, equal to the one that was encoded
     * @throws IllegalArgumentException if {@link #isCpuClock} is false
     */
    public static ClockId decode(int bits) {
        if (!isCpuClock(bits)) {
            throw new IllegalArgumentException("clock id " + bits + " is no CPU clock: "
                    + (bits < 0 ? "a file descriptor's clock is not a thread's" : "it is not negative"));
        }
        return new ClockId(~(bits >> ID_SHIFT), (bits & THREAD_BIT) != 0, Kind.values()[bits & KIND_BITS]);
    }

    /**
     * The same clock with other low bits: what turns a thread's own id ({@link Kind#SCHED}) into its user time.
     *
     * @param other what to count instead
     * @return the id
     * @throws IllegalArgumentException as the constructor
     */
    public ClockId withKind(Kind other) {
        return new ClockId(id, perThread, other);
    }

    /**
     * Reads the clock by one system call. From any thread; on a virtual thread, id 0 means its carrier.
     *
     * @return nanoseconds, or -1 if the thread or process is gone, is not ours to read, or no system call can be made
     *     (see {@link TaskClock#status()})
     */
    public long nanos() {
        if (!Library.isLoaded()) return -1;
        // A process's clock visits all its threads, too long to hold off a safepoint.
        return perThread ? Native.clockNanos(encode()) : Native.processNanos(encode());
    }

    /** For people: {@code thread 42 VIRT (0xFFFFFEAD)}. */
    @Override
    public String toString() {
        String whose = kind == Kind.FD ? "fd " + id : (perThread ? "thread " : "process ") + (id == 0 ? "self" : id);
        return whose + " " + kind + String.format(" (0x%08X)", encode());
    }
}
