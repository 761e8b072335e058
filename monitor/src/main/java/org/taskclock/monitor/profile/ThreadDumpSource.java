// SPDX-License-Identifier: Apache-2.0
// Copyright the TaskClock authors
package org.taskclock.monitor.profile;

import java.io.IOException;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.taskclock.monitor.attach.AttachClient;
import org.taskclock.monitor.attach.ThreadDump;
import org.taskclock.monitor.usage.DaemonThread;

/**
 * Takes thread dumps, and attributes the CPU time that each running thread has used since the previous dump to its
 * current stack. Every dump stops all threads at a safepoint.
 */
final class ThreadDumpSource implements StackSource {
    private static final long TIMEOUT_MILLIS = 4_000;
    private static final long MIN_PAUSE_MILLIS = 100;
    /** Limits the time spent in dumps to a twentieth. */
    private static final long PAUSE_FACTOR = 19;

    private static final Pattern CPU = Pattern.compile(" cpu=(\\d{1,12})\\.(\\d\\d)ms ");

    private final long pid;
    private final AttachClient jvm;
    private final boolean lines;
    private final List<Sample> samples = new ArrayList<>();
    private final Map<Integer, Long> cpuNanos = new HashMap<>();
    private DaemonThread thread;
    private int dumps;
    private IOException failure;
    private volatile boolean stopped;

    ThreadDumpSource(long pid, AttachClient jvm, boolean lines) {
        this.pid = pid;
        this.jvm = jvm;
        this.lines = lines;
    }

    @Override
    public String description() {
        return "thread dumps";
    }

    @Override
    public long periodNanos() {
        return 0;
    }

    @Override
    public List<String> notes() {
        return List.of("safepoint bias: thread dumps stop threads only at safepoints, so time in a loop or an inlined"
                + " method may be reported for its caller");
    }

    @Override
    public boolean samplesJvmThreads() {
        return false;
    }

    @Override
    public void start() throws IOException {
        add(dump());
        samples.clear();
        if (cpuNanos.isEmpty())
            throw new ProfileException("process " + pid + ": its thread dumps do not contain CPU times");
        thread = new DaemonThread(this::run, "taskclock-dumps");
        thread.start();
    }

    private void run() {
        long pauseMillis = MIN_PAUSE_MILLIS;
        try {
            while (true) {
                Thread.sleep(pauseMillis);
                if (stopped) return;
                long start = System.nanoTime();
                add(dump());
                long nanos = System.nanoTime() - start;
                pauseMillis = Math.max(MIN_PAUSE_MILLIS, PAUSE_FACTOR * nanos / 1_000_000);
            }
        } catch (IOException e) {
            if (stopped) return; // abort() has interrupted the request
            synchronized (this) {
                failure = e;
            }
        } catch (InterruptedException e) {
            // stopped
        }
    }

    private ThreadDump dump() throws IOException {
        return jvm.threadDump(TIMEOUT_MILLIS, tid -> true, true);
    }

    private synchronized void add(ThreadDump dump) {
        dumps++;
        for (ThreadDump.Entry entry : dump.all()) {
            Matcher cpu = CPU.matcher(entry.text());
            if (entry.javaId() == 0 || !cpu.find()) continue;
            long nanos = Long.parseLong(cpu.group(1)) * 1_000_000 + Long.parseLong(cpu.group(2)) * 10_000;
            Long before = cpuNanos.put(entry.tid(), nanos);
            long used = before == null ? 0 : nanos - before;
            // A thread that is waiting now has used the time elsewhere.
            if (used <= 0 || !isRunning(entry.text())) continue;
            List<String> frames =
                    entry.frames(lines).stream().map(frame -> frame + "_[j]").toList();
            // The compilers and the attach listener have no Java frames.
            if (!frames.isEmpty()) samples.add(new Sample(entry.name(), entry.tid(), entry.javaId(), frames, 1, used));
        }
    }

    /** A carrier of a virtual thread has no state. */
    private static boolean isRunning(String entry) {
        return entry.contains("java.lang.Thread.State: RUNNABLE") || entry.contains("Carrying virtual thread #");
    }

    @Override
    public List<Sample> stop() throws IOException {
        abort();
        synchronized (this) {
            if (failure != null && dumps == 1) throw failure;
            return List.copyOf(samples);
        }
    }

    @Override
    public void abort() {
        stopped = true;
        if (thread == null) return;
        thread.end(TIMEOUT_MILLIS);
    }
}
