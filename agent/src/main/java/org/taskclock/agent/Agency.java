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
import org.taskclock.Rung;
import org.taskclock.TaskClock;

/**
 * What is installed in this JVM, once. All changes come through here, one at a time.
 *
 * <p>What runs before the program does without lambdas, each of which costs a start a millisecond.
 */
public final class Agency implements BiFunction<String, Boolean, String>, BiConsumer<Class<?>, String>, Runnable {
    /** A change that may be refused. */
    interface Step {
        void run() throws Refused;
    }

    static {
        new Agency((AgentLoader) Agency.class.getClassLoader());
    }

    private static final String NO_VIRTUAL_THREADS = "this JDK has no virtual threads, which came with 21";

    /** System property with the present state, for tools that attach. */
    private static final String STATE_PROPERTY = "taskclock.agent";

    private final AgentLoader loader;
    private final Instrumentation jvm;
    private final Watchdog watchdog = new Watchdog();

    // Null before the first use.
    private Hooks hooks;
    private Yields yields;
    private VirtualAccounts accounts;

    // Null where they could not be had, or were not wanted yet.
    private ThreadTimes times;
    private Management management;
    private Report report;
    private Recorder recorder;
    private Summary summary;

    private boolean answersVirtual;

    /** Whether the program runs by now, or waits for us. */
    private boolean running;

    /** All that was asked for since the start, or since we were last detached: the latest word on each. */
    private Options told = Options.NONE;

    private boolean isInstalled;

    /** Whether all was put back, so that tools take the agent for absent. */
    private boolean isDetached;

    /** What the kill switch took away and gives back; null while it is not thrown. */
    private Options before;

    /** Parts that were wanted and could not be had, with the reason. */
    private final Map<String, String> leftOut = new TreeMap<>();

    private Agency(AgentLoader loader) {
        this.loader = loader;
        this.jvm = loader.connect(this, this);
    }

    /** Loads a native library for a class of ours. */
    @Override
    public void accept(Class<?> owner, String path) {
        hooks.accept(owner, path);
    }

    /** What {@link Agent} calls. Returns what is installed now, in words; an IllegalArgumentException says why nothing is. */
    @Override
    public synchronized String apply(String text, Boolean running) {
        try {
            Options options = Options.parse(text);
            if (yields == null && options.detach()) return "detached";
            this.running = running;
            if (yields == null) start();
            if (options.detach()) {
                detach();
                return state();
            }
            install(options);
            return state();
        } catch (Refused | IllegalArgumentException e) {
            if (yields == null) throw new IllegalArgumentException(e.getMessage(), e);
            System.err.println("taskclock: agent: " + e.getMessage());
            return "failed: " + e.getMessage() + "; still " + state();
        }
    }

    private void start() throws Refused {
        if (hooks == null) hooks = Hooks.define(jvm);
        hooks.connect(loader);
        VirtualThreads virtual = new VirtualThreads(jvm, hooks, watchdog, this);
        accounts = new VirtualAccounts(jvm, hooks, virtual);
        yields = new Yields(hooks, virtual);
    }

    private void install(Options options) throws Refused {
        if (!isEnabled())
            throw new Refused("the kill switch is thrown: set the bean's Enabled to true, or detach, first");
        leftOut.clear();
        if (options.given().containsKey(Options.VIRTUAL) && !VirtualThreads.exist()) {
            leaveOut(Options.VIRTUAL, NO_VIRTUAL_THREADS);
        }
        Options all = options.over(told);
        for (String part : Options.PARTS) {
            // Where something was not asked for, that it cannot be had is not worth a line.
            if (part.equals(Options.ACCOUNTS)
                    && !VirtualThreads.exist()
                    && !options.given().containsKey(part)) continue;
            try {
                install(part, all);
            } catch (Refused e) {
                leaveOut(part, e.getMessage());
            } catch (RuntimeException | LinkageError e) {
                leaveOut(part, e.toString());
            }
        }
        told = all;
        isInstalled = true;
        isDetached = false;
        if (running) installRest();
        else watchdog.submit(this);
    }

    /** On the watchdog's thread: what nobody needs at once does not delay the start of the program. */
    @Override
    public synchronized void run() {
        if (!isInstalled) return; // detached meanwhile
        installRest();
        running = true;
        publish();
    }

    private void installRest() {
        if (!running) tryTo(Options.BEAN, () -> setBean(told.get(Options.BEAN, "on")));
        tryTo("report", this::setReport);
        tryTo(Options.RECORDER, () -> setRecorder(told.isOn(Options.RECORDER)));
        if (!running) tryTo(Options.TIMES, this::correctThreadTimes);
    }

    private void tryTo(String part, Step step) {
        try {
            step.run();
        } catch (Refused e) {
            leaveOut(part, e.getMessage());
        } catch (RuntimeException | LinkageError e) {
            leaveOut(part, e.toString());
        }
    }

    /** Reports that a part does not do what it was asked to. Any thread may call this that holds no lock of a part. */
    synchronized void leaveOut(String part, String reason) {
        if (leftOut.put(part, reason) == null) {
            System.err.println("taskclock: agent: left out: " + part + ": " + reason);
        }
        publish();
    }

    /** Called on the watchdog's thread. */
    void lost(VirtualThreads.Use use, String reason) {
        synchronized (this) {
            if (use == VirtualThreads.Use.MOUNTS) hooks.call("setAccounting", false);
            else tryTo(Options.VIRTUAL_YIELD, () -> yields.changeVirtual(Yields.Mode.PASS));
        }
        leaveOut(use.part(), reason);
    }

    /** What the bean was told. */
    synchronized void choose(String part, String value) throws Refused {
        if (!isEnabled()) throw new Refused("the kill switch is thrown: set Enabled to true first");
        Options choice = new Options(false, Map.of(part, value)).over(told);
        try {
            install(part.equals(Options.VIRTUAL_YIELD) ? Options.YIELD : part, choice);
            leftOut.remove(part);
            told = choice;
        } finally {
            publish();
        }
    }

    private void install(String part, Options options) throws Refused {
        switch (part) {
            case Options.ACCOUNTS -> setAccounts(options.isOn(part));
            case Options.TIMES -> {
                answersVirtual = options.get(Options.VIRTUAL, "spec").equals("mxbean");
                setThreadTimes(options.isOn(part));
            }
            case Options.YIELD -> setYields(options);
            case Options.BEAN -> {
                if (running) setBean(options.get(part, "on"));
            }
            case Options.RECORDER -> {} // with the rest
            case Options.SUMMARY -> setSummary(options.given().get(part));
            default -> throw new IllegalStateException(part);
        }
    }

    private void setAccounts(boolean wanted) throws Refused {
        if (!wanted) accounts.remove();
        else if (VirtualThreads.exist()) accounts.install();
        else throw new Refused(NO_VIRTUAL_THREADS);
    }

    private void setYields(Options options) throws Refused {
        yields.change(Yields.Mode.of(options.get(Options.YIELD, "pass")));
        if (VirtualThreads.exist()) {
            yields.changeVirtual(Yields.Mode.of(options.virtualYield()));
        } else if (options.given().containsKey(Options.VIRTUAL_YIELD)) {
            throw new Refused(NO_VIRTUAL_THREADS);
        }
    }

    private void setBean(String mode) throws Refused {
        if (mode.equals("off")) {
            if (management != null) management.remove();
            return;
        }
        if (management == null) management = new Management(this, hooks, watchdog);
        management.install(jvm, mode.equals("read"));
    }

    private void setReport() throws Refused {
        if (report == null) report = new Report(this, hooks);
        report.install(jvm);
    }

    private void setRecorder(boolean wanted) {
        if (wanted == (recorder != null)
                || ModuleLayer.boot().findModule("jdk.jfr").isEmpty()) return;
        if (wanted) {
            recorder = new Recorder(hooks, yields, accounts);
            recorder.install();
        } else {
            recorder.remove();
            recorder = null;
        }
    }

    private void setSummary(String folder) throws Refused {
        if (summary != null || folder == null) return;
        Summary wanted = new Summary(this, Path.of(folder));
        wanted.start();
        summary = wanted;
    }

    private void correctThreadTimes() throws Refused {
        if (times != null) times.correct();
    }

    /** Puts everything back. Each step is done, also after one that failed. */
    synchronized void detach() throws Refused {
        List<Step> steps = new ArrayList<>();
        if (times != null) steps.add(times::remove);
        steps.add(() -> yields.change(Yields.Mode.PASS));
        steps.add(() -> yields.changeVirtual(Yields.Mode.PASS));
        steps.add(accounts::remove);
        if (recorder != null) steps.add(recorder::remove);
        if (summary != null) steps.add(summary::stop);
        if (management != null) steps.add(management::remove);
        if (report != null) steps.add(report::remove);
        if (!isEnabled()) steps.add(() -> hooks.call("selectRung", number(Rung.decided())));
        recorder = null;
        summary = null;
        told = Options.NONE;
        isInstalled = false;
        isDetached = true;
        before = null;
        leftOut.clear();
        runAll(steps);
    }

    /** Runs all steps, and refuses at the end if one of them failed. */
    private void runAll(List<Step> steps) throws Refused {
        List<String> failures = new ArrayList<>();
        for (Step step : steps) {
            try {
                step.run();
            } catch (Refused e) {
                failures.add(e.getMessage());
            } catch (RuntimeException | LinkageError e) {
                failures.add(e.toString());
            }
        }
        publish();
        if (!failures.isEmpty()) throw new Refused(String.join("; ", failures));
    }

    // ---- for the bean and the report

    static String version() {
        try (InputStream text = TaskClock.class.getResourceAsStream("version")) {
            return new String(text.readAllBytes(), StandardCharsets.UTF_8).trim();
        } catch (IOException e) {
            return "unknown";
        }
    }

    Hooks hooks() {
        return hooks;
    }

    Yields yields() {
        return yields;
    }

    VirtualAccounts accounts() {
        return accounts;
    }

    synchronized boolean answersThreadTimes() {
        return times != null && times.isInstalled();
    }

    private void setThreadTimes(boolean wanted) throws Refused {
        if (wanted) {
            if (times == null) times = new ThreadTimes(hooks, jvm);
            times.install(answersVirtual);
        } else if (times != null) {
            times.remove();
        }
    }

    synchronized boolean isEnabled() {
        return before == null;
    }

    /** The kill switch. The clocks of all copies of the library in this process go over to system calls. */
    synchronized void setEnabled(boolean enabled) throws Refused {
        if (enabled == isEnabled()) return;
        if (enabled) {
            Options wanted = before;
            before = null;
            runAll(List.of(
                    () -> hooks.call("selectRung", number(Rung.decided())),
                    () -> setThreadTimes(wanted.isOn(Options.TIMES)),
                    () -> setYields(wanted),
                    () -> {
                        if (wanted.isOn(Options.ACCOUNTS)) accounts.install();
                    }));
        } else {
            before = Options.parse(Options.TIMES + (answersThreadTimes() ? "=on," : "=off,") + Options.ACCOUNTS
                    + (accounts.isInstalled() ? "=on," : "=off,") + Options.YIELD + "=" + yields.mode() + ","
                    + (VirtualThreads.exist()
                            ? Options.VIRTUAL_YIELD + "=" + yields.virtualMode()
                            : Options.BEAN + "=on"));
            runAll(List.of(
                    () -> setThreadTimes(false),
                    () -> yields.change(Yields.Mode.PASS),
                    () -> yields.changeVirtual(Yields.Mode.PASS),
                    accounts::remove,
                    () -> hooks.call("selectRung", number(Rung.SYSCALL))));
        }
    }

    /** By the numbers of taskclock.h. */
    private static int number(Rung rung) {
        return switch (rung) {
            case SYSCALL, MXBEAN -> 0;
            case RSEQ -> 1;
            case RSEQ_OWN -> 2;
        };
    }

    String rung() {
        return isEnabled() ? Rung.decided().toString() : "mxbean";
    }

    synchronized Health health() {
        List<Health.Part> parts = new ArrayList<>();
        parts.add(part("enabled", isEnabled() ? "on" : "off"));
        parts.add(part(Options.TIMES, answersThreadTimes() ? "on" : "off"));
        parts.add(part(Options.ACCOUNTS, accounts.isInstalled() ? "on" : "off"));
        parts.add(part(Options.YIELD, yields.mode().toString()));
        parts.add(part(Options.VIRTUAL_YIELD, yields.virtualMode().toString()));
        parts.add(part(Options.BEAN, management == null ? "off" : management.mode()));
        parts.add(part(Options.RECORDER, recorder == null ? "off" : "on"));
        parts.add(part(Options.SUMMARY, summary == null ? "off" : "on"));
        Object[] failed = (Object[]) hooks.call("health");
        int failures = (int) failed[0] + watchdog.failures();
        String last = null;
        if (failed[2] != null) last = failed[1] + ": " + ((Class<?>) failed[2]).getName();
        else if (watchdog.lastFailure() != null)
            last = "watchdog: " + watchdog.lastFailure().getName();
        long memory = yields.memoryBytes() + accounts.memoryBytes();
        return new Health(parts, accounts.mounts(), yields.stacks(), failures, last, memory);
    }

    private Health.Part part(String name, String state) {
        return new Health.Part(name, state, leftOut.get(name));
    }

    private void publish() {
        System.setProperty(STATE_PROPERTY, state());
    }

    /** At the start of a program nobody waits until the rung is decided; the bean has it later. */
    private synchronized String state() {
        StringBuilder state = new StringBuilder("version=" + version());
        if (running) state.append(",rung=").append(rung());
        state.append(",threadmxbean=").append(answersThreadTimes() ? "on" : "off");
        state.append(",yield=").append(yields.mode());
        state.append(",vthreads=").append(accounts.isInstalled() ? "on" : "off");
        if (yields.virtualMode() != Yields.Mode.PASS)
            state.append(",virtual-yield=").append(yields.virtualMode());
        if (!isEnabled()) state.append(",enabled=off");
        leftOut.forEach((part, reason) ->
                state.append("; left out: ").append(part).append(": ").append(reason));
        if (isDetached) state.append("; detached");
        return state.toString();
    }
}
