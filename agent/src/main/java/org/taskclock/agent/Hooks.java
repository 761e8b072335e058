// SPDX-License-Identifier: Apache-2.0
// Copyright the TaskClock authors
package org.taskclock.agent;

import java.io.File;
import java.io.FileOutputStream;
import java.io.IOException;
import java.io.InputStream;
import java.lang.instrument.Instrumentation;
import java.lang.invoke.MethodHandles;
import java.lang.reflect.Constructor;
import java.nio.file.Files;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.function.BiConsumer;
import java.util.function.BiFunction;
import java.util.function.Function;
import java.util.function.LongUnaryOperator;
import java.util.function.ObjIntConsumer;
import java.util.function.ObjLongConsumer;
import java.util.function.Supplier;
import org.taskclock.Backend;
import org.taskclock.ClockStatus;
import org.taskclock.TaskClock;

/**
 * The agent's side of {@code java.lang.TaskClockHooks}. That class cannot be referenced here, because it is defined at
 * run time. Its operations are called by name, because reflection would add milliseconds to the start of a program.
 * Only this class knows the names.
 */
final class Hooks {
    /** Loaded only if the clock's library is, so there is one for this architecture. */
    private static final String LIBRARY = "libtaskclock-agent-linux-"
            + (System.getProperty("os.arch").equals("amd64") ? "x86_64" : System.getProperty("os.arch")) + ".so";

    // Numbers of the clock's shared.h.
    private static final int BACKEND_OFF = -1;
    private static final int BACKEND_ON = -2;

    private final BiFunction<String, Object[], Object> hooks;

    private Hooks(BiFunction<String, Object[], Object> hooks) {
        this.hooks = hooks;
    }

    /** Defines the hooks. They can load libraries at once; everything else requires {@link #connect} first. */
    @SuppressWarnings("unchecked") // TaskClockHooks implements this type
    static Hooks define(Instrumentation instrumentation) throws FeatureException {
        try {
            Class<?> type = defineClass(instrumentation, Thread.class, "java.lang.TaskClockHooks");
            Hooks closed = new Hooks((BiFunction<String, Object[], Object>) takeInstance(type, "taskclock.hooks"));
            Object open = closed.call("open", MethodHandles.privateLookupIn(Thread.class, MethodHandles.lookup()));
            return new Hooks((BiFunction<String, Object[], Object>) open);
        } catch (ReflectiveOperationException | IOException | LinkageError | RuntimeException e) {
            throw new FeatureException("cannot install the hooks in java.lang: " + e, e);
        }
    }

    /** Loads the libraries of the clock and of the agent. */
    void connect(AgentLoader loader) throws FeatureException {
        try {
            // The clock first, because the agent's library looks for it.
            if (Backend.inUse() == Backend.MXBEAN) throw new FeatureException(whyNotNative());
            load(loader);
            if (!(boolean) call("findClock")) throw new FeatureException("cannot find the clock's library");
        } catch (IOException | LinkageError | RuntimeException e) {
            throw new FeatureException("cannot load the agent's library: " + e, e);
        }
    }

    private static String whyNotNative() {
        for (ClockStatus.Verdict verdict : TaskClock.status().backends()) {
            if (!verdict.usable()) return verdict.reason();
        }
        return "switched off";
    }

    /**
     * Initializes a class that stores an instance of itself in the system properties, and takes the instance from
     * there. Reflection would add milliseconds to the start.
     */
    static Object takeInstance(Class<?> type, String key) throws ReflectiveOperationException {
        synchronized (Runtime.getRuntime()) {
            Class.forName(type.getName(), true, null);
            Object instance = System.getProperties().remove(key);
            if (type.isInstance(instance)) return instance;
        }
        // It could not be stored, or an earlier attempt to start the agent has initialized the class and failed later.
        Constructor<?> constructor = type.getDeclaredConstructor();
        constructor.setAccessible(true);
        return constructor.newInstance();
    }

    /**
     * Defines a class of ours in the package of a JDK class, or returns the class if an earlier attempt that failed
     * later has defined it. The package is opened to the agent's module only.
     */
    static Class<?> defineClass(Instrumentation instrumentation, Class<?> neighbor, String name)
            throws IllegalAccessException, IOException {
        Map<String, Set<Module>> opens = Map.of(neighbor.getPackageName(), Set.of(Hooks.class.getModule()));
        instrumentation.redefineModule(neighbor.getModule(), Set.of(), Map.of(), opens, Set.of(), Map.of());
        try (InputStream in = Hooks.class.getClassLoader().getResourceAsStream(name.replace('.', '/') + ".class")) {
            return MethodHandles.privateLookupIn(neighbor, MethodHandles.lookup())
                    .defineClass(in.readAllBytes());
        } catch (LinkageError e) {
            try {
                return Class.forName(name, false, neighbor.getClassLoader());
            } catch (ClassNotFoundException notDefined) {
                throw e;
            }
        }
    }

    /** Adds a service provider to the module of its class. */
    static void addProvider(Instrumentation instrumentation, Class<?> service, Class<?> provider) {
        Map<Class<?>, List<Class<?>>> provides = Map.of(service, List.of(provider));
        instrumentation.redefineModule(provider.getModule(), Set.of(), Map.of(), Map.of(), Set.of(), provides);
    }

    /** Loads the library from {@code -Dtaskclock.library.path}, like the clock's library, or else from the jar. */
    private void load(AgentLoader loader) throws IOException, FeatureException {
        String given = System.getProperty("taskclock.library.path");
        if (given != null) {
            File path = new File(given).getAbsoluteFile();
            File file = new File(path.isDirectory() ? path : path.getParentFile(), LIBRARY);
            if (!file.isFile()) {
                throw new FeatureException("there is no file " + file + ": put it next to the clock's library");
            }
            call("load", file.toString());
            return;
        }
        File directory = privateDirectory();
        File file = new File(directory, LIBRARY);
        try (InputStream in = loader.getResourceAsStream(LIBRARY)) {
            try (FileOutputStream out = new FileOutputStream(file)) {
                in.transferTo(out);
            }
            call("load", file.toString());
        } finally {
            // A mapped library does not need its file.
            file.delete();
            directory.delete();
        }
    }

    /** Creates a directory in the same way, and for the same reasons, as {@code org.taskclock.ExtractedLibrary}. */
    private static File privateDirectory() throws IOException {
        String name = "taskclock-agent-" + Long.toHexString(System.nanoTime());
        File directory = new File(System.getProperty("java.io.tmpdir"), name);
        if (!directory.mkdir()) Files.createDirectory(directory.toPath()); // fails again, with the reason
        boolean isPrivate = directory.setReadable(false, false)
                && directory.setWritable(false, false)
                && directory.setExecutable(false, false)
                && directory.setReadable(true, true)
                && directory.setWritable(true, true)
                && directory.setExecutable(true, true);
        String[] names = directory.list();
        if (!isPrivate || names == null || names.length > 0) {
            throw new IOException(directory + " cannot be made private");
        }
        return directory;
    }

    // ---- operations

    /** Sets what applies the options of later calls of the agent's entry point, and of attached tools. */
    void setController(BiFunction<String, Boolean, String> controller) {
        call("setController", controller);
    }

    /** Loads a native library for a class of any loader. */
    void loadLibrary(Class<?> owner, String path) {
        call("loadFor", owner, path);
    }

    /** Makes all clocks in this process ask the kernel, until they are switched on again. */
    void switchClocksOff() {
        call("selectBackend", BACKEND_OFF);
    }

    void switchClocksOn() {
        call("selectBackend", BACKEND_ON);
        Backend.decided(); // has a backend selected again
    }

    /** Returns the Java id of a thread, even if its class overrides getId. */
    long threadId(Thread thread) {
        return (long) call("threadId", thread);
    }

    // ---- operations: ThreadMXBean

    /**
     * Finds the natives behind ThreadMXBean's CPU times.
     *
     * @param userTime reads the user time of a thread by its Java id; {@link Long#MIN_VALUE} lets the JVM read it
     * @param userTimes the same for many threads: takes their ids and the array for the times
     */
    void prepareTimes(LongUnaryOperator userTime, BiConsumer<long[], long[]> userTimes) throws FeatureException {
        callOrThrow("prepareTimes", userTime, userTimes);
    }

    /**
     * Replaces the natives behind ThreadMXBean's CPU times; with {@code others}, also those for the user time of other
     * threads. If the JVM may have answered before, no time falls below what it said.
     */
    void takeTimes(Class<?> threadImpl, boolean others, boolean mayHaveAnswered) throws FeatureException {
        callOrThrow("takeTimes", threadImpl, others, mayHaveAnswered);
    }

    /**
     * Makes ThreadMXBean answer from the JVM again. The natives stay replaced until the JVM's times have passed what
     * the clock said, so that no time falls below that.
     */
    void stopTimes() {
        call("stopTimes");
    }

    /** Returns the caller's CPU time from the current natives. */
    long cpuNanos(Class<?> threadImpl) {
        return (long) call("cpuNanos", threadImpl);
    }

    /** Returns the caller's user time from the current natives. */
    long userNanos(Class<?> threadImpl) {
        return (long) call("userNanos", threadImpl);
    }

    /** Returns the CPU time of a thread from the JVM's own native; id 0 is the caller. */
    long stockCpuNanos(long id) {
        return (long) call("stockCpuNanos", id);
    }

    /** Returns the user time of a thread from the JVM's own native; id 0 is the caller. */
    long stockUserNanos(long id) {
        return (long) call("stockUserNanos", id);
    }

    /** Returns 1 if the JVM reads user times from /proc as text, 0 if not, and -1 if this is unknown. */
    int userTimeIsText() {
        return (int) call("userTimeIsText");
    }

    /** Sets whether ThreadMXBean answers for virtual threads that are accounted for. */
    void setAnswersVirtual(boolean on) {
        call("setAnswersVirtual", on);
    }

    // ---- operations: Thread.yield

    /**
     * Finds the native behind Thread.yield.
     *
     * @param firstYield called when a platform thread first yields or carries a yielding virtual thread, with the
     *     platform thread and the number of its record
     * @param sample receives the thread of each sampled yield, and the number of yields that the sample represents
     */
    void prepareYield(ObjIntConsumer<Thread> firstYield, ObjLongConsumer<Thread> sample) throws FeatureException {
        callOrThrow("prepareYield", firstYield, sample);
    }

    /** Replaces the native behind Thread.yield. */
    void takeYield() throws FeatureException {
        callOrThrow("takeYield");
    }

    void restoreYield() throws FeatureException {
        callOrThrow("restoreYield");
    }

    void setYieldMode(int mode) {
        call("setYieldMode", mode);
    }

    void setVirtualYieldMode(int mode) {
        call("setVirtualYieldMode", mode);
    }

    /** Copies as many records of yielding threads as fit, and returns the number of records. */
    int yielders(long[] into) {
        return (int) call("yielders", (Object) into);
    }

    /** Copies a record and frees it if its thread has ended. Returns whether it has. */
    boolean freeYielder(int record, long[] into) {
        return (boolean) call("freeYielder", record, into);
    }

    // ---- operations: platform threads

    /**
     * Sets the listener that receives each platform thread that ends, and the values that {@link EndedThread} reads;
     * null for none. It is called on that thread.
     */
    void setThreadEndListener(BiConsumer<Thread, long[]> listener) throws FeatureException {
        callOrThrow("setThreadEndListener", listener);
    }

    // ---- operations: virtual threads

    /** Runs an action when the first virtual thread is created. Returns false if one may have been created already. */
    boolean awaitFirstVirtualThread(Runnable action) {
        return (boolean) call("awaitFirstVirtualThread", action);
    }

    void stopAwaitingFirstVirtualThread() {
        call("awaitFirstVirtualThread", (Object) null);
    }

    /** Returns whether no virtual thread has been created yet, including any that the hook missed. */
    boolean isAwaitingFirstVirtualThread() {
        return (boolean) call("isAwaitingFirstVirtualThread");
    }

    /**
     * Prepares for the first mount. {@code groups} returns the group of a thread that is mounted for the first time.
     */
    void prepareAccounts(Function<Thread, Object> groups) throws FeatureException {
        callOrThrow("prepareAccounts", groups);
    }

    /** Sets whether virtual threads are accounted for, each from its next mount on. */
    void setAccounting(boolean on) {
        call("setAccounting", on);
    }

    /**
     * Sets the listener that receives each virtual thread that ends; null for none. The array contains its CPU and user
     * time, and 1 if they are a part of its total, otherwise 0.
     */
    void setEndListener(BiConsumer<Thread, long[]> listener) {
        call("setEndListener", listener);
    }

    /** Returns a new {@code TaskClockGroup}. */
    Object newGroup() {
        return call("newGroup");
    }

    /** Adds the totals of a group to those in the array. */
    void addTotals(Object group, long[] totals) {
        call("addTotals", group, totals);
    }

    /** Copies as many carrier records as fit, and returns the number of records. */
    int carriers(long[] into) {
        return (int) call("carriers", (Object) into);
    }

    /** Returns how many mounts and unmounts a carrier has done: odd while a thread is mounted. */
    long carrierSequence(int index) {
        return (long) call("carrierSequence", index);
    }

    /** Returns whether a carrier has ever mounted a thread with an account. */
    boolean hasMounted(int index) {
        return (boolean) call("hasMounted", index);
    }

    /** Returns the group of the thread that a carrier mounted last, or null if there was none. */
    Object lastGroup(int index) {
        return call("lastGroup", index);
    }

    /** Runs a virtual thread and returns whether its time was counted, or null if all carriers are busy. */
    Boolean probe() {
        return (Boolean) call("probe");
    }

    /**
     * Sets the number of redefinitions of VirtualThread with which mounts call the hooks. While it differs from the
     * actual number, the CPU time of a thread that runs is unknown.
     */
    void setPatchedRedefinitions(int count) {
        call("setPatchedRedefinitions", count);
    }

    /** Returns how often a class was redefined or retransformed, or -1 if this JDK does not count it. */
    int redefinitions(Class<?> type) {
        return (int) call("redefinitions", type);
    }

    // ---- operations: management

    /** Returns the number of failures in hooks that must not throw. */
    int failures() {
        return (int) call("failures");
    }

    /** Returns where the last failure of a hook occurred, and its class; null if there was none. */
    String lastFailure() {
        return (String) call("lastFailure");
    }

    /** Returns the System.nanoTime of the last failure. */
    long failedAt() {
        return (long) call("failedAt");
    }

    /** Sets the bean that is registered when the platform creates its MBean server; null for none. */
    void setBean(Object bean) {
        call("setBean", bean);
    }

    /**
     * Sets the source of the report for attached tools; null for none. It is used while the request file exists. The
     * command file contains options that a tool passes to the agent.
     */
    void setReport(Supplier<String> source, String requestFile, String commandFile) throws FeatureException {
        callOrThrow("setReport", source, requestFile, commandFile);
    }

    boolean isInitialized(Class<?> type) {
        return (boolean) call("isInitialized", type);
    }

    /** Reads a static field without initializing its class. */
    Object staticField(Class<?> type, String name) {
        return call("staticField", type, name);
    }

    /** Writes a static field, even if it is final. Code that is already compiled may keep using the previous value. */
    void setStaticField(Class<?> type, String name, Object value) {
        call("setStaticField", type, name, value);
    }

    // ---- the connection

    private Object call(String operation, Object... arguments) {
        return hooks.apply(operation, arguments);
    }

    /** Runs an operation that returns null, or why it failed. */
    private void callOrThrow(String operation, Object... arguments) throws FeatureException {
        Object reason = call(operation, arguments);
        if (reason != null) throw new FeatureException((String) reason);
    }
}
