// SPDX-License-Identifier: Apache-2.0
// Copyright the TaskClock authors
package org.taskclock.agent;

import java.io.IOException;
import java.io.InputStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.function.BiFunction;
import org.taskclock.Rung;
import org.taskclock.TaskClock;

/** What is installed in this JVM, once. All changes come through here, one at a time. */
public final class Agency implements BiFunction<String, Boolean, String> {
    /** A change that may be refused. */
    interface Step {
        void run() throws Refused;
    }

    static {
        AgentLoader loader = (AgentLoader) Agency.class.getClassLoader();
        loader.agency = new Agency(loader);
    }

    private static final String NO_VIRTUAL_THREADS = "this JDK has no virtual threads, which came with 21";

    private final AgentLoader loader;

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

    /** All that was asked for since the start, or since we were last detached: the latest word on each. */
    private Options told = Options.NONE;

    /** What the kill switch took away and gives back; null while it is not thrown. */
    private Options before;

    /** Parts that were wanted and could not be had, with the reason. */
    private final List<String> leftOut = new ArrayList<>();

    private Agency(AgentLoader loader) {
        this.loader = loader;
    }

    /** What {@link Agent} calls. Returns what is installed now, in words; an IllegalArgumentException says why nothing is. */
    @Override
    public synchronized String apply(String text, Boolean running) {
        Options options = Options.parse(text);
        if (hooks == null && options.detach()) return "detached";
        try {
            if (hooks == null) {
                hooks = Hooks.install(loader);
                VirtualThreads virtual = new VirtualThreads(loader.jvm, hooks, running);
                yields = new Yields(hooks, virtual);
                accounts = new VirtualAccounts(loader.jvm, hooks, virtual);
            }
            if (options.detach()) {
                detach();
                return state(running) + "; detached";
            }
            install(options, running);
        } catch (Refused e) {
            throw new IllegalArgumentException(e.getMessage(), e);
        }
        return state(running);
    }

    private void install(Options options, boolean running) throws Refused {
        if (!isEnabled())
            throw new Refused("the kill switch is thrown: set the bean's Enabled to true, or detach, first");
        leftOut.clear();
        if (options.given().containsKey(Options.VIRTUAL) && !VirtualThreads.exist()) {
            leftOut.add(Options.VIRTUAL + ": " + NO_VIRTUAL_THREADS);
        }
        for (String part : Options.PARTS) {
            // Where something was not asked for, that it cannot be had is not worth a line.
            if (part.equals(Options.ACCOUNTS)
                    && !VirtualThreads.exist()
                    && !options.given().containsKey(part)) continue;
            try {
                install(part, options.over(told), running);
            } catch (Refused e) {
                leftOut.add(part + ": " + e.getMessage());
            } catch (RuntimeException | LinkageError e) {
                leftOut.add(part + ": " + e);
            }
        }
        try {
            if (report == null) report = new Report(this, hooks);
            report.install(loader);
        } catch (Refused e) {
            leftOut.add("report: " + e.getMessage());
        }
        told = options.over(told);
        for (String part : leftOut) System.err.println("taskclock: agent: left out: " + part);
    }

    /** What the bean was told. */
    synchronized void choose(String part, String value) throws Refused {
        if (!isEnabled()) throw new Refused("the kill switch is thrown: set Enabled to true first");
        Options choice = new Options(false, Map.of(part, value));
        install(part, choice.over(told), true);
        told = choice.over(told);
    }

    private void install(String part, Options options, boolean running) throws Refused {
        switch (part) {
            case Options.ACCOUNTS -> setAccounts(options.isOn(part));
            case Options.TIMES -> {
                answersVirtual = options.get(Options.VIRTUAL, "spec").equals("mxbean");
                setThreadTimes(options.isOn(part));
            }
            case Options.YIELD -> setYieldMode(Yields.Mode.of(options.get(part, "pass")));
            case Options.MANAGEMENT -> setManagement(options.isOn(part), running);
            case Options.RECORDER -> setRecorder(options.isOn(part));
            case Options.SUMMARY -> setSummary(options.given().get(part));
            default -> throw new IllegalStateException(part);
        }
    }

    private void setAccounts(boolean wanted) throws Refused {
        if (!wanted) accounts.remove();
        else if (VirtualThreads.exist()) accounts.install();
        else throw new Refused(NO_VIRTUAL_THREADS);
    }

    private void setManagement(boolean wanted, boolean running) throws Refused {
        if (management == null) management = new Management(this, hooks);
        if (wanted) management.install(loader.jvm, running);
        else management.remove();
    }

    private void setRecorder(boolean wanted) {
        if (wanted == (recorder != null)
                || ModuleLayer.boot().findModule("jdk.jfr").isEmpty()) return;
        if (wanted) {
            recorder = new Recorder(yields, accounts);
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

    synchronized void detach() throws Refused {
        if (times != null) times.remove();
        yields.change(Yields.Mode.PASS);
        accounts.remove();
        if (recorder != null) recorder.remove();
        recorder = null;
        if (summary != null) summary.stop();
        summary = null;
        if (management != null) management.remove();
        if (report != null) report.remove();
        told = Options.NONE;
        if (!isEnabled()) hooks.call("selectRung", number(Rung.decided()));
        before = null;
    }

    // ---- for the bean

    static String version() {
        try (InputStream text = TaskClock.class.getResourceAsStream("version")) {
            return new String(text.readAllBytes(), StandardCharsets.UTF_8).trim();
        } catch (IOException e) {
            return "unknown";
        }
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

    synchronized void setThreadTimes(boolean wanted) throws Refused {
        if (wanted) {
            if (times == null) times = new ThreadTimes(hooks, loader.jvm);
            times.install(answersVirtual);
        } else if (times != null) {
            times.remove();
        }
    }

    synchronized void setYieldMode(Yields.Mode mode) throws Refused {
        yields.change(mode);
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
            hooks.call("selectRung", number(Rung.decided()));
            setThreadTimes(wanted.isOn(Options.TIMES));
            yields.change(Yields.Mode.of(wanted.get(Options.YIELD, "pass")));
            if (wanted.isOn(Options.ACCOUNTS)) accounts.install();
        } else {
            before = Options.parse(Options.TIMES + (answersThreadTimes() ? "=on," : "=off,") + Options.ACCOUNTS
                    + (accounts.isInstalled() ? "=on," : "=off,") + Options.YIELD + "=" + yields.mode());
            setThreadTimes(false);
            yields.change(Yields.Mode.PASS);
            accounts.remove();
            hooks.call("selectRung", number(Rung.SYSCALL));
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

    /** At the start of a program nobody waits until the rung is decided; the bean has it later. */
    private synchronized String state(boolean running) {
        StringBuilder state = new StringBuilder("version=" + version());
        if (running) state.append(",rung=").append(rung());
        state.append(",threadmxbean=").append(answersThreadTimes() ? "on" : "off");
        state.append(",yield=").append(yields.mode());
        state.append(",vthreads=").append(accounts.isInstalled() ? "on" : "off");
        for (String part : leftOut) state.append("; left out: ").append(part);
        return state.toString();
    }
}
