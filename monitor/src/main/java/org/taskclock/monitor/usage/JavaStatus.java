// SPDX-License-Identifier: Apache-2.0
// Copyright the TaskClock authors
package org.taskclock.monitor.usage;

import java.util.List;
import org.taskclock.metrics.Counters;

/**
 * What the JVM reports about a thread: its Java state, the object it waits for, and its allocation. This comes from a
 * thread dump, so it describes a moment of the interval.
 *
 * @param state null if unknown, and for threads of the JVM
 * @param lockClass the class of the object that the thread waits for; empty if none
 * @param lockId the address of that object, such as {@code 0x00000007117f6b38}. The garbage collector may change it.
 * @param contended whether the thread waits to acquire a lock, and not for a notification, a condition, or a task
 * @param ownerTid the kernel's thread id of the thread that holds the lock; 0 if unknown
 * @param owner the name of that thread; empty if unknown
 * @param blockedNanos how long the thread waited to acquire locks in the interval, estimated from the last dumps; -1 if
 *     unknown
 * @param waitedNanos how long the thread waited or slept for any other reason, estimated in the same way
 * @param allocatedBytes bytes allocated in the interval; -1 if unknown. The JVM rounds totals, so this is an average
 *     over the time in which the rounded total changed.
 */
public record JavaStatus(
        Thread.State state,
        String lockClass,
        String lockId,
        boolean contended,
        int ownerTid,
        String owner,
        long blockedNanos,
        long waitedNanos,
        long allocatedBytes) {
    public static final JavaStatus UNKNOWN = new JavaStatus(null, "", "", false, 0, "", -1, -1, -1);

    /** Returns the state as {@link Thread.State} spells it; empty if unknown. */
    public String stateName() {
        return state == null ? "" : state.name();
    }

    /** Returns the state in at most eight characters; "-" if it is unknown. */
    public String label() {
        if (state == null) return "-";
        return state == Thread.State.TIMED_WAITING ? "TIMED" : stateName();
    }

    /** Returns the owner of the lock that the thread waits for, or the lock's class; "-" if there is none. */
    public String blockedBy() {
        if (!contended) return "-";
        return owner.isEmpty() ? "(" + simpleName(lockClass) + ")" : owner;
    }

    private static String simpleName(String className) {
        String name = className.endsWith(".class")
                ? className.substring(0, className.length() - ".class".length())
                : className;
        // The class of the object on which threads park for a ReentrantLock is ReentrantLock$NonfairSync.
        return className.substring(name.lastIndexOf('.') + 1).replaceFirst("\\$(Nonf|F)airSync$", "");
    }

    /** Returns the status of a pool: the allocation of all its threads, and one lock that some of them wait for. */
    public static JavaStatus ofPool(List<JavaStatus> members) {
        JavaStatus blocked = UNKNOWN;
        long blockedNanos = -1;
        long waitedNanos = -1;
        long allocatedBytes = -1;
        for (JavaStatus member : members) {
            if (member.contended && !blocked.contended) blocked = member;
            blockedNanos = Counters.sum(blockedNanos, member.blockedNanos);
            waitedNanos = Counters.sum(waitedNanos, member.waitedNanos);
            allocatedBytes = Counters.sum(allocatedBytes, member.allocatedBytes);
        }
        return blocked.with(blockedNanos, waitedNanos, allocatedBytes);
    }

    /** Returns the same status with another name of the owner. */
    public JavaStatus ownedBy(String name) {
        return new JavaStatus(
                state, lockClass, lockId, contended, ownerTid, name, blockedNanos, waitedNanos, allocatedBytes);
    }

    /** Returns the same state with other amounts. */
    public JavaStatus with(long blocked, long waited, long allocated) {
        return new JavaStatus(state, lockClass, lockId, contended, ownerTid, owner, blocked, waited, allocated);
    }
}
