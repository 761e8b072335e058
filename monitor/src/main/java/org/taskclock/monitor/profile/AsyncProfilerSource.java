// SPDX-License-Identifier: Apache-2.0
// Copyright the TaskClock authors
package org.taskclock.monitor.profile;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.taskclock.monitor.attach.AttachClient;
import org.taskclock.monitor.proc.TargetFiles;

/**
 * Samples with async-profiler's library, by the CPU time of each thread and without safepoint bias: with perf_events,
 * which see the kernel, or else with timers.
 */
final class AsyncProfilerSource implements StackSource {
    private static final long TIMEOUT_MILLIS = 20_000;

    /** Of its output. It is copied several times. */
    private static final int MAX_BYTES =
            (int) Math.min(256 << 20, Runtime.getRuntime().maxMemory() / 16);

    /**
     * The signals to choose from, from the upper range of real-time signals. async-profiler's default, SIGPROF, would
     * disable JFR's CPU-time sampler until the JVM exits, because the handler stays installed.
     */
    private static final int[] SIGNALS = {57, 56, 55, 54};

    private static final String LOG = ".log";
    private static final String JFR = ".jfr";
    private static final String CAUGHT = "SigCgt:";

    /**
     * A thread's frame, the first of each stack, and the number of samples. The name may contain anything, also the end
     * of a line, so numbers that are too large are not an error.
     */
    private static final Pattern THREAD =
            Pattern.compile("\\[(.*?) tid=([0-9]{1,9})\\](?:;(.*))? ([0-9]{1,9})", Pattern.DOTALL);

    /** Thrown if another session is running. */
    static final class BusyException extends ProfileException {
        private static final long serialVersionUID = 1;

        BusyException(String message) {
            super(message);
        }
    }

    private final long pid;
    private final AttachClient jvm;
    private final Path library;
    private final boolean wasLoaded;
    private final boolean lines;
    private final long periodNanos;
    private final long maxSeconds;
    private final String name;
    private boolean running;
    private boolean usesPerfEvents;

    /**
     * Prepares the library.
     *
     * @param library as this process sees it; ignored if the library is loaded
     * @param loaded the library that is loaded in the JVM, as the JVM sees it; null if there is none
     * @param lines whether frames have lines, which only its JFR recordings contain
     * @param maxSeconds when async-profiler stops by itself if this process is killed
     */
    AsyncProfilerSource(
            long pid, AttachClient jvm, Path library, Path loaded, boolean lines, long periodNanos, long maxSeconds)
            throws IOException {
        this.pid = pid;
        this.jvm = jvm;
        this.lines = lines;
        this.periodNanos = periodNanos;
        this.maxSeconds = maxSeconds;
        wasLoaded = loaded != null;
        this.library = wasLoaded ? loaded : library;
        name = ".taskclock_profile_" + ProcessHandle.current().pid() + "_" + System.nanoTime();
        if (!wasLoaded && !isVisible(pid, library)) {
            throw new ProfileException("process " + pid + " cannot see " + library
                    + ", as in a container: copy it to the same path there, or use --source jfr");
        }
    }

    private static boolean isVisible(long pid, Path library) throws IOException {
        return TargetFiles.of(pid).isSame(library);
    }

    @Override
    public synchronized String description() {
        return usesPerfEvents ? "async-profiler (perf_events)" : "async-profiler (ctimer)";
    }

    @Override
    public long periodNanos() {
        return periodNanos;
    }

    @Override
    public List<String> notes() {
        return List.of();
    }

    @Override
    public boolean samplesJvmThreads() {
        return true;
    }

    @Override
    public synchronized void start() throws IOException {
        try {
            if (wasLoaded) {
                String status = query("status");
                if (status.contains("is running")) throw alreadyRunning();
            }
            running = true;
            if (!PerfEvents.fitsLimitsOf(pid) || !startWithPerfEvents()) start("ctimer");
        } catch (ProfileException e) {
            running = false; // it has refused
            throw e;
        } finally {
            delete("", LOG);
        }
    }

    /** Returns false if nothing has started. If perf_events are not permitted, async-profiler uses a timer. */
    private boolean startWithPerfEvents() throws IOException {
        try {
            start("cpu");
        } catch (BusyException e) {
            throw e;
        } catch (ProfileException e) {
            return false;
        }
        usesPerfEvents = PerfEvents.areUsedBy(pid);
        return true;
    }

    private void start(String event) throws IOException {
        // Without a file, async-profiler would write to the program's standard output and error.
        execute("start,event=" + event + ",interval=" + periodNanos + ",signal=" + freeSignal() + ",threads,timeout="
                + maxSeconds + (lines ? ",jfr,file=/tmp/" + name + JFR : ",file=/tmp/" + name) + ",log=/tmp/" + name
                + LOG);
    }

    private BusyException alreadyRunning() {
        return new BusyException("process " + pid + ": async-profiler is already profiling this JVM: wait until it has"
                + " stopped, or use --source jfr");
    }

    private int freeSignal() throws IOException {
        long caught = 0;
        for (String line : Files.readAllLines(Path.of("/proc/" + pid + "/status"), StandardCharsets.ISO_8859_1))
            if (line.startsWith(CAUGHT))
                caught = Long.parseUnsignedLong(line.substring(CAUGHT.length()).strip(), 16);
        // If async-profiler is loaded, an earlier profile has installed the handler.
        for (int signal : SIGNALS) if (wasLoaded || (caught >>> (signal - 1) & 1) == 0) return signal;
        return SIGNALS[0];
    }

    /** Executes a command whose output goes to the file, and returns the output. */
    private String query(String command) throws IOException {
        execute(command + ",file=/tmp/" + name + ",loglevel=none");
        return output(name);
    }

    /** Returns the content of a file that async-profiler has written; empty if there is none. */
    private String output(String file) throws IOException {
        String path = TargetFiles.TMP + file;
        if (!jvm.files().exists(path)) return "";
        return new String(jvm.files().read(path, MAX_BYTES), StandardCharsets.UTF_8);
    }

    private void execute(String command) throws IOException {
        String reply = jvm.execute(TIMEOUT_MILLIS, "load", library.toString(), "true", command)
                .strip();
        if (reply.equals("return code: 0") || reply.equals("0")) return;
        String reason = output(name + LOG).strip();
        if (reason.contains("already started")) throw alreadyRunning();
        if (reason.isEmpty()) reason = reply;
        throw new ProfileException("process " + pid + ": async-profiler failed: "
                + reason.lines().findFirst().orElse("no reply") + ": use --source jfr");
    }

    @Override
    public synchronized List<Sample> stop() throws IOException {
        if (!running) throw new ProfileException("process " + pid + ": the profile was interrupted");
        try {
            String collapsed = "";
            if (lines) execute("stop,file=/tmp/" + name + JFR + ",loglevel=none");
            else collapsed = query("stop,collapsed,threads,ann,dot,norm");
            running = false; // otherwise, abort() tries again
            return lines
                    ? JfrSamples.read(jvm.files(), TargetFiles.TMP + name + JFR, false, true, periodNanos)
                    : parse(collapsed, periodNanos);
        } finally {
            delete("", LOG, JFR);
        }
    }

    static List<Sample> parse(String collapsed, long periodNanos) {
        List<Sample> samples = new ArrayList<>();
        for (String line : collapsed.split("\n", -1)) {
            Matcher parts = THREAD.matcher(line);
            if (!parts.matches()) continue;
            long count = Long.parseLong(parts.group(4));
            List<String> frames =
                    parts.group(3) == null ? List.of() : List.of(parts.group(3).split(";", -1));
            int tid = Integer.parseInt(parts.group(2));
            samples.add(new Sample(parts.group(1), tid, 0, frames, count, count * periodNanos));
        }
        return samples;
    }

    @Override
    public synchronized void abort() {
        if (!running) return;
        running = false;
        try {
            execute("stop,file=/tmp/" + name + ",loglevel=none");
        } catch (IOException e) {
            // The JVM has exited or hangs. Otherwise, async-profiler stops after its timeout.
        } finally {
            delete("", LOG, JFR);
        }
    }

    private void delete(String... suffixes) {
        for (String suffix : suffixes) {
            try {
                jvm.files().deleteIfExists(TargetFiles.TMP + name + suffix);
            } catch (IOException e) {
                // A container's file system disappears with its processes.
            }
        }
    }
}
