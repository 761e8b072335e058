// SPDX-License-Identifier: Apache-2.0
// Copyright the TaskClock authors

package java.lang;

import java.lang.reflect.Field;
import java.util.function.BiConsumer;
import java.util.function.BiFunction;
import java.util.function.Function;
import java.util.function.LongUnaryOperator;
import java.util.function.ObjIntConsumer;
import java.util.function.ObjLongConsumer;
import java.util.function.Supplier;
import jdk.internal.misc.Unsafe;
import jdk.internal.vm.annotation.ForceInline;
import jdk.internal.vm.annotation.ReservedStackAccess;

/**
 * What the agent leaves in the JVM: natives of its library, and what they and changed methods of the JDK call. In java.lang,
 * because only a class of the JDK's own loaders may take over natives of the JDK without a warning.
 *
 * <p>What is called here by the JVM runs in the middle of anything: it throws nothing and waits for nobody.
 *
 * <p>The agent has the one instance, and calls by name, as reflection would, which costs its start milliseconds.
 */
public final class TaskClockHooks implements BiFunction<String, Object[], Object> {
    static {
        // The agent, which initializes this class, takes it from there at once.
        System.getProperties().put("taskclock.hooks", new TaskClockHooks());
    }

    /** What a virtual thread's yield does: 0 what it always did, 1 the same and be counted, 2 nothing. */
    private static volatile int virtualYieldMode;

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

    /** Runs when the first virtual thread is made; null: nobody waits for that. */
    private static volatile Runnable firstMade;
    /** Whether virtual threads are accounted for from their next mount on. */
    static boolean accounting;
    /** The group of a virtual thread that is mounted for the first time. */
    private static volatile Function<Thread, Object> groups;
    /** Is called with a virtual thread that ends, and its cpu and user time, on its last carrier; null: nobody wants that. */
    private static volatile BiConsumer<Thread, long[]> ended;

    // What went wrong where nothing may be thrown. Counts of several threads at one instant may be lost.
    private static volatile int failures;
    private static volatile String failedIn;
    private static volatile Class<?> lastFailure;

    /** Whether ThreadMXBean is to answer for virtual threads that are accounted for. */
    private static volatile boolean answersVirtual;

    private static final Unsafe UNSAFE = Unsafe.getUnsafe();
    /** From the field, as getId can be overridden. */
    private static final long THREAD_ID = UNSAFE.objectFieldOffset(Thread.class, "tid");
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
            case "userTimeIsText":
                return userTimeIsText();
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
                setYieldMode((int) with[0]);
                return null;
            case "setVirtualYieldMode":
                virtualYieldMode = (int) with[0];
                return null;
            case "yielders":
                return yielders((long[]) with[0]);
            case "freeYielder":
                return freeYielder((int) with[0], (long[]) with[1]);
            case "awaitFirst":
                firstMade = (Runnable) with[0];
                return awaitFirst(firstMade != null);
            case "isAwaitingFirst":
                return isAwaitingFirst();
            case "prepareAccounts":
                groups = (Function<Thread, Object>) with[0];
                return prepareAccounts();
            case "setEnded":
                ended = (BiConsumer<Thread, long[]>) with[0];
                return null;
            case "newGroup":
                return new TaskClockGroup();
            case "addTotals":
                ((TaskClockGroup) with[0]).addTo((long[]) with[1]);
                return null;
            case "turn":
                return TaskClockAccount.turn((int) with[0]);
            case "hasMounted":
                return TaskClockAccount.hasMounted((int) with[0]);
            case "lastGroup":
                return TaskClockAccount.lastGroup((int) with[0]);
            case "probe":
                return probe();
            case "redefinitions":
                return redefinitions((Class<?>) with[0]);
            case "threadId":
                return UNSAFE.getLong(with[0], THREAD_ID);
            case "health":
                return new Object[] {failures, failedIn, lastFailure, isLinked()};
            case "setAccounting":
                accounting = (boolean) with[0];
                return null;
            case "setAnswersVirtual":
                answersVirtual = (boolean) with[0];
                setAnswersVirtual((boolean) with[0]);
                return null;
            case "carriers":
                return carriers((long[]) with[0]);
            case "setBean":
                bean = with[0];
                return null;
            case "setReport":
                return TaskClockReport.set((Supplier<String>) with[0], (String) with[1]);
            case "isInitialized":
                return !UNSAFE.shouldBeInitialized((Class<?>) with[0]);
            case "staticField":
                return staticField((Class<?>) with[0], (String) with[1]);
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

    /** Whether the JVM reads user times from /proc, as text: 1 or 0; -1 if that cannot be seen. */
    private static native int userTimeIsText();

    private static native String prepareYield();

    /** Puts ours in place of the native behind Thread.yield. Null, or why not. */
    private static native String takeYield();

    private static native String restoreYield();

    private static native void setYieldMode(int mode);

    /** Copies the records of those that yielded, as many as fit; returns how many there are. */
    private static native int yielders(long[] into);

    /** Copies a record and gives it free, if its thread has ended. */
    private static native boolean freeYielder(int index, long[] into);

    static native long mountAddress();

    static native long unmountAddress();

    static native long mount(long cpu, long user);

    static native long unmount();

    /** Forgets that the calling thread was a carrier. */
    static native void stopCarrying();

    /** Copies the carriers' records, as many as fit; returns how many there are. */
    private static native int carriers(long[] into);

    /** Asks to be called when the first virtual thread is made. Returns false if one may have been made already. */
    private static boolean awaitFirst(boolean wanted) {
        try {
            Class<?> type = Class.forName("java.lang.VirtualThread", false, null);
            // Asked again, as the class may have been initialized meanwhile.
            return UNSAFE.shouldBeInitialized(type) && awaitNatives(type, wanted) && UNSAFE.shouldBeInitialized(type);
        } catch (ClassNotFoundException e) {
            return false;
        }
    }

    /** Whether no virtual thread was made yet; false as well where the first one was missed. */
    private static boolean isAwaitingFirst() throws LinkageError {
        return UNSAFE.shouldBeInitialized(VirtualThread.class);
    }

    /** Puts ours in place of the native that binds the class's other natives, or takes it out. */
    private static native boolean awaitNatives(Class<?> type, boolean wanted);

    /**
     * Loads, links and initializes all that is called at a mount, where none of this may happen. Null, or what is missing.
     * The reason names what differs from the JDKs that this was written for.
     */
    private static String prepareAccounts() {
        try {
            Field place = VirtualThread.class.getDeclaredField("runContinuation");
            if (place.getType() != Runnable.class) return "VirtualThread.runContinuation is a " + place.getType().getName();
            TaskClockGroup group = new TaskClockGroup();
            groups.apply(Thread.currentThread());
            for (int i = 0; i < 2; i++) {
                TaskClockAccount account = new TaskClockAccount(null, group);
                account.mount();
                for (int part = 0; part < TaskClockAccount.PARTS; part++) account.part(part);
                account.unmount();
                account.end();
            }
            stopCarrying();
            TaskClockCalls.linkSoon();
            prepared = true;
            return null;
        } catch (Throwable e) {
            return "java.lang.VirtualThread is not as expected: " + e;
        }
    }

    private static boolean isLinked() {
        return prepared && TaskClockCalls.isLinked();
    }

    /** Whether virtual threads are accounted for now; null if that cannot be seen. */
    private static Boolean probe() {
        try {
            return TaskClockProbe.tryOne();
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            return null;
        }
    }

    /** How often a class was redefined or retransformed; -1 where this JDK does not count it. */
    private static int redefinitions(Class<?> type) {
        try {
            return UNSAFE.getIntVolatile(type, UNSAFE.objectFieldOffset(Class.class, "classRedefinedCount"));
        } catch (InternalError e) {
            return -1;
        }
    }

    /** A static field of a class, which is not initialized for it. */
    private static Object staticField(Class<?> type, String name) {
        try {
            Field field = type.getDeclaredField(name);
            return UNSAFE.getReferenceVolatile(UNSAFE.staticFieldBase(field), UNSAFE.staticFieldOffset(field));
        } catch (NoSuchFieldException e) {
            throw new IllegalStateException(type.getName() + " has no field " + name);
        }
    }

    /** Notes a failure where none may be thrown. */
    static void failed(String where, Throwable e) {
        failures++;
        failedIn = where;
        lastFailure = e.getClass();
    }

    static boolean isAccounted(Thread thread) {
        return prepared && UNSAFE.getReference(thread, TaskClockAccount.PLACE) instanceof TaskClockAccount account
                && account.isMounted();
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
    @ReservedStackAccess
    static void mounted(Thread thread) {
        // Where yields are counted this runs before the classes of accounts are there.
        if (!accounting || !prepared) return;
        try {
            Object there = UNSAFE.getReference(thread, TaskClockAccount.PLACE);
            TaskClockAccount account = there instanceof TaskClockAccount ? (TaskClockAccount) there : open(thread, there);
            account.mount();
        } catch (Throwable e) {
            failed("mount", e); // it is accounted for from a later mount on
        }
    }

    private static TaskClockAccount open(Thread thread, Object continuation) {
        TaskClockAccount account =
                new TaskClockAccount((Runnable) continuation, (TaskClockGroup) groups.apply(thread));
        UNSAFE.putReferenceRelease(thread, TaskClockAccount.PLACE, account);
        return account;
    }

    /** The thread has stopped and is about to be unmounted. If this threw, it would stay mounted. */
    @ForceInline
    @ReservedStackAccess
    static void unmounted(Thread thread) {
        if (!prepared) return; // only yields are counted
        try {
            Object there = UNSAFE.getReference(thread, TaskClockAccount.PLACE);
            if (there instanceof TaskClockAccount) ((TaskClockAccount) there).unmount();
        } catch (Throwable e) {
            failed("unmount", e);
        }
    }

    /** The thread has run for the last time; its carrier calls. */
    static void ended(Thread thread) {
        if (!prepared) return;
        try {
            Object there = UNSAFE.getReference(thread, TaskClockAccount.PLACE);
            if (!(there instanceof TaskClockAccount)) return;
            TaskClockAccount account = (TaskClockAccount) there;
            account.end();
            BiConsumer<Thread, long[]> to = ended;
            if (to != null) to.accept(thread, new long[] {account.cpuNanos(), account.userNanos()});
        } catch (Throwable e) {
            failed("end", e);
        }
    }

    /** Whether a virtual thread's yield is to do nothing. Counts it, if that is wanted. */
    static boolean skipYield() {
        int mode = virtualYieldMode;
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

    // ---- called from C

    private static void firstMade() {
        try {
            Runnable to = firstMade;
            if (to != null) to.run();
        } catch (Throwable e) {
            failed("firstMade", e); // virtual threads without an account are better than none
        }
    }

    private static long userNanos(long id) {
        try {
            LongUnaryOperator from = userOf;
            return from == null ? Long.MIN_VALUE : from.applyAsLong(id);
        } catch (Throwable e) {
            failed("userNanos", e);
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
            failed("usersNanos", e);
            return false;
        }
    }

    private static void firstYield(int index) {
        try {
            ObjIntConsumer<Thread> to = firstYields;
            if (to != null) to.accept(HAS_CARRIERS ? Thread.currentCarrierThread() : Thread.currentThread(), index);
        } catch (Throwable e) {
            failed("firstYield", e);
        }
    }

    private static void yielded(long weight) {
        try {
            ObjLongConsumer<Thread> to = yields;
            if (to != null) to.accept(Thread.currentThread(), weight);
        } catch (Throwable e) {
            failed("yield", e);
        }
    }
}
