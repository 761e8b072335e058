// SPDX-License-Identifier: Apache-2.0
// Copyright the TaskClock authors
package org.taskclock.monitor.profile;

import java.io.IOException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.function.Predicate;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.taskclock.ProcStat;
import org.taskclock.monitor.attach.AttachClient;
import org.taskclock.monitor.proc.JvmProcesses;
import org.taskclock.monitor.proc.MonitorException;
import org.taskclock.monitor.sampling.Interval;
import org.taskclock.monitor.sampling.Sampler;
import org.taskclock.monitor.usage.ThreadUsage;

/** Profiles threads of a running JVM: samples their stacks, and measures their CPU time in the same interval. */
public final class Profiler {
    public static final Duration DEFAULT_PERIOD = Duration.ofMillis(10);

    /** If this process is killed, sampling in the JVM ends by itself after the duration and this time. */
    private static final long GRACE_SECONDS = 60;

    private static final long TIMEOUT_MILLIS = 10_000;

    private static final Pattern VERSION = Pattern.compile("(?m)^JDK (\\d+)");

    /** The time between two checks whether the JVM is alive. */
    private static final Duration STEP = Duration.ofMillis(200);

    /**
     * What to do.
     *
     * @param library the path of async-profiler's library or its folder; null to look for it
     * @param periodNanos the CPU time between two samples
     * @param lines whether frames have lines
     */
    public record Settings(
            ProfileSelection selection,
            ProfileSource source,
            Path library,
            Duration duration,
            long periodNanos,
            boolean lines) {}

    private final long pid;
    private final Settings settings;
    private final AttachClient jvm;
    private int feature;
    /** Stops the source if this process is terminated. */
    private Thread hook;

    private final List<String> notes = new ArrayList<>();

    private Profiler(long pid, Settings settings) {
        this.pid = pid;
        this.settings = settings;
        jvm = AttachClient.of(pid);
    }

    /**
     * Profiles a JVM. Afterward, also if this process is terminated by a signal, sampling in the JVM has stopped and
     * its temporary files are deleted.
     *
     * @param sleep waits for the given time, or returns false early if the profile should end now
     * @throws MonitorException if the JVM has exited or cannot be accessed
     * @throws ProfileException if no source works
     */
    public static Profile run(long pid, Settings settings, Predicate<Duration> sleep) throws IOException {
        return new Profiler(pid, settings).run(sleep);
    }

    /** Returns the feature version of the JVM. Fails early, with the reason, if it cannot be attached to. */
    private int feature() throws IOException {
        try {
            Matcher version = VERSION.matcher(jvm.execute(TIMEOUT_MILLIS, "jcmd", "VM.version"));
            return version.find() ? Integer.parseInt(version.group(1)) : 0;
        } catch (IOException e) {
            throw explain(e);
        }
    }

    private Profile run(Predicate<Duration> sleep) throws IOException {
        JvmProcesses.check(pid);
        feature = feature();
        try (Sampler sampler = Sampler.of(pid)) {
            sampler.next();
            String threads = settings.selection.resolve(pid, sampler.next().threads());
            StackSource source = start();
            try {
                if (!source.samplesJvmThreads())
                    settings.selection.includeAllCarriers(sampler.next().threads());
                else sampler.next();
                sleep(sleep);
                Interval interval = sampler.next();
                List<StackSource.Sample> samples = source.stop();
                return profile(threads, interval, named(interval.threads(), sampler), source, samples);
            } catch (IOException e) {
                throw explain(e);
            } finally {
                source.abort();
                removeHook();
            }
        }
    }

    private void removeHook() {
        try {
            Runtime.getRuntime().removeShutdownHook(hook);
        } catch (IllegalStateException e) {
            // The hook is already running.
        }
    }

    private void sleep(Predicate<Duration> sleep) {
        long end = System.nanoTime() + settings.duration.toNanos();
        for (long left; (left = end - System.nanoTime()) > 0 && isAlive(); ) {
            Duration step = Duration.ofNanos(Math.min(left, STEP.toNanos()));
            if (!sleep.test(step)) return;
        }
    }

    private boolean isAlive() {
        ProcStat stat = ProcStat.read("/proc/" + pid + "/stat");
        return stat != null && stat.state() != 'Z' && stat.state() != 'X';
    }

    /** Starts the requested source, or the best one that works. */
    private StackSource start() throws IOException {
        return switch (settings.source) {
            case ASYNC_PROFILER -> start(asyncProfiler(library()));
            case JFR -> start(jfr());
            case STACKS -> start(dumps());
            case AUTO -> startBest();
        };
    }

    private StackSource startBest() throws IOException {
        Path library = library();
        boolean isRequired = settings.library != null;
        if (library != null || AsyncProfilerLibrary.loadedIn(pid) != null) {
            try {
                return start(asyncProfiler(library));
            } catch (AsyncProfilerSource.BusyException e) {
                throw e;
            } catch (ProfileException e) {
                if (isRequired) throw e;
                notes.add(e.getMessage());
            }
        } else {
            notes.add("async-profiler was not found; with it, profiles include native code");
        }
        requireJavaThreads();
        try {
            return start(jfr());
        } catch (ProfileException e) {
            notes.add(e.getMessage());
        }
        return start(dumps());
    }

    private Path library() throws ProfileException {
        return AsyncProfilerLibrary.find(settings.library);
    }

    private StackSource asyncProfiler(Path library) throws IOException {
        Path loaded = AsyncProfilerLibrary.loadedIn(pid);
        if (library == null && loaded == null) {
            throw new ProfileException(
                    "async-profiler was not found: give its path with --async-profiler, or use --source jfr");
        }
        return new AsyncProfilerSource(pid, jvm, library, loaded, settings.lines, settings.periodNanos, maxSeconds());
    }

    private StackSource jfr() throws ProfileException {
        requireJavaThreads();
        return new JfrSource(pid, jvm, feature, settings.lines, settings.periodNanos, maxSeconds());
    }

    private StackSource dumps() throws ProfileException {
        requireJavaThreads();
        return new ThreadDumpSource(pid, jvm, settings.lines);
    }

    private void requireJavaThreads() throws ProfileException {
        if (settings.selection.hasJavaThreads()) return;
        throw new ProfileException(
                "process " + pid + ": this is not a Java thread, and only async-profiler samples others:"
                        + " give its path with --async-profiler");
    }

    private long maxSeconds() {
        return settings.duration.toSeconds() + GRACE_SECONDS;
    }

    private StackSource start(StackSource source) throws IOException {
        hook = new Thread(source::abort, "taskclock-profile-end");
        try {
            Runtime.getRuntime().addShutdownHook(hook);
        } catch (IllegalStateException e) {
            throw new ProfileException("interrupted", e);
        }
        try {
            source.start();
            return source;
        } catch (IOException e) {
            source.abort();
            removeHook();
            throw explain(e);
        }
    }

    /** Adds the process to the message of a failed attach request. */
    private IOException explain(IOException e) {
        if (e instanceof ProfileException || e instanceof MonitorException) return e;
        if (!isAlive()) return new MonitorException(MonitorException.Reason.GONE, "process " + pid + " has exited");
        String message = String.valueOf(e.getMessage());
        if (message.contains("another user") || message.contains("Permission denied")) {
            return new MonitorException(
                    MonitorException.Reason.NOT_PERMITTED,
                    "process " + pid + " belongs to another user: run this as that user or root");
        }
        return new ProfileException("cannot attach to process " + pid + ": " + message, e);
    }

    /** Returns the threads with the names that have become known meanwhile. */
    private static List<ThreadUsage> named(List<ThreadUsage> threads, Sampler sampler) {
        Map<Integer, ThreadUsage> now = new HashMap<>();
        try {
            for (ThreadUsage thread : sampler.next().threads()) now.put(thread.tid(), thread);
        } catch (MonitorException e) {
            return threads; // The JVM has exited.
        }
        List<ThreadUsage> named = new ArrayList<>();
        for (ThreadUsage thread : threads) {
            ThreadUsage newer = now.get(thread.tid());
            boolean isNewer = thread.tid() != 0 && thread.truncated() && newer != null && !newer.truncated();
            named.add(
                    isNewer
                            ? newer.change()
                                    .cpu(thread.cpuNanos(), thread.userNanos())
                                    .build()
                            : thread);
        }
        return named;
    }

    private Profile profile(
            String threads,
            Interval interval,
            List<ThreadUsage> all,
            StackSource source,
            List<StackSource.Sample> samples) {
        ProfileSelection selection = settings.selection;
        MeasuredStacks measured = new MeasuredStacks(selection, all, interval.totals(), samples);
        notes.addAll(source.notes());
        notes.addAll(ProfileNotes.of(selection, source, measured, all));
        return new Profile(
                pid,
                interval.name(),
                threads,
                interval.end(),
                interval.intervalNanos(),
                source.description(),
                source.periodNanos(),
                measured.sampledNanos(),
                measured.cpuNanos(),
                measured.userNanos(),
                measured.stacks(),
                List.copyOf(notes));
    }
}
