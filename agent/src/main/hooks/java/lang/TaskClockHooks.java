// SPDX-License-Identifier: Apache-2.0
// Copyright the TaskClock authors

package java.lang;

import java.util.function.BiConsumer;
import java.util.function.LongUnaryOperator;
import java.util.function.ObjIntConsumer;
import java.util.function.ObjLongConsumer;

/**
 * What the agent leaves in the JVM: natives of its library, and what they and changed methods of the JDK call. In java.lang,
 * because only a class of the JDK's own loaders may take over natives of the JDK without a warning.
 *
 * <p>What is called here runs in the middle of anything: it throws nothing and waits for nobody.
 */
public final class TaskClockHooks {
    /** What a yield does, by the numbers of agent.c. */
    static volatile int yieldMode;

    /** User time of a thread by Java's id; null, or {@link Long#MIN_VALUE} from it: the JVM is to answer. */
    static volatile LongUnaryOperator userOf;
    /** The same for many: ids, and where the times go. */
    static volatile BiConsumer<long[], long[]> usersOf;
    /** Hears of a platform thread, or carrier, that yields for the first time, and the number of its record. */
    static volatile ObjIntConsumer<Thread> firstYields;
    /** Hears of a sampled yield: its thread, and for how many it stands. */
    static volatile ObjLongConsumer<Thread> yields;

    /** Runs when the program asks for the platform's MBean server; null: nobody waits for that. */
    static volatile Runnable serverAsked;

    private static final boolean HAS_CARRIERS = Runtime.version().feature() >= 21;

    private TaskClockHooks() {}

    /** Loads the agent's library. It registers its natives here as it is loaded. */
    static void load(String path) {
        System.load(path);
    }

    /** Loads a library for a class of another loader. Unlike System.load this asks no permission of that class's module. */
    static void loadFor(Class<?> owner, String path) {
        Runtime.getRuntime().load0(owner, path);
    }

    // ---- for the agent

    /** Finds the clock that is loaded in this process. */
    static native boolean findClock();

    /** Changes the rung of all clocks in this process, by the numbers of taskclock.h. */
    static native int selectRung(int rung);

    /** Finds what is to be replaced. Null, or what is missing. */
    static native String prepareTimes();

    static native String prepareYield();

    // The JVM warns of natives that are registered by others than the JDK's classes: it looks who calls the native that
    // does it. So that is one of these.

    /** Puts the clock behind ThreadMXBean; {@code others}: for the user time of other threads too. Null, or why not. */
    static String takeTimes(Class<?> threadImpl, boolean others) {
        return takeTimes0(threadImpl, others);
    }

    private static native String takeTimes0(Class<?> threadImpl, boolean others);

    static String restoreTimes(Class<?> threadImpl) {
        return restoreTimes0(threadImpl);
    }

    private static native String restoreTimes0(Class<?> threadImpl);

    /** What the JVM itself says of the thread with this id, 0 for the caller. */
    static native long stockCpuNanos(long id);

    static native long stockUserNanos(long id);

    /** Puts ours in place of the native behind Thread.yield. Null, or why not. */
    static String takeYield() {
        return takeYield0();
    }

    private static native String takeYield0();

    static String restoreYield() {
        return restoreYield0();
    }

    private static native String restoreYield0();

    static native void setYieldMode(int mode);

    /** Copies the records of those that yielded, as many as fit; returns how many there are. */
    static native int yielders(long[] into);

    /** Gives a record free if its thread has ended. */
    static native boolean freeYielder(int index);

    // ---- called from VirtualThread

    /** Whether a virtual thread's yield is to do nothing. Counts it, if that is wanted. */
    static boolean skipYield() {
        int mode = yieldMode;
        if (mode == 0) return false;
        if (mode == 2) return true;
        countVirtualYield();
        return false;
    }

    private static native void countVirtualYield();

    // ---- called from ManagementFactory

    /** Called each time the platform's MBean server is asked for. */
    public static void serverAsked() {
        try {
            Runnable waiting = serverAsked;
            if (waiting != null) waiting.run();
        } catch (Throwable e) {
            // The server is what the program asked for; ours is an addition.
        }
    }

    // ---- called from C

    private static long userNanos(long id) {
        try {
            LongUnaryOperator from = userOf;
            return from == null ? Long.MIN_VALUE : from.applyAsLong(id);
        } catch (Throwable e) {
            return Long.MIN_VALUE;
        }
    }

    private static boolean usersNanos(long[] ids, long[] into) {
        try {
            BiConsumer<long[], long[]> from = usersOf;
            if (from == null) return false;
            from.accept(ids, into);
            return true;
        } catch (Throwable e) {
            return false;
        }
    }

    private static void firstYield(int index) {
        try {
            ObjIntConsumer<Thread> to = firstYields;
            if (to != null) to.accept(HAS_CARRIERS ? Thread.currentCarrierThread() : Thread.currentThread(), index);
        } catch (Throwable e) {
            // A count without a name is better than a program that fails.
        }
    }

    private static void yielded(long weight) {
        try {
            ObjLongConsumer<Thread> to = yields;
            if (to != null) to.accept(Thread.currentThread(), weight);
        } catch (Throwable e) {
            // As above.
        }
    }
}
