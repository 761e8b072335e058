// SPDX-License-Identifier: Apache-2.0
// Copyright the TaskClock authors

package java.lang;

import jdk.internal.misc.Unsafe;
import jdk.internal.vm.Continuation;
import jdk.internal.vm.annotation.ForceInline;

/**
 * The CPU time of one virtual thread. The account replaces the Runnable in the thread's field {@code runContinuation},
 * which the scheduler runs, and delegates to it. So the account is found without a table and is garbage-collected with
 * its thread. It takes 40 bytes.
 */
final class TaskClockAccount implements Runnable {
    private static final Unsafe UNSAFE = Unsafe.getUnsafe();
    /** The offset of the field in VirtualThread that refers to the account. */
    static final long FIELD_OFFSET = UNSAFE.objectFieldOffset(VirtualThread.class, "runContinuation");

    // A continuation has stack chunks from its first yield on.
    private static final long CONTINUATION = UNSAFE.objectFieldOffset(VirtualThread.class, "cont");
    private static final long STACK = UNSAFE.objectFieldOffset(Continuation.class, "tail");

    private static final long CARRIER = UNSAFE.objectFieldOffset(TaskClockAccount.class, "carrier");

    /**
     * Where the CPU time of a thread starts if it also ran without being accounted for; as in shared.h of the clock. It
     * is negative then, so it is not taken for the thread's total.
     */
    private static final long PARTIAL_ORIGIN = Long.MIN_VALUE / 2;

    /** Where the CPU time starts while it is uncertain whether the thread runs without being accounted for. */
    private static final long UNCERTAIN_ORIGIN = Long.MIN_VALUE;

    /** The number of values that {@link #value} can return. */
    static final int VALUES = 6;

    /** The thread's continuation, or a TaskClockContext that delegates to it. */
    private Runnable continuation;

    private final TaskClockGroup group;
    // Totals up to the last unmount. The CPU time starts at one of the origins above if the total is unknown.
    private long cpu;
    private long user;
    /**
     * The index of the carrier's record while the thread is mounted, negated while it is not; 0 before the first mount.
     */
    private int carrier;

    TaskClockAccount(Runnable continuation, TaskClockGroup group) {
        this.continuation = continuation;
        this.group = group;
    }

    /** Returns whether a virtual thread has run before. Called before it continues. */
    static boolean hasRun(Thread thread) {
        return UNSAFE.getReference(UNSAFE.getReference(thread, CONTINUATION), STACK) != null;
    }

    /** Records that the thread has run, or will run, without being accounted for. Called on the carrier. */
    void setPartial() {
        cpu = PARTIAL_ORIGIN | cpuNanos();
    }

    private boolean isUncertain() {
        return cpu < PARTIAL_ORIGIN;
    }

    boolean isPartial() {
        return cpu < 0;
    }

    /**
     * Called by the scheduler on the carrier, before each mount. If another agent has redefined VirtualThread since we
     * did, the mount may not call us. Then only this method notices that the thread runs. A mount need not follow: when
     * the stack of a runnable thread is taken, it is scheduled once more, even if it already runs on another carrier.
     */
    @Override
    public void run() {
        if (isUncertain()) setPartial(); // its last mount did not call us
        if (cpu >= 0 && !TaskClockHooks.isPatched()) cpu |= UNCERTAIN_ORIGIN;
        continuation.run();
    }

    /** Starts counting. Called on the carrier, before the thread continues. */
    @ForceInline
    void mount() throws Throwable {
        if (isUncertain()) cpu = cpuNanos();
        long record = TaskClockCalls.mount(cpu, user);
        if (record == 0) { // no memory for a record: the time until the unmount is not counted
            setPartial();
            return;
        }
        int index = TaskClockCarrier.index(record);
        TaskClockCarrier.of(index, record).mount(index, group);
        if (carrier == 0) group.add(index, TaskClockGroup.STARTED, 1);
        UNSAFE.putIntRelease(this, CARRIER, index);
        if (TaskClockHooks.hasContexts) TaskClockCalls.mountContext(TaskClockContext.record(continuation));
    }

    /** Stops counting. Called on the carrier, after the thread has stopped. */
    @ForceInline
    void unmount() throws Throwable {
        if (TaskClockHooks.hasContexts) TaskClockCalls.mountContext(0);
        int index = carrier;
        if (index <= 0) return; // it was mounted while accounting was off
        cpu = TaskClockCalls.unmount();
        user = TaskClockCarrier.at(index).unmountedUser();
        UNSAFE.putIntRelease(this, CARRIER, -index);
    }

    /** Sets the record that profilers find while the thread is mounted; 0 for none. Called on the thread. */
    void setContext(long record) throws Throwable {
        TaskClockHooks.hasContexts = true;
        continuation = TaskClockContext.replace(continuation, record);
        TaskClockCalls.mountContext(record);
    }

    /**
     * Called if an unmount failed. The carrier may already run another thread, whose time must not be taken for ours.
     */
    void abandonMount() {
        if (carrier <= 0) return;
        setPartial();
        UNSAFE.putIntRelease(this, CARRIER, -carrier);
    }

    /** Counts the thread as ended. Called on its last carrier, after the last unmount. */
    void end() {
        // While accounting is off, a thread may end on a different carrier than the one that last counted it.
        if (carrier < 0) {
            group.add(TaskClockHooks.accounting ? -carrier : TaskClockGroup.SHARED, TaskClockGroup.ENDED, 1);
        }
    }

    boolean isMounted() {
        return carrier > 0;
    }

    /** Returns the CPU time that was accounted for. */
    long cpuNanos() {
        return cpu & ~PARTIAL_ORIGIN;
    }

    long userNanos() {
        return user;
    }

    /**
     * Returns one value for org.taskclock.VirtualThreadClock, which checks that the values are consistent. Thread-safe.
     */
    long value(int number) {
        if (number == 0) {
            long total = cpu;
            return total < 0 ? total | PARTIAL_ORIGIN : total;
        }
        if (number == 1) return user;
        int index = UNSAFE.getIntAcquire(this, CARRIER);
        if (index <= 0) return 0;
        TaskClockCarrier mountedOn = TaskClockCarrier.at(index);
        switch (number) {
            case 2:
                return mountedOn.tid();
            case 3:
                return mountedOn.cpuOffset();
            case 4:
                return mountedOn.userOffset();
            default:
                return mountedOn.sequence();
        }
    }
}
