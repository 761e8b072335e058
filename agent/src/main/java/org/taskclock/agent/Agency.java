// SPDX-License-Identifier: Apache-2.0
// Copyright the TaskClock authors
package org.taskclock.agent;

import java.io.IOException;
import java.io.InputStream;
import java.lang.instrument.Instrumentation;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import org.taskclock.Rung;
import org.taskclock.TaskClock;

/** What is installed in this JVM, once. All changes come through here, one at a time. */
public final class Agency {
    /** A change that may be refused. */
    interface Step {
        void run() throws Refused;
    }

    private static Agency instance;

    private final Instrumentation jvm;
    private final Hooks hooks;
    private final Yields yields;
    /** Null where it could not be had, or was not wanted yet. */
    private ThreadTimes times;

    private Management management;
    private Recorder recorder;

    /** What the kill switch took away and gives back; null while it is not thrown. */
    private Options before;

    /** Parts that were wanted and could not be had, with the reason. */
    private final List<String> leftOut = new ArrayList<>();

    private Agency(Instrumentation jvm) throws Refused {
        this.jvm = jvm;
        this.hooks = Hooks.install(jvm);
        this.yields = new Yields(hooks, jvm);
    }

    /** What {@link Agent} calls. Returns what is installed now, in words; an IllegalArgumentException says why nothing is. */
    public static synchronized String apply(String text, Instrumentation jvm, boolean running) {
        Options options = Options.parse(text);
        if (instance == null && options.detach()) return "detached";
        try {
            if (instance == null) instance = new Agency(jvm);
            if (options.detach()) instance.detach();
            else instance.install(options, running);
        } catch (Refused e) {
            throw new IllegalArgumentException(e.getMessage(), e);
        }
        return instance.state();
    }

    private synchronized void install(Options options, boolean running) {
        leftOut.clear();
        part(Options.TIMES, () -> setThreadTimes(options.isOn(Options.TIMES)));
        part(
                Options.YIELD,
                () -> yields.change(
                        Yields.Mode.of(options.get(Options.YIELD, yields.mode().toString()))));
        part(Options.MANAGEMENT, () -> {
            if (management == null) management = new Management(this, hooks);
            if (options.isOn(Options.MANAGEMENT)) management.install(jvm, running);
            else management.remove();
        });
        part(Options.RECORDER, () -> {
            boolean wanted = options.isOn(Options.RECORDER);
            if (wanted == (recorder != null) || !hasRecorder()) return;
            if (wanted) {
                recorder = new Recorder(yields);
                recorder.install();
            } else {
                recorder.remove();
                recorder = null;
            }
        });
        for (String part : leftOut) System.err.println("taskclock: agent: left out: " + part);
    }

    private static boolean hasRecorder() {
        return ModuleLayer.boot().findModule("jdk.jfr").isPresent();
    }

    private void part(String name, Step step) {
        try {
            step.run();
        } catch (Refused e) {
            leftOut.add(name + ": " + e.getMessage());
        } catch (RuntimeException | LinkageError e) {
            leftOut.add(name + ": " + e);
        }
    }

    synchronized void detach() throws Refused {
        if (times != null) times.remove();
        yields.change(Yields.Mode.PASS);
        if (recorder != null) recorder.remove();
        recorder = null;
        if (management != null) management.remove();
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

    synchronized boolean answersThreadTimes() {
        return times != null && times.isInstalled();
    }

    synchronized void setThreadTimes(boolean wanted) throws Refused {
        if (wanted) {
            if (times == null) times = new ThreadTimes(hooks, jvm);
            times.install();
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
            hooks.call("selectRung", number(hooks.rung()));
            setThreadTimes(wanted.isOn(Options.TIMES));
            yields.change(Yields.Mode.of(wanted.get(Options.YIELD, "pass")));
        } else {
            before = Options.parse(
                    Options.TIMES + (answersThreadTimes() ? "=on," : "=off,") + Options.YIELD + "=" + yields.mode());
            setThreadTimes(false);
            yields.change(Yields.Mode.PASS);
            hooks.call("selectRung", number(Rung.SYSCALL));
        }
    }

    /** By the numbers of taskclock.h. */
    private static int number(Rung rung) {
        return switch (rung) {
            case RSEQ -> 0;
            case RSEQ_OWN -> 1;
            case SYSCALL, MXBEAN -> 2;
        };
    }

    String rung() {
        return isEnabled() ? hooks.rung().toString() : "mxbean";
    }

    private synchronized String state() {
        StringBuilder state = new StringBuilder("version=" + version());
        state.append(",rung=").append(rung());
        state.append(",threadmxbean=").append(answersThreadTimes() ? "on" : "off");
        state.append(",yield=").append(yields.mode());
        for (String part : leftOut) state.append("; left out: ").append(part);
        return state.toString();
    }
}
