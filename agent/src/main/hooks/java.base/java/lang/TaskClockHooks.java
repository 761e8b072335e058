// SPDX-License-Identifier: Apache-2.0
// Copyright the TaskClock authors

package java.lang;

import java.lang.invoke.MethodHandles;
import java.lang.reflect.Field;
import java.util.IdentityHashMap;
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
import org.taskclock.internal.JdkVersions;

/**
 * The agent's code in the JDK: the natives of its library, and the methods that these natives and the changed methods
 * of the JDK call. It is in java.lang because only classes of the JDK's own loaders may replace natives of the JDK
 * without a warning.
 *
 * <p>The JVM may call these methods at any point, so they neither throw nor wait.
 *
 * <p>The methods that are not static are the agent's, and give their callers its privileges, so only the agent gets an
 * instance. If such a method returns a String, it returns null on success, or else why it failed.
 */
public final class TaskClockHooks {
    /** The name of the virtual thread that runs {@link #probe}. */
    public static final String PROBE = "taskclock-probe";

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
    private static volatile Function<Thread, TaskClockGroup> groups;

    // Null for no listener.
    private static volatile BiConsumer<Thread, long[]> endListener;
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

    /** Whether everything that a mount calls is loaded. */
    private static boolean prepared;
    /** Whether the calls at mounts and unmounts need no transition; see {@link TaskClockCalls}. */
    static boolean isLinked;

    private TaskClockHooks() {}

    /** Returns an instance. Requires private access to this package, which is open to the agent only. */
    public static TaskClockHooks open(MethodHandles.Lookup lookup) {
        boolean isPrivate = (lookup.lookupModes() & MethodHandles.Lookup.PRIVATE) != 0;
        if (isPrivate && lookup.lookupClass() == Thread.class) return new TaskClockHooks();
        throw new SecurityException("only for the agent itself");
    }

    // ---- called by the agent

    /** Sets what applies the options of later calls of the agent's entry point, and of attached tools. */
    public void setController(BiFunction<String, Boolean, String> newController) {
        controller = newController;
    }

    /** Loads the agent's library, which registers its natives in this class. */
    public void load(String path) {
        System.load(path);
    }

    /** Loads a library for any class. Unlike System.load, this does not check the native access of its module. */
    public void loadFor(Class<?> owner, String path) {
        Runtime.getRuntime().load0(owner, path);
    }

    /** Finds the clock that is loaded in this process. */
    public native boolean findClock();

    /** Changes the backend of all clocks in this process. The numbers are those of shared.h. */
    public native int selectBackend(int backend);

    /** Returns the Java id of a thread, even if its class overrides getId. */
    public long threadId(Thread thread) {
        return UNSAFE.getLong(thread, THREAD_ID);
    }

    // ---- called by the agent: ThreadMXBean

    /**
     * Finds the natives behind ThreadMXBean's CPU times.
     *
     * @param userTime reads the user time of a thread by its Java id; {@link Long#MIN_VALUE} lets the JVM read it
     * @param userTimes the same for many threads: takes their ids and the array for the times
     */
    public String prepareTimes(LongUnaryOperator userTime, BiConsumer<long[], long[]> userTimes) {
        userTimeReader = userTime;
        userTimesReader = userTimes;
        return prepareTimes();
    }

    private static native String prepareTimes();

    /**
     * Replaces the natives behind ThreadMXBean's CPU times with the clock's; with {@code others}, also those for the
     * user time of other threads. If the JVM may have answered before, no time falls below its answers.
     */
    public String takeTimes(Class<?> threadImpl, boolean others, boolean mayHaveAnswered) {
        return takeTimes0(threadImpl, others, mayHaveAnswered);
    }

    // The JVM warns when a class outside the JDK calls a native that registers natives. So this class calls those.
    private static native String takeTimes0(Class<?> threadImpl, boolean others, boolean mayHaveAnswered);

    /**
     * Makes ThreadMXBean answer from the JVM again. The natives stay replaced until the JVM's times have passed the
     * clock's, so that no time goes backwards.
     */
    public native void stopTimes();

    /** Returns the caller's CPU time from ThreadMXBean's current natives. */
    public native long cpuNanos(Class<?> threadImpl);

    /** Returns the caller's user time from ThreadMXBean's current natives. */
    public native long userNanos(Class<?> threadImpl);

    /** Returns the CPU time of a thread from the JVM's own native; id 0 is the caller. */
    public native long stockCpuNanos(long id);

    /** Returns the user time of a thread from the JVM's own native; id 0 is the caller. */
    public native long stockUserNanos(long id);

    /** Returns 1 if the JVM reads user times from /proc as text, 0 if not, and -1 if this is unknown. */
    public native int userTimeIsText();

    /** Sets whether ThreadMXBean answers for virtual threads that are accounted for. */
    public void setAnswersVirtual(boolean on) {
        // The native code comes first when switching on: it must not give a virtual thread its carrier's time.
        if (on) answerVirtual(true);
        answersVirtual = on;
        if (!on) answerVirtual(false);
    }

    private static native void answerVirtual(boolean on);

    // ---- called by the agent: Thread.yield

    /**
     * Finds the native behind Thread.yield.
     *
     * @param firstYield called when a platform thread first yields or carries a yielding virtual thread, with the
     *     platform thread and the number of its record
     * @param sample receives the thread of each sampled yield, and the number of yields that the sample represents
     */
    public String prepareYield(ObjIntConsumer<Thread> firstYield, ObjLongConsumer<Thread> sample) {
        firstYieldListener = firstYield;
        yieldSampleListener = sample;
        return prepareYield();
    }

    private static native String prepareYield();

    /** Replaces the native behind Thread.yield. */
    public String takeYield() {
        return takeYield0();
    }

    private static native String takeYield0();

    public String restoreYield() {
        return restoreYield0();
    }

    private static native String restoreYield0();

    public native void setYieldMode(int mode);

    public void setVirtualYieldMode(int mode) {
        virtualYieldMode = mode;
    }

    /** Copies as many records of yielding threads as fit, and returns the number of records. */
    public native int yielders(long[] into);

    /** Copies a record and frees it if its thread has ended. Returns whether it has. */
    public native boolean freeYielder(int index, long[] into);

    // ---- called by the agent: threads that end, and virtual threads

    /**
     * Sets the listener that receives each platform thread that ends, and the values of ends.c; null for none. It is
     * called on that thread.
     */
    public String setThreadEndListener(BiConsumer<Thread, long[]> listener) {
        threadEndListener = listener;
        return reportThreadEnds(listener != null);
    }

    private static native String reportThreadEnds(boolean on);

    /**
     * Sets the listener that receives each virtual thread that ends, on its last carrier; null for none. The array
     * contains its CPU and user time, and 1 if they are a part of its total, otherwise 0.
     */
    public void setEndListener(BiConsumer<Thread, long[]> listener) {
        endListener = listener;
    }

    /**
     * Runs an action when the first virtual thread is created; null for no action. Returns false if one may have been
     * created already.
     */
    public boolean awaitFirstVirtualThread(Runnable action) {
        firstVirtualThreadAction = action;
        try {
            Class<?> type = Class.forName("java.lang.VirtualThread", false, null);
            // Checked again at the end, because the class may be initialized during the call.
            return UNSAFE.shouldBeInitialized(type)
                    && awaitNatives(type, action != null)
                    && UNSAFE.shouldBeInitialized(type);
        } catch (ClassNotFoundException e) {
            return false;
        }
    }

    /** Replaces the native that registers the class's other natives, or restores it. */
    private static native boolean awaitNatives(Class<?> type, boolean on);

    /** Returns whether no virtual thread has been created yet, including any that the hook missed. */
    public boolean isAwaitingFirstVirtualThread() throws LinkageError {
        return UNSAFE.shouldBeInitialized(VirtualThread.class);
    }

    /**
     * Loads, links, and initializes everything that a mount calls, because none of this may happen in a mount.
     *
     * @param newGroups returns the group of a thread that is mounted for the first time
     */
    public String prepareAccounts(Function<Thread, TaskClockGroup> newGroups) {
        groups = newGroups;
        if (prepared) return null;
        try {
            Field field = VirtualThread.class.getDeclaredField("runContinuation");
            if (field.getType() != Runnable.class) {
                return "VirtualThread.runContinuation has type "
                        + field.getType().getName();
            }
            for (Field reference : new Field[] {
                VirtualThread.class.getDeclaredField("cont"), Continuation.class.getDeclaredField("tail")
            }) {
                if (reference.getType().isPrimitive()) return reference + " is not a reference";
            }
            TaskClockCarrier.forgetAll();
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
            TaskClockCarrier.forgetAll(); // this thread mounted accounts, but is no carrier
            TaskClockCalls.linkSoon();
            prepared = true;
            return null;
        } catch (NoSuchFieldException e) {
            return "java.lang.VirtualThread is not as expected: " + e;
        } catch (Throwable e) {
            return "cannot prepare the accounts of virtual threads: " + e;
        }
    }

    /** Sets whether virtual threads are accounted for, each from its next mount on. */
    public void setAccounting(boolean on) {
        accounting = on;
    }

    /**
     * Sets the number of redefinitions of VirtualThread with which mounts call us. While it differs from the actual
     * number, the CPU time of a thread that runs is unknown.
     */
    public void setPatchedRedefinitions(int count) {
        patchedRedefinitions = count;
    }

    /** Copies as many carrier records as fit, and returns the number of records. */
    public native int carriers(long[] into);

    /** Returns how many mounts and unmounts a carrier has done: odd while a thread is mounted. */
    public long carrierSequence(int index) {
        return TaskClockCarrier.at(index).sequence();
    }

    /** Returns whether a carrier has ever mounted a thread with an account. */
    public boolean hasMounted(int index) {
        return TaskClockCarrier.at(index) != null;
    }

    /** Returns the group of the thread that a carrier mounted last, or null if there was none. */
    public TaskClockGroup lastGroup(int index) {
        return TaskClockCarrier.at(index).group();
    }

    /**
     * Adds the time that a carrier carried for the group of the thread that it mounted last to that group's totals. The
     * times were read from its record, after the totals.
     *
     * @param totals the totals of each group
     */
    public void addLastGroup(int index, long cpu, long user, IdentityHashMap<TaskClockGroup, long[]> totals) {
        UNSAFE.loadFence();
        TaskClockCarrier.at(index).addTo(totals, cpu, user);
    }

    /** Runs a virtual thread and returns whether its time was counted, or null if all carriers are busy. */
    public Boolean probe() {
        try {
            return TaskClockProbe.runOnce();
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            return null;
        }
    }

    // ---- called by the agent: accounts that are found in the program

    /** Sets what opens sections, by number of the point; null for nothing. Needs {@link TaskClockSections}. */
    public void setSectionOpeners(BiFunction<?, ?, ?>[] openers) {
        TaskClockSections.set(openers);
    }

    // ---- called by the agent: management

    /** Returns the number of failures in code that must not throw. */
    public int failures() {
        return failures;
    }

    /** Returns where the last failure occurred, and its class; null if there was none. */
    public String lastFailure() {
        return lastFailure == null ? null : failedIn + ": " + lastFailure.getName();
    }

    /** Returns the System.nanoTime of the last failure. */
    public long failedAt() {
        return failedAt;
    }

    /**
     * Sets the source of the report for attached tools; null for none. It is used while the request file exists. The
     * command file contains options that a tool passes to the agent.
     */
    public String setReport(Supplier<String> source, String requestFile, String commandFile) {
        return TaskClockReport.set(source, requestFile, commandFile);
    }

    /** Sets the bean that is registered when the platform creates its MBean server; null for none. */
    public void setBean(Object newBean) {
        bean = newBean;
    }

    public boolean isInitialized(Class<?> type) {
        return !UNSAFE.shouldBeInitialized(type);
    }

    private static long redefinitionsOffset() {
        try {
            return UNSAFE.objectFieldOffset(Class.class, "classRedefinedCount");
        } catch (InternalError e) {
            return -1;
        }
    }

    /** Returns how often a class was redefined or retransformed, or -1 if this JDK does not count it. */
    public static int redefinitions(Class<?> type) {
        return REDEFINITIONS < 0 ? -1 : UNSAFE.getIntVolatile(type, REDEFINITIONS);
    }

    /** Returns whether nobody has redefined VirtualThread since it was known that mounts call us. */
    static boolean isPatched() {
        return redefinitions(VirtualThread.class) == patchedRedefinitions;
    }

    /** Reads a static field of a class without initializing the class. */
    public Object staticField(Class<?> type, String name) {
        Field field = field(type, name);
        return UNSAFE.getReferenceVolatile(UNSAFE.staticFieldBase(field), UNSAFE.staticFieldOffset(field));
    }

    /** Writes a static field, even if it is final. Code that is already compiled may keep using the previous value. */
    public void setStaticField(Class<?> type, String name, Object value) {
        Field field = field(type, name);
        UNSAFE.putReferenceVolatile(UNSAFE.staticFieldBase(field), UNSAFE.staticFieldOffset(field), value);
    }

    private static Field field(Class<?> type, String name) {
        try {
            return type.getDeclaredField(name);
        } catch (NoSuchFieldException e) {
            throw new IllegalStateException(type.getName() + " has no field " + name);
        }
    }

    // ---- called by TaskClockCalls

    static native long mountAddress();

    static native long unmountAddress();

    static native long mount(long cpu, long user);

    static native long unmount();

    /** Frees the carrier record of the calling thread. */
    static native void stopCarrying();

    /** Records a failure in code that must not throw. */
    static void failed(String where, Throwable e) {
        failures++;
        failedAt = System.nanoTime();
        failedIn = where;
        lastFailure = e.getClass();
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
        TaskClockAccount account = new TaskClockAccount((Runnable) continuation, groups.apply(thread));
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
                boolean hasCarriers = Runtime.version().feature() >= JdkVersions.VIRTUAL_THREADS;
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
