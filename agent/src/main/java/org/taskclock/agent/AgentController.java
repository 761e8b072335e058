// SPDX-License-Identifier: Apache-2.0
// Copyright the TaskClock authors
package org.taskclock.agent;

import java.io.IOException;
import java.io.InputStream;
import java.lang.instrument.Instrumentation;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.function.BiConsumer;
import java.util.function.BiFunction;
import org.taskclock.Backend;
import org.taskclock.TaskClock;
import org.taskclock.ThreadContext;
import org.taskclock.internal.JdkVersions;

/**
 * The controller of the agent, with one instance per JVM. It installs, changes, and removes the features. All changes
 * go through its methods, one at a time.
 *
 * <p>Code that runs before the program uses no lambdas, because each adds a millisecond to the start.
 */
public final class AgentController
        implements BiFunction<String, Boolean, String>, BiConsumer<Class<?>, String>, Runnable {
    /** A change that can fail. */
    interface Step {
        void run() throws FeatureException;
    }

    static {
        new AgentController((AgentLoader) AgentController.class.getClassLoader());
    }

    // Numbers of the clock's shared.h.
    private static final int BACKEND_OFF = -1;
    private static final int BACKEND_ON = -2;

    private static final String THREAD_CONTEXT = "thread-context";
    private static final String NO_VIRTUAL_THREADS =
            "virtual threads require JDK " + JdkVersions.VIRTUAL_THREADS + " or later";

    /** The report for tools that attach. It is not an option, but its failures are reported like those of features. */
    private static final String REPORT = "report";

    /** The features, or parts of them, that are not needed before the program starts. */
    private static final List<String> DEFERRED =
            List.of(Options.RSEQ_TAKE, Options.BEAN, REPORT, Options.JFR, Options.THREADMXBEAN);

    private final AgentLoader loader;
    private final Instrumentation instrumentation;
    private final Watchdog watchdog = new Watchdog();

    // Null before the first use.
    private TaskClockHooks hooks;
    private YieldControl yields;
    private VirtualAccounts accounts;
    private ProgramAccounts programAccounts;

    // Null if not installed yet.
    private ThreadTimes times;
    private AgentBean bean;
    private AgentReportWriter reportWriter;
    private FlightRecorderEvents events;
    private ExitSummary summary;

    private boolean answersVirtual;

    /** Whether the clock may take the C library's areas. */
    private boolean takesAreas;

    /** Whether the program is running, rather than waiting for the agent. */
    private boolean isProgramRunning;

    /** The latest value of each option that was given since the start or since the last detach. */
    private Options requestedOptions = Options.NONE;

    private boolean isInstalled;

    /** Whether the agent is detached. Tools then treat it as absent. */
    private boolean isDetached;

    /** The options to restore when the kill switch is turned off; null while it is off. */
    private Options optionsBeforeKillSwitch;

    /** Requested features that are not available, with the reason. */
    private final Map<String, String> unavailable = new TreeMap<>();

    private AgentController(AgentLoader loader) {
        this.loader = loader;
        this.instrumentation = loader.connect(this, this);
    }

    /** Loads a native library for a class of the agent. */
    @Override
    public void accept(Class<?> owner, String path) {
        hooks.loadFor(owner, path);
    }

    /**
     * Applies options, for {@link Agent}. Returns the state as text. Throws IllegalArgumentException with the reason if
     * nothing is installed.
     */
    @Override
    public synchronized String apply(String text, Boolean isProgramRunning) {
        try {
            Options options = Options.parse(text);
            if (yields == null && options.detach()) return "detached";
            this.isProgramRunning = isProgramRunning;
            if (yields == null) start();
            if (options.detach()) {
                detach();
                return state();
            }
            install(options);
            publish();
            return state();
        } catch (FeatureException | IllegalArgumentException e) {
            if (yields == null) throw new IllegalArgumentException(e.getMessage(), e);
            System.err.println("taskclock: agent: " + e.getMessage());
            return "failed: " + e.getMessage() + "; still " + state();
        }
    }

    private void start() throws FeatureException {
        if (hooks == null) {
            hooks = Hooks.define(instrumentation);
            hooks.setController(this);
        }
        Hooks.connect(hooks, loader);
        VirtualThreadPatch patch = new VirtualThreadPatch(instrumentation, hooks, watchdog, this);
        accounts = new VirtualAccounts(instrumentation, hooks, patch);
        programAccounts = new ProgramAccounts(instrumentation, hooks, accounts, watchdog, this);
        yields = new YieldControl(hooks, patch);
    }

    private void install(Options options) throws FeatureException {
        if (!isEnabled()) {
            throw new FeatureException(
                    "the kill switch is on: first set the bean's attribute Enabled to true, or detach");
        }
        unavailable.clear();
        if (options.given().containsKey(Options.VIRTUAL) && !VirtualThreadPatch.isSupported()) {
            reportUnavailable(Options.VIRTUAL, NO_VIRTUAL_THREADS);
        }
        Options all = options.overriding(requestedOptions);
        for (String feature : Options.FEATURES) {
            // A feature that is on by default needs no message if this JDK cannot support it.
            if (feature.equals(Options.VTHREADS)
                    && !VirtualThreadPatch.isSupported()
                    && !options.given().containsKey(feature)) continue;
            attempt(feature, all);
        }
        // If a new directory cannot be used, the earlier one stays in use.
        String earlier = requestedOptions.given().get(Options.SUMMARY);
        boolean keepsSummary = earlier != null && unavailable.containsKey(Options.SUMMARY);
        requestedOptions = keepsSummary ? new Options(false, Map.of(Options.SUMMARY, earlier)).overriding(all) : all;
        isInstalled = true;
        isDetached = false;
        if (isProgramRunning) installDeferred();
        else watchdog.defer(this);
    }

    /** Installs the remaining features on the watchdog's thread, so that they do not delay the start of the program. */
    @Override
    public synchronized void run() {
        if (!isInstalled) return; // detached in the meantime
        installDeferred();
        isProgramRunning = true;
        publish();
    }

    private void installDeferred() {
        for (String feature : DEFERRED) attempt(feature, null);
    }

    /** Installs a feature, or its deferred part if {@code options} is null. Reports a failure. */
    private void attempt(String feature, Options options) {
        try {
            installOrRestore(feature, options);
        } catch (FeatureException e) {
            reportUnavailable(feature, e.getMessage());
        }
    }

    private void installOrRestore(String feature, Options options) throws FeatureException {
        try {
            if (options == null) installDeferred(feature);
            else install(feature, options);
        } catch (RuntimeException | Error e) {
            restore(feature);
            throw new FeatureException(e.toString(), e);
        }
    }

    /** Removes a feature whose installation stopped at an unknown point, for example because the heap is full. */
    private void restore(String feature) {
        try {
            removal(feature).run();
        } catch (FeatureException | RuntimeException | Error e) {
            System.err.println("taskclock: agent: cannot restore " + feature + ": " + e);
        }
    }

    private Step removal(String feature) {
        return switch (feature) {
            case Options.VTHREADS -> accounts::remove;
            case Options.THREADMXBEAN -> () -> setThreadTimes(false);
            case Options.YIELD -> () -> setYieldModes(Options.NONE);
            case Options.BEAN -> () -> setBean("off");
            case Options.JFR -> () -> setEvents(false);
            case Options.RSEQ_TAKE -> () -> setRseqTake(false);
            case Options.ACCOUNTS -> () -> programAccounts.set("off");
            default -> () -> {};
        };
    }

    private void installDeferred(String feature) throws FeatureException {
        switch (feature) {
            case Options.BEAN -> {
                if (!isProgramRunning) setBean(requestedOptions.get(feature, "on"));
            }
            case REPORT -> setReport();
            case Options.JFR -> setEvents(requestedOptions.isOn(feature));
            case Options.RSEQ_TAKE ->
                setRseqTake(requestedOptions.get(feature, "off").equals("on"));
            case Options.THREADMXBEAN -> {
                if (!isProgramRunning) correctThreadTimes();
            }
            default -> throw new IllegalStateException(feature);
        }
    }

    /** Reports that a requested feature is not available. The caller must not hold the lock of a feature. */
    synchronized void reportUnavailable(String feature, String reason) {
        if (!reason.equals(unavailable.put(feature, reason))) {
            System.err.println("taskclock: agent: unavailable: " + feature + ": " + reason);
        }
        publish();
    }

    /** Switches off a feature whose patch was lost. Called on the watchdog's thread. */
    void patchLost(VirtualThreadPatch.Use use, String reason) {
        synchronized (this) {
            if (use == VirtualThreadPatch.Use.MOUNTS) accounts.removeLost();
            else yields.passVirtual();
        }
        reportUnavailable(use.option(), reason);
    }

    /** Sets an option, for the bean. */
    synchronized void setOption(String name, String value) throws FeatureException {
        if (!isEnabled()) throw new FeatureException("the kill switch is on: first set Enabled to true");
        Options all = new Options(false, Map.of(name, value)).overriding(requestedOptions);
        try {
            installOrRestore(name.equals(Options.VIRTUAL_YIELD) ? Options.YIELD : name, all);
            unavailable.remove(name);
            requestedOptions = all;
        } finally {
            publish();
        }
    }

    private void install(String feature, Options options) throws FeatureException {
        switch (feature) {
            case Options.VTHREADS -> setAccounts(options.isOn(feature));
            case Options.ACCOUNTS -> programAccounts.set(options.get(feature, "off"));
            case Options.THREADMXBEAN -> {
                answersVirtual = options.get(Options.VIRTUAL, "spec").equals("mxbean");
                setThreadTimes(options.isOn(feature));
            }
            case Options.YIELD -> setYieldModes(options);
            case Options.BEAN -> {
                if (isProgramRunning) setBean(options.get(feature, "on"));
            }
            case Options.JFR, Options.RSEQ_TAKE -> {} // deferred
            case Options.SUMMARY -> setSummary(options.given().get(feature));
            default -> throw new IllegalStateException(feature);
        }
    }

    /** Unless it was on, "off" does not touch the clock. */
    private void setRseqTake(boolean on) throws FeatureException {
        if (on == takesAreas) return;
        takesAreas = on;
        String refusal = Backend.allowTake(on);
        if (refusal == null) return;
        takesAreas = false;
        Backend.allowTake(false);
        throw new FeatureException(refusal);
    }

    private void setAccounts(boolean on) throws FeatureException {
        if (!on) accounts.remove();
        else if (VirtualThreadPatch.isSupported()) accounts.install();
        else throw new FeatureException(NO_VIRTUAL_THREADS);
    }

    private void setThreadTimes(boolean on) throws FeatureException {
        if (on) {
            if (times == null) times = new ThreadTimes(hooks, instrumentation);
            times.install(answersVirtual);
        } else if (times != null) {
            times.remove();
        }
    }

    private void correctThreadTimes() throws FeatureException {
        if (times != null) times.correct();
    }

    private void setYieldModes(Options options) throws FeatureException {
        yields.setMode(YieldControl.Mode.of(options.get(Options.YIELD, "pass")));
        if (VirtualThreadPatch.isSupported()) {
            yields.setVirtualMode(YieldControl.Mode.of(options.virtualYield()));
        } else if (options.given().containsKey(Options.VIRTUAL_YIELD)) {
            throw new FeatureException(NO_VIRTUAL_THREADS);
        }
    }

    private void setBean(String mode) throws FeatureException {
        if (mode.equals("off")) {
            if (bean != null) bean.remove();
            return;
        }
        if (ModuleLayer.boot().findModule("java.management").isEmpty())
            throw new FeatureException("this JVM has no module java.management");
        if (bean == null) bean = new AgentBean(this, hooks, watchdog);
        bean.install(instrumentation, mode.equals("read"));
    }

    private void setReport() throws FeatureException {
        if (reportWriter == null) reportWriter = new AgentReportWriter(this, hooks);
        reportWriter.install(instrumentation);
    }

    private void setEvents(boolean on) {
        if (on == (events != null) || ModuleLayer.boot().findModule("jdk.jfr").isEmpty()) return;
        if (on) {
            events = new FlightRecorderEvents(hooks, yields, accounts);
            events.install();
        } else {
            events.remove();
            events = null;
        }
    }

    private void setSummary(String directory) throws FeatureException {
        if (directory == null) return;
        if (summary != null) {
            summary.setDirectory(Path.of(directory));
            return;
        }
        ExitSummary newSummary = new ExitSummary(this);
        newSummary.setDirectory(Path.of(directory));
        try {
            newSummary.start();
        } catch (RuntimeException | Error e) {
            newSummary.stop();
            throw e;
        }
        summary = newSummary;
    }

    /** Removes everything. If a step fails, the remaining steps still run. */
    synchronized void detach() throws FeatureException {
        List<Step> steps = new ArrayList<>();
        // First, while threads still read the clock: they give their areas back when they read.
        steps.add(() -> setRseqTake(false));
        if (times != null) steps.add(times::remove);
        steps.add(() -> yields.setMode(YieldControl.Mode.PASS));
        steps.add(() -> yields.setVirtualMode(YieldControl.Mode.PASS));
        steps.add(() -> programAccounts.set("off"));
        steps.add(accounts::remove);
        if (events != null) steps.add(events::remove);
        if (summary != null) steps.add(summary::stop);
        if (bean != null) steps.add(bean::remove);
        if (reportWriter != null) steps.add(reportWriter::remove);
        if (!isEnabled()) steps.add(this::switchClocksOn);
        events = null;
        summary = null;
        requestedOptions = Options.NONE;
        isInstalled = false;
        isDetached = true;
        optionsBeforeKillSwitch = null;
        unavailable.clear();
        runAll(steps);
    }

    /** Runs all steps, and throws at the end if any of them failed. */
    private void runAll(List<Step> steps) throws FeatureException {
        List<String> failures = new ArrayList<>();
        for (Step step : steps) {
            try {
                step.run();
            } catch (FeatureException e) {
                failures.add(e.getMessage());
            } catch (RuntimeException | Error e) {
                failures.add(e.toString());
            }
        }
        publish();
        if (!failures.isEmpty()) throw new FeatureException(String.join("; ", failures));
    }

    // ---- the kill switch

    synchronized boolean isEnabled() {
        return optionsBeforeKillSwitch == null;
    }

    /** Turns the kill switch on or off. While it is on, all copies of the clock in this process use system calls. */
    synchronized void setEnabled(boolean enabled) throws FeatureException {
        if (enabled == isEnabled()) return;
        if (enabled) {
            Options restored = optionsBeforeKillSwitch;
            optionsBeforeKillSwitch = null;
            runAll(List.of(
                    this::switchClocksOn,
                    () -> installOrRestore(Options.THREADMXBEAN, restored),
                    () -> installOrRestore(Options.YIELD, restored),
                    () -> installOrRestore(Options.VTHREADS, restored),
                    () -> installOrRestore(Options.ACCOUNTS, restored)));
        } else {
            optionsBeforeKillSwitch = currentOptions();
            runAll(List.of(
                    () -> hooks.selectBackend(BACKEND_OFF),
                    () -> setThreadTimes(false),
                    () -> yields.setMode(YieldControl.Mode.PASS),
                    () -> yields.setVirtualMode(YieldControl.Mode.PASS),
                    () -> programAccounts.set("off"),
                    accounts::remove));
        }
    }

    private void switchClocksOn() {
        hooks.selectBackend(BACKEND_ON);
        Backend.decided(); // has a backend selected again
    }

    /** Returns the options that the kill switch overrides. */
    private Options currentOptions() {
        Map<String, String> current = new TreeMap<>();
        current.put(Options.THREADMXBEAN, onOrOff(answersThreadTimes()));
        current.put(Options.VIRTUAL, answersVirtual ? "mxbean" : "spec");
        current.put(Options.VTHREADS, onOrOff(accounts.isInstalled()));
        current.put(Options.ACCOUNTS, programAccounts.state());
        current.put(Options.YIELD, yields.mode().toString());
        if (VirtualThreadPatch.isSupported())
            current.put(Options.VIRTUAL_YIELD, yields.virtualMode().toString());
        return new Options(false, current);
    }

    private static String onOrOff(boolean on) {
        return on ? "on" : "off";
    }

    // ---- for the bean, the report, and the summary

    static String version() {
        try (InputStream text = TaskClock.class.getResourceAsStream("version")) {
            return new String(text.readAllBytes(), StandardCharsets.UTF_8).trim();
        } catch (IOException e) {
            return "unknown";
        }
    }

    TaskClockHooks hooks() {
        return hooks;
    }

    YieldControl yields() {
        return yields;
    }

    VirtualAccounts accounts() {
        return accounts;
    }

    synchronized boolean answersThreadTimes() {
        return times != null && times.isInstalled();
    }

    String backend() {
        return isEnabled() ? Backend.decided().toString() : "mxbean";
    }

    synchronized Health health() {
        List<Health.Feature> features = new ArrayList<>();
        features.add(feature("enabled", onOrOff(isEnabled())));
        features.add(feature(Options.THREADMXBEAN, onOrOff(answersThreadTimes())));
        features.add(feature(Options.VTHREADS, onOrOff(accounts.isInstalled())));
        features.add(feature(Options.YIELD, yields.mode().toString()));
        features.add(feature(Options.VIRTUAL_YIELD, yields.virtualMode().toString()));
        features.add(feature(Options.BEAN, bean == null ? "off" : bean.mode()));
        features.add(feature(Options.ACCOUNTS, programAccounts.state()));
        features.add(feature(Options.RSEQ_TAKE, onOrOff(takesAreas)));
        features.add(feature(Options.JFR, onOrOff(events != null)));
        features.add(feature(Options.SUMMARY, onOrOff(summary != null)));
        addThreadContext(features);
        for (String name : unavailable.keySet()) {
            if (features.stream().noneMatch(feature -> feature.getName().equals(name)))
                features.add(feature(name, "off"));
        }
        int failures = hooks.failures() + watchdog.failures();
        long memory = yields.memoryBytes() + accounts.memoryBytes();
        return new Health(features, accounts.mounts(), yields.stacks(), failures, lastFailure(), memory);
    }

    /** Adds whether contexts of threads are published, if the program asks for it. */
    private static void addThreadContext(List<Health.Feature> features) {
        String state = ThreadContext.state();
        if (state.equals("off")) return;
        String[] parts = state.split(": ", 2);
        features.add(new Health.Feature(THREAD_CONTEXT, parts[0], parts.length > 1 ? parts[1] : null));
    }

    private String lastFailure() {
        Class<?> type = watchdog.lastFailure();
        String ofWatchdog = type == null ? null : "watchdog: " + type.getName();
        return Health.newer(hooks.lastFailure(), hooks.failedAt(), ofWatchdog, watchdog.failedAt());
    }

    private Health.Feature feature(String name, String state) {
        return new Health.Feature(name, state, unavailable.get(name));
    }

    private void publish() {
        System.setProperty(Agent.STATE_PROPERTY, state());
    }

    /** Returns the state as text. While a program starts, it omits the backend, because selecting one takes time. */
    private synchronized String state() {
        StringBuilder state = new StringBuilder("version=" + version());
        if (isProgramRunning) state.append(",backend=").append(backend());
        state.append(",threadmxbean=").append(onOrOff(answersThreadTimes()));
        state.append(",yield=").append(yields.mode());
        state.append(",vthreads=").append(onOrOff(accounts.isInstalled()));
        if (yields.virtualMode() != YieldControl.Mode.PASS)
            state.append(",virtual-yield=").append(yields.virtualMode());
        if (!programAccounts.state().equals("off")) state.append(",accounts=").append(programAccounts.state());
        if (!isEnabled()) state.append(",enabled=off");
        for (Map.Entry<String, String> feature : unavailable.entrySet()) {
            state.append("; unavailable: ")
                    .append(feature.getKey())
                    .append(": ")
                    .append(feature.getValue());
        }
        if (isDetached) state.append("; detached");
        return state.toString();
    }
}
