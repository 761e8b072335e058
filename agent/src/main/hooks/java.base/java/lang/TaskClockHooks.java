// SPDX-License-Identifier: Apache-2.0
// Copyright the TaskClock authors

package java.lang;

import java.util.ArrayList;
import java.util.List;
import java.util.function.BiConsumer;
import java.util.function.BiFunction;
import java.util.function.LongUnaryOperator;
import java.util.function.ObjIntConsumer;
import java.util.function.ObjLongConsumer;
import java.util.function.Supplier;
import jdk.internal.misc.Unsafe;
import jdk.internal.vm.ThreadContainer;
import jdk.internal.vm.ThreadContainers;
import jdk.internal.vm.annotation.ForceInline;

/**
 * What the agent leaves in the JVM: natives of its library, and what they and changed methods of the JDK call. In java.lang,
 * because only a class of the JDK's own loaders may take over natives of the JDK without a warning.
 *
 * <p>What is called here by the JVM runs in the middle of anything: it throws nothing and waits for nobody.
 *
 * <p>The agent has the one instance, and calls by name, as reflection would, which costs its start milliseconds.
 */
public final class TaskClockHooks implements BiFunction<String, Object[], Object> {
    private static final TaskClockHooks INSTANCE = new TaskClockHooks();

    /** What a yield does, by the numbers of agent.c. */
    private static volatile int yieldMode;

    /** User time of a thread by Java's id; null, or {@link Long#MIN_VALUE} from it: the JVM is to answer. */
    private static volatile LongUnaryOperator userOf;
    /** The same for many: ids, and where the times go. */
    private static volatile BiConsumer<long[], long[]> usersOf;
    /** Hears of a platform thread, or carrier, that yields for the first time, and the number of its record. */
    private static volatile ObjIntConsumer<Thread> firstYields;
    /** Hears of a sampled yield: its thread, and for how many it stands. */
    private static volatile ObjLongConsumer<Thread> yields;

    /** The agent's bean; null: none is to be registered with the platform's. */
    private static volatile Object bean;

    /** Runs when the program asks for the platform's MBean server; null: nobody waits for that. */
    private static volatile Runnable serverAsked;

    /** Runs when the first virtual thread is made; null: nobody waits for that. */
    private static volatile Runnable firstMade;
    /** Whether virtual threads are accounted for from their next mount on. */
    private static boolean accounting;
    /** Hears of a virtual thread that ends, and its cpu and user time, on its last carrier. */
    private static volatile BiConsumer<Thread, long[]> ended;

    /** Whether ThreadMXBean is to answer for virtual threads that are accounted for. */
    private static volatile boolean answersVirtual;

    private static final Unsafe UNSAFE = Unsafe.getUnsafe();
    /** Whether all is there that is called at a mount. */
    private static boolean prepared;

    private static final boolean HAS_CARRIERS = Runtime.version().feature() >= 21;

    private TaskClockHooks() {}

    // ---- for the agent

    @Override
    @SuppressWarnings("unchecked")
    public Object apply(String what, Object[] with) {
        switch (what) {
            case "load":
                // It registers its natives here as it is loaded.
                System.load((String) with[0]);
                return null;
            case "loadFor":
                // For a class of another loader; unlike System.load this asks no permission of that class's module.
                Runtime.getRuntime().load0((Class<?>) with[0], (String) with[1]);
                return null;
            case "findClock":
                return findClock();
            case "selectRung":
                return selectRung((int) with[0]);
            case "prepareTimes":
                userOf = (LongUnaryOperator) with[0];
                usersOf = (BiConsumer<long[], long[]>) with[1];
                return prepareTimes();
            case "takeTimes":
                return takeTimes((Class<?>) with[0], (boolean) with[1]);
            case "restoreTimes":
                return restoreTimes((Class<?>) with[0]);
            case "cpuNanos":
                return cpuNanos((Class<?>) with[0]);
            case "userNanos":
                return userNanos((Class<?>) with[0]);
            case "stockCpuNanos":
                return stockCpuNanos((long) with[0]);
            case "stockUserNanos":
                return stockUserNanos((long) with[0]);
            case "prepareYield":
                firstYields = (ObjIntConsumer<Thread>) with[0];
                yields = (ObjLongConsumer<Thread>) with[1];
                return prepareYield();
            case "takeYield":
                return takeYield();
            case "restoreYield":
                return restoreYield();
            case "setYieldMode":
                yieldMode = (int) with[0];
                setYieldMode((int) with[0]);
                return null;
            case "yielders":
                return yielders((long[]) with[0]);
            case "freeYielder":
                return freeYielder((int) with[0]);
            case "awaitFirst":
                firstMade = (Runnable) with[0];
                return awaitFirst(firstMade != null);
            case "prepareAccounts":
                ended = (BiConsumer<Thread, long[]>) with[0];
                return prepareAccounts();
            case "setAccounting":
                accounting = (boolean) with[0];
                return null;
            case "setAnswersVirtual":
                answersVirtual = (boolean) with[0];
                setAnswersVirtual((boolean) with[0]);
                return null;
            case "carriers":
                return carriers((long[]) with[0]);
            case "virtualThreads":
                return virtualThreads();
            case "setBean":
                bean = with[0];
                return null;
            case "setReport":
                return TaskClockReport.set((Supplier<String>) with[0]);
            case "setServerAsked":
                serverAsked = (Runnable) with[0];
                return null;
            default:
                throw new IllegalArgumentException(what);
        }
    }

    /** Finds the clock that is loaded in this process. */
    private static native boolean findClock();

    /** Changes the rung of all clocks in this process, by the numbers of taskclock.h. */
    private static native int selectRung(int rung);

    // The JVM warns of natives that are registered by others than the JDK's classes: it looks who calls the native that
    // does it. So that is this class.

    /** Finds what is to be replaced. Null, or what is missing. */
    private static native String prepareTimes();

    /** Puts the clock behind ThreadMXBean; {@code others}: for the user time of other threads too. Null, or why not. */
    private static native String takeTimes(Class<?> threadImpl, boolean others);

    private static native String restoreTimes(Class<?> threadImpl);

    /** What ThreadMXBean's natives say of the caller, whoever they are. */
    private static native long cpuNanos(Class<?> threadImpl);

    private static native long userNanos(Class<?> threadImpl);

    /** What the JVM itself says of the thread with this id, 0 for the caller. */
    private static native long stockCpuNanos(long id);

    private static native long stockUserNanos(long id);

    private static native String prepareYield();

    /** Puts ours in place of the native behind Thread.yield. Null, or why not. */
    private static native String takeYield();

    private static native String restoreYield();

    private static native void setYieldMode(int mode);

    /** Copies the records of those that yielded, as many as fit; returns how many there are. */
    private static native int yielders(long[] into);

    /** Gives a record free if its thread has ended. */
    private static native boolean freeYielder(int index);

    static native long mountAddress();

    static native long unmountAddress();

    static native long mount(long cpu, long user);

    static native long unmount();

    /** Forgets that the calling thread was a carrier. */
    static native void stopCarrying();

    /** Copies the carriers' records, as many as fit; returns how many there are. */
    private static native int carriers(long[] into);

    /** Whether it can be told when the first virtual thread is made, as none was yet. */
    private static boolean awaitFirst(boolean wanted) {
        try {
            Class<?> type = Class.forName("java.lang.VirtualThread", false, null);
            return UNSAFE.shouldBeInitialized(type) && awaitNatives(type, wanted);
        } catch (ClassNotFoundException e) {
            return false;
        }
    }

    /** Puts ours in place of the native that binds the class's other natives, or takes it out. */
    private static native boolean awaitNatives(Class<?> type, boolean wanted);

    /**
     * Makes ready for what is called at a mount, where nothing may be loaded, linked or waited for: that is all done here,
     * once. Null, or what is missing.
     */
    private static String prepareAccounts() {
        try {
            for (int i = 0; i < 2; i++) {
                TaskClockAccount account = new TaskClockAccount(null);
                account.mount();
                for (int part = 0; part < TaskClockAccount.PARTS; part++) account.part(part);
                account.unmount();
            }
            stopCarrying();
            TaskClockCalls.linkSoon();
            prepared = true;
            return null;
        } catch (LinkageError e) {
            return "java.lang.VirtualThread is not as known: " + e;
        }
    }

    private static Thread[] virtualThreads() {
        List<Thread> found = new ArrayList<>();
        collect(ThreadContainers.root(), found);
        return found.toArray(new Thread[0]);
    }

    private static void collect(ThreadContainer from, List<Thread> found) {
        from.threads().filter(Thread::isVirtual).forEach(found::add);
        from.children().forEach(child -> collect(child, found));
    }

    /** A part of what is known of a virtual thread, by the numbers of org.taskclock.VirtualTimes; -1 if nothing is. */
    public static long virtualTime(Thread thread, int what) {
        if (!prepared || thread.getClass() != VirtualThread.class) return -1;
        UNSAFE.loadFence(); // parts are asked for in an order
        Object account = UNSAFE.getReference(thread, TaskClockAccount.PLACE);
        return account instanceof TaskClockAccount ? ((TaskClockAccount) account).part(what) : -1;
    }

    private static native void setAnswersVirtual(boolean wanted);

    // ---- called from ThreadImpl

    /** Whether the thread's CPU time cannot be told, as ThreadMXBean has it of virtual threads. */
    public static boolean isUnknown(Thread thread) {
        if (!thread.isVirtual()) return false;
        if (!answersVirtual || !prepared || thread.getClass() != VirtualThread.class) return true;
        Object there = UNSAFE.getReference(thread, TaskClockAccount.PLACE);
        return !(there instanceof TaskClockAccount) || !((TaskClockAccount) there).isMounted();
    }

    // ---- called from VirtualThread

    /** The thread is mounted and goes on after this. */
    @ForceInline
    static void mounted(Thread thread) {
        if (!accounting) return;
        try {
            Object there = UNSAFE.getReference(thread, TaskClockAccount.PLACE);
            if (there instanceof TaskClockAccount) {
                ((TaskClockAccount) there).mount();
            } else {
                TaskClockAccount account = new TaskClockAccount((Runnable) there);
                UNSAFE.putReferenceRelease(thread, TaskClockAccount.PLACE, account);
                account.mount();
            }
        } catch (Throwable e) {
            // No memory: it is accounted for from a later mount on.
        }
    }

    /** The thread has stopped and is about to be unmounted. */
    @ForceInline
    static void unmounted(Thread thread) {
        if (!prepared) return; // only yields are counted
        Object there = UNSAFE.getReference(thread, TaskClockAccount.PLACE);
        if (there instanceof TaskClockAccount) ((TaskClockAccount) there).unmount();
    }

    /** The thread has run for the last time; its carrier calls. */
    static void ended(Thread thread) {
        if (!prepared) return;
        try {
            Object there = UNSAFE.getReference(thread, TaskClockAccount.PLACE);
            BiConsumer<Thread, long[]> to = ended;
            if (to == null || !(there instanceof TaskClockAccount)) return;
            TaskClockAccount account = (TaskClockAccount) there;
            to.accept(thread, new long[] {account.cpuNanos(), account.userNanos()});
        } catch (Throwable e) {
            // A total without this thread is better than a program that fails.
        }
    }

    /** Whether a virtual thread's yield is to do nothing. Counts it, if that is wanted. */
    static boolean skipYield() {
        int mode = yieldMode;
        if (mode == 0) return false;
        if (mode == 2) return true;
        countVirtualYield();
        return false;
    }

    private static native void countVirtualYield();

    // ---- called from TaskClockBeans

    /** What is to be registered as the agent's bean; null if nothing is. */
    public static Object bean() {
        return bean;
    }

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

    private static void firstMade() {
        try {
            Runnable to = firstMade;
            if (to != null) to.run();
        } catch (Throwable e) {
            // Virtual threads without an account are better than none.
        }
    }

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
