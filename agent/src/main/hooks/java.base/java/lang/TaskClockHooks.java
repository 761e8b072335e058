// SPDX-License-Identifier: Apache-2.0
// Copyright the TaskClock authors

package java.lang;

import java.lang.invoke.MethodHandles;
import java.lang.reflect.Field;
import java.util.function.BiConsumer;
import java.util.function.BiFunction;
import java.util.function.Function;
import java.util.function.LongUnaryOperator;
import java.util.function.ObjIntConsumer;
import java.util.function.ObjLongConsumer;
import java.util.function.Supplier;
import jdk.internal.misc.Unsafe;
import jdk.internal.vm.Continuation;
import jdk.internal.vm.annotation.ForceInline;
import jdk.internal.vm.annotation.ReservedStackAccess;

/**
 * The agent's code in the JDK: the natives of its library, and the methods that these natives and the changed methods
 * of the JDK call. It is in java.lang because only classes of the JDK's own loaders may replace natives of the JDK
 * without a warning.
 *
 * <p>The JVM may call these methods at any point, so they neither throw nor wait.
 *
 * <p>The agent holds the only open instance. It calls {@link #apply} with the name of an operation, because reflection
 * would add milliseconds to its start. Only the agent's class {@code Hooks} knows these names.
 */
public final class TaskClockHooks implements BiFunction<String, Object[], Object> {
    /**
     * Applies options of the agent. This is the only path to the agent's classes, which hold its privileges. A program
     * cannot read the field, because java.lang is not open to it.
     */
    private static volatile BiFunction<String, Boolean, String> controller;

    /** The effect of a yield on a virtual thread: 0 it yields, 1 it yields and is counted, 2 it does nothing. */
    private static volatile int virtualYieldMode;

    /**
     * Reads the user time of a thread by its Java id. If null, or if it returns {@link Long#MIN_VALUE}, the JVM reads
     * it.
     */
    private static volatile LongUnaryOperator userTimeReader;
    /** The same for many threads: takes their ids and the array for the times. */
    private static volatile BiConsumer<long[], long[]> userTimesReader;
    /**
     * Called when a platform thread first yields or carries a yielding virtual thread, with the platform thread and the
     * number of its record.
     */
    private static volatile ObjIntConsumer<Thread> firstYieldListener;
    /** Receives the thread of each sampled yield, and the number of yields that the sample represents. */
    private static volatile ObjLongConsumer<Thread> yieldSampleListener;

    /** The agent's bean; null if none is to be registered with the platform's beans. */
    private static volatile Object bean;

    /** Runs when the first virtual thread is created; null for no action. */
    private static volatile Runnable firstVirtualThreadAction;
    /** Whether virtual threads are accounted for, each from its next mount on. */
    static boolean accounting;
    /** The number of redefinitions of VirtualThread with which mounts call us. */
    private static int patchedRedefinitions;
    /** Returns the group of a virtual thread that is mounted for the first time. */
    private static volatile Function<Thread, Object> groups;
    /**
     * Receives each virtual thread that ends, on its last carrier: its CPU and user time, and 1 if they are a part of
     * its total, otherwise 0. Null for no listener.
     */
    private static volatile BiConsumer<Thread, long[]> endListener;

    /** Receives each platform thread that ends, and the values of ends.c, on that thread; null for no listener. */
    private static volatile BiConsumer<Thread, long[]> threadEndListener;

    // Failures in code that must not throw. Failures of several threads at the same instant may count as one.
    private static volatile int failures;
    private static volatile String failedIn;
    private static volatile Class<?> lastFailure;
    /** The System.nanoTime of the last failure. */
    private static volatile long failedAt;

    /** Whether ThreadMXBean answers for virtual threads that are accounted for. */
    private static volatile boolean answersVirtual;

    private static final Unsafe UNSAFE = Unsafe.getUnsafe();
    /** The field is used because getId can be overridden. */
    private static final long THREAD_ID = UNSAFE.objectFieldOffset(Thread.class, "tid");
    /** The field in which the JVM counts redefinitions of a class; -1 if this JDK does not count them. */
    private static final long REDEFINITIONS = redefinitionsOffset();

    static {
        // The agent initializes this class and takes the instance from there at once. Others can read it, too, but a
        // closed instance is of no use to them.
        try {
            System.getProperties().put("taskclock.hooks", new TaskClockHooks());
        } catch (OutOfMemoryError e) {
            // The agent creates an instance when it can. If this failed, the class could never be used.
        }
    }

    /** Whether everything that a mount calls is loaded. */
    private static boolean prepared;

    /** Whether this instance runs operations. All that a closed one does is to return an open one to the agent. */
    private final boolean isOpen;

    private TaskClockHooks() {
        this(false);
    }

    private TaskClockHooks(boolean isOpen) {
        this.isOpen = isOpen;
    }

    // ---- called by the agent

    /** Requires private access to this package, which is open to the agent only. */
    private static TaskClockHooks open(Object[] arguments) {
        if (arguments.length == 1 && arguments[0] instanceof MethodHandles.Lookup) {
            MethodHandles.Lookup lookup = (MethodHandles.Lookup) arguments[0];
            boolean isPrivate = (lookup.lookupModes() & MethodHandles.Lookup.PRIVATE) != 0;
            if (isPrivate && lookup.lookupClass() == Thread.class) return new TaskClockHooks(true);
        }
        throw new SecurityException("only for the agent itself");
    }

    /** Runs an operation of the agent's class {@code Hooks}. */
    @Override
    @SuppressWarnings("unchecked")
    public Object apply(String operation, Object[] arguments) {
        if (!isOpen) return open(arguments);
        switch (operation) {
            case "setController":
                controller = (BiFunction<String, Boolean, String>) arguments[0];
                return null;
            case "load":
                // The library registers its natives in this class when it is loaded.
                System.load((String) arguments[0]);
                return null;
            case "loadFor":
                // For a class of another loader. Unlike System.load, this does not check the native access of its
                // module.
                Runtime.getRuntime().load0((Class<?>) arguments[0], (String) arguments[1]);
                return null;
            case "findClock":
                return findClock();
            case "selectBackend":
                return selectBackend((int) arguments[0]);
            case "prepareTimes":
                userTimeReader = (LongUnaryOperator) arguments[0];
                userTimesReader = (BiConsumer<long[], long[]>) arguments[1];
                return prepareTimes();
            case "takeTimes":
                return takeTimes((Class<?>) arguments[0], (boolean) arguments[1], (boolean) arguments[2]);
            case "stopTimes":
                stopTimes();
                return null;
            case "cpuNanos":
                return cpuNanos((Class<?>) arguments[0]);
            case "userNanos":
                return userNanos((Class<?>) arguments[0]);
            case "stockCpuNanos":
                return stockCpuNanos((long) arguments[0]);
            case "stockUserNanos":
                return stockUserNanos((long) arguments[0]);
            case "userTimeIsText":
                return userTimeIsText();
            case "prepareYield":
                firstYieldListener = (ObjIntConsumer<Thread>) arguments[0];
                yieldSampleListener = (ObjLongConsumer<Thread>) arguments[1];
                return prepareYield();
            case "takeYield":
                return takeYield();
            case "restoreYield":
                return restoreYield();
            case "setYieldMode":
                setYieldMode((int) arguments[0]);
                return null;
            case "setVirtualYieldMode":
                virtualYieldMode = (int) arguments[0];
                return null;
            case "yielders":
                return yielders((long[]) arguments[0]);
            case "freeYielder":
                return freeYielder((int) arguments[0], (long[]) arguments[1]);
            case "awaitFirstVirtualThread":
                firstVirtualThreadAction = (Runnable) arguments[0];
                return awaitFirstVirtualThread(firstVirtualThreadAction != null);
            case "isAwaitingFirstVirtualThread":
                return isAwaitingFirstVirtualThread();
            case "prepareAccounts":
                groups = (Function<Thread, Object>) arguments[0];
                return prepareAccounts();
            case "setAccounting":
                accounting = (boolean) arguments[0];
                return null;
            case "setPatchedRedefinitions":
                patchedRedefinitions = (int) arguments[0];
                return null;
            case "setAnswersVirtual":
                // The native code comes first when switching on: it must not give a virtual thread its carrier's time.
                if ((boolean) arguments[0]) setAnswersVirtual(true);
                answersVirtual = (boolean) arguments[0];
                if (!answersVirtual) setAnswersVirtual(false);
                return null;
            case "setEndListener":
                endListener = (BiConsumer<Thread, long[]>) arguments[0];
                return null;
            case "setThreadEndListener":
                threadEndListener = (BiConsumer<Thread, long[]>) arguments[0];
                return reportThreadEnds(threadEndListener != null);
            case "newGroup":
                return new TaskClockGroup();
            case "addTotals":
                ((TaskClockGroup) arguments[0]).addTo((long[]) arguments[1]);
                return null;
            case "carriers":
                return carriers((long[]) arguments[0]);
            case "carrierSequence":
                return TaskClockAccount.sequence((int) arguments[0]);
            case "hasMounted":
                return TaskClockAccount.hasMounted((int) arguments[0]);
            case "lastGroup":
                return TaskClockAccount.lastGroup((int) arguments[0]);
            case "probe":
                return probe();
            case "redefinitions":
                return redefinitions((Class<?>) arguments[0]);
            case "threadId":
                return UNSAFE.getLong(arguments[0], THREAD_ID);
            case "failures":
                return failures;
            case "lastFailure":
                return lastFailure();
            case "failedAt":
                return failedAt;
            case "setBean":
                bean = arguments[0];
                return null;
            case "setReport":
                return TaskClockReport.set(
                        (Supplier<String>) arguments[0], (String) arguments[1], (String) arguments[2]);
            case "isInitialized":
                return !UNSAFE.shouldBeInitialized((Class<?>) arguments[0]);
            case "staticField":
                return staticField((Class<?>) arguments[0], (String) arguments[1]);
            case "setStaticField":
                setStaticField((Class<?>) arguments[0], (String) arguments[1], arguments[2]);
                return null;
            default:
                throw new IllegalArgumentException(operation);
        }
    }

    /** Finds the clock that is loaded in this process. */
    private static native boolean findClock();

    /** Changes the backend of all clocks in this process. The numbers are those of shared.h. */
    private static native int selectBackend(int backend);

    // These natives are declared here because the JVM warns when a class outside the JDK registers natives: it checks
    // which class calls the native that registers them.

    /** Finds the natives to replace. Returns null on success, or else what is missing. */
    private static native String prepareTimes();

    /**
     * Replaces the natives behind ThreadMXBean's CPU times with the clock's; with {@code others}, those for the user
     * time of other threads too. Returns null on success, or else why this failed.
     */
    private static native String takeTimes(Class<?> threadImpl, boolean others, boolean mayHaveAnswered);

    /** Makes ThreadMXBean answer from the JVM again. */
    private static native void stopTimes();

    /** Returns what ThreadMXBean's current natives return for the caller. */
    private static native long cpuNanos(Class<?> threadImpl);

    private static native long userNanos(Class<?> threadImpl);

    /** Returns what the JVM's own natives return for the thread with this id; 0 for the caller. */
    private static native long stockCpuNanos(long id);

    private static native long stockUserNanos(long id);

    /** Returns 1 if the JVM reads user times from /proc as text, 0 if not, and -1 if this is unknown. */
    private static native int userTimeIsText();

    private static native String prepareYield();

    /** Replaces the native behind Thread.yield. Returns null on success, or else why this failed. */
    private static native String takeYield();

    private static native String restoreYield();

    private static native void setYieldMode(int mode);

    /** Copies as many records of yielding threads as fit, and returns the number of records. */
    private static native int yielders(long[] into);

    /** Copies a record and frees it if its thread has ended. Returns whether it has. */
    private static native boolean freeYielder(int index, long[] into);

    /** Makes the JVM report platform threads that end. Returns null on success, or else why it cannot. */
    private static native String reportThreadEnds(boolean on);

    static native long mountAddress();

    static native long unmountAddress();

    static native long mount(long cpu, long user);

    static native long unmount();

    /** Frees the carrier record of the calling thread. */
    static native void stopCarrying();

    /** Copies as many carrier records as fit, and returns the number of records. */
    private static native int carriers(long[] into);

    /**
     * Starts to wait for the first virtual thread, or stops waiting. Returns false if one may have been created
     * already.
     */
    private static boolean awaitFirstVirtualThread(boolean on) {
        try {
            Class<?> type = Class.forName("java.lang.VirtualThread", false, null);
            // Checked again at the end, because the class may be initialized during the call.
            return UNSAFE.shouldBeInitialized(type) && awaitNatives(type, on) && UNSAFE.shouldBeInitialized(type);
        } catch (ClassNotFoundException e) {
            return false;
        }
    }

    /** Returns whether no virtual thread has been created yet, including any that the hook missed. */
    private static boolean isAwaitingFirstVirtualThread() throws LinkageError {
        return UNSAFE.shouldBeInitialized(VirtualThread.class);
    }

    /** Replaces the native that registers the class's other natives, or restores it. */
    private static native boolean awaitNatives(Class<?> type, boolean on);

    /**
     * Loads, links, and initializes everything that a mount calls, because none of this may happen in a mount. Returns
     * null, or how this JDK differs from those that this code was written for.
     */
    private static String prepareAccounts() {
        try {
            Field field = VirtualThread.class.getDeclaredField("runContinuation");
            if (field.getType() != Runnable.class) {
                return "VirtualThread.runContinuation has type " + field.getType().getName();
            }
            for (Field reference : new Field[] {
                VirtualThread.class.getDeclaredField("cont"), Continuation.class.getDeclaredField("tail")
            }) {
                if (reference.getType().isPrimitive()) return reference + " is not a reference";
            }
            TaskClockAccount.prepare();
            TaskClockGroup group = new TaskClockGroup();
            groups.apply(Thread.currentThread());
            for (int i = 0; i < 2; i++) {
                TaskClockAccount account = new TaskClockAccount(null, group);
                account.mount();
                for (int number = 0; number < TaskClockAccount.VALUES; number++) account.value(number);
                account.unmount();
                account.end();
            }
            stopCarrying();
            TaskClockCalls.linkSoon();
            prepared = true;
            return null;
        } catch (NoSuchFieldException e) {
            return "java.lang.VirtualThread is not as expected: " + e;
        } catch (Throwable e) {
            return "cannot prepare the accounts of virtual threads: " + e;
        }
    }

    /** Returns whether the time of virtual threads is counted now, or null if this is unknown. */
    private static Boolean probe() {
        try {
            return TaskClockProbe.runOnce();
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            return null;
        }
    }

    private static long redefinitionsOffset() {
        try {
            return UNSAFE.objectFieldOffset(Class.class, "classRedefinedCount");
        } catch (InternalError e) {
            return -1;
        }
    }

    /** Returns how often a class was redefined or retransformed, or -1 if this JDK does not count it. */
    private static int redefinitions(Class<?> type) {
        return REDEFINITIONS < 0 ? -1 : UNSAFE.getIntVolatile(type, REDEFINITIONS);
    }

    /** Returns whether nobody has redefined VirtualThread since it was known that mounts call us. */
    static boolean isPatched() {
        return redefinitions(VirtualThread.class) == patchedRedefinitions;
    }

    /** Reads a static field of a class without initializing the class. */
    private static Object staticField(Class<?> type, String name) {
        try {
            Field field = type.getDeclaredField(name);
            return UNSAFE.getReferenceVolatile(UNSAFE.staticFieldBase(field), UNSAFE.staticFieldOffset(field));
        } catch (NoSuchFieldException e) {
            throw new IllegalStateException(type.getName() + " has no field " + name);
        }
    }

    private static void setStaticField(Class<?> type, String name, Object value) {
        try {
            Field field = type.getDeclaredField(name);
            UNSAFE.putReferenceVolatile(UNSAFE.staticFieldBase(field), UNSAFE.staticFieldOffset(field), value);
        } catch (NoSuchFieldException e) {
            throw new IllegalStateException(type.getName() + " has no field " + name);
        }
    }

    /** Records a failure in code that must not throw. */
    static void failed(String where, Throwable e) {
        failures++;
        failedAt = System.nanoTime();
        failedIn = where;
        lastFailure = e.getClass();
    }

    private static String lastFailure() {
        return lastFailure == null ? null : failedIn + ": " + lastFailure.getName();
    }

    static boolean isAccounted(Thread thread) {
        return prepared
                && UNSAFE.getReference(thread, TaskClockAccount.FIELD_OFFSET) instanceof TaskClockAccount account
                && account.isMounted();
    }

    /**
     * Returns one value of a virtual thread's account, or -1 if it has none. The numbers are those of
     * org.taskclock.VirtualThreadClock, which calls this.
     */
    public static long virtualTime(Thread thread, int number) {
        if (!prepared || thread.getClass() != VirtualThread.class) return -1;
        UNSAFE.loadFence(); // the order in which the values are read matters
        Object account = UNSAFE.getReference(thread, TaskClockAccount.FIELD_OFFSET);
        return account instanceof TaskClockAccount ? ((TaskClockAccount) account).value(number) : -1;
    }

    private static native void setAnswersVirtual(boolean on);

    // ---- called by org.taskclock.agent.Agent

    /** Applies options of the agent and returns its state, or null if it is not loaded. */
    public static String configure(String options, boolean isProgramRunning) {
        BiFunction<String, Boolean, String> current = controller;
        return current == null ? null : current.apply(options, isProgramRunning);
    }

    // ---- called by ThreadImpl

    /**
     * Returns whether ThreadMXBean must answer -1 for the thread. Without the agent, it does for all virtual threads.
     */
    public static boolean isTimeUnknown(Thread thread) {
        if (!thread.isVirtual()) return false;
        if (!answersVirtual || !prepared || thread.getClass() != VirtualThread.class) return true;
        Object value = UNSAFE.getReference(thread, TaskClockAccount.FIELD_OFFSET);
        return !(value instanceof TaskClockAccount)
                || !((TaskClockAccount) value).isMounted()
                || ((TaskClockAccount) value).isPartial();
    }

    // ---- called by VirtualThread

    /** Called on the carrier when the thread is mounted, before it continues. */
    @ForceInline
    @ReservedStackAccess
    static void mounted(Thread thread) {
        // While only yields are counted, the classes of accounts are not defined yet.
        if (!prepared) return;
        try {
            Object value = UNSAFE.getReference(thread, TaskClockAccount.FIELD_OFFSET);
            if (!accounting) {
                if (value instanceof TaskClockAccount) ((TaskClockAccount) value).setPartial();
                return;
            }
            TaskClockAccount account =
                    value instanceof TaskClockAccount ? (TaskClockAccount) value : open(thread, value);
            account.mount();
        } catch (Throwable e) {
            // A later mount tries again. The time until then is lost.
            Object value = UNSAFE.getReference(thread, TaskClockAccount.FIELD_OFFSET);
            if (value instanceof TaskClockAccount) ((TaskClockAccount) value).setPartial();
            failed("mount", e);
        }
    }

    private static TaskClockAccount open(Thread thread, Object continuation) {
        TaskClockAccount account =
                new TaskClockAccount((Runnable) continuation, (TaskClockGroup) groups.apply(thread));
        if (TaskClockAccount.hasRun(thread)) account.setPartial();
        UNSAFE.putReferenceRelease(thread, TaskClockAccount.FIELD_OFFSET, account);
        return account;
    }

    /**
     * Called on the carrier when the thread has stopped, before it is unmounted. If this method threw, the thread would
     * stay mounted.
     */
    @ForceInline
    @ReservedStackAccess
    static void unmounted(Thread thread) {
        if (!prepared) return; // only yields are counted
        try {
            Object value = UNSAFE.getReference(thread, TaskClockAccount.FIELD_OFFSET);
            if (value instanceof TaskClockAccount) ((TaskClockAccount) value).unmount();
        } catch (Throwable e) {
            Object value = UNSAFE.getReference(thread, TaskClockAccount.FIELD_OFFSET);
            if (value instanceof TaskClockAccount) ((TaskClockAccount) value).abandonMount();
            failed("unmount", e);
        }
    }

    /** Called on the last carrier when the thread has ended. */
    static void ended(Thread thread) {
        if (!prepared) return;
        try {
            Object value = UNSAFE.getReference(thread, TaskClockAccount.FIELD_OFFSET);
            if (!(value instanceof TaskClockAccount)) return;
            TaskClockAccount account = (TaskClockAccount) value;
            account.end();
            BiConsumer<Thread, long[]> listener = endListener;
            if (listener == null) return;
            long isPartial = account.isPartial() ? 1 : 0;
            listener.accept(thread, new long[] {account.cpuNanos(), account.userNanos(), isPartial});
        } catch (Throwable e) {
            failed("end", e);
        }
    }

    /** Returns whether to skip the yield of a virtual thread. Counts the yield if yields are counted. */
    static boolean skipYield() {
        int mode = virtualYieldMode;
        if (mode == 0) return false;
        if (mode == 2) return true;
        countVirtualYield();
        return false;
    }

    private static native void countVirtualYield();

    // ---- called by TaskClockBeans

    /** Returns the bean to register with the platform's beans, or null if there is none. */
    public static Object bean() {
        return bean;
    }

    // ---- called by the agent's library

    private static void onFirstVirtualThread() {
        try {
            Runnable action = firstVirtualThreadAction;
            if (action != null) action.run();
        } catch (Throwable e) {
            failed("onFirstVirtualThread", e); // virtual threads without accounts are better than none
        }
    }

    private static void onThreadEnd(Thread thread, long[] values) {
        try {
            BiConsumer<Thread, long[]> listener = threadEndListener;
            if (listener != null) listener.accept(thread, values);
        } catch (Throwable e) {
            failed("onThreadEnd", e);
        }
    }

    private static long readUserTime(long id) {
        try {
            LongUnaryOperator reader = userTimeReader;
            return reader == null ? Long.MIN_VALUE : reader.applyAsLong(id);
        } catch (Throwable e) {
            failed("readUserTime", e);
            return Long.MIN_VALUE;
        }
    }

    private static boolean readUserTimes(long[] ids, long[] into) {
        try {
            BiConsumer<long[], long[]> reader = userTimesReader;
            if (reader == null) return false;
            reader.accept(ids, into);
            return true;
        } catch (Throwable e) {
            failed("readUserTimes", e);
            return false;
        }
    }

    private static void onFirstYield(int record) {
        try {
            ObjIntConsumer<Thread> listener = firstYieldListener;
            if (listener != null) {
                boolean hasCarriers = Runtime.version().feature() >= 21;
                listener.accept(hasCarriers ? Thread.currentCarrierThread() : Thread.currentThread(), record);
            }
        } catch (Throwable e) {
            failed("onFirstYield", e);
        }
    }

    private static void onYieldSample(long weight) {
        try {
            ObjLongConsumer<Thread> listener = yieldSampleListener;
            if (listener != null) listener.accept(Thread.currentThread(), weight);
        } catch (Throwable e) {
            failed("onYieldSample", e);
        }
    }
}
