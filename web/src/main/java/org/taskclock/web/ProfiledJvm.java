// SPDX-License-Identifier: Apache-2.0
// Copyright the TaskClock authors
package org.taskclock.web;

import java.io.IOException;
import java.time.Clock;
import java.time.Duration;
import java.time.Instant;
import java.util.HashSet;
import java.util.Set;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.Consumer;
import org.taskclock.history.HistoryProfile;
import org.taskclock.history.JvmKey;
import org.taskclock.metrics.ThreadKind;
import org.taskclock.monitor.fleet.JvmSample;
import org.taskclock.monitor.proc.MonitorException;
import org.taskclock.monitor.profile.Profile;
import org.taskclock.monitor.profile.ProfileException;
import org.taskclock.monitor.profile.ProfileSelection;
import org.taskclock.monitor.profile.ProfileSource;
import org.taskclock.monitor.profile.Profiler;
import org.taskclock.monitor.profile.ProfilerThreads;
import org.taskclock.monitor.usage.DaemonThread;
import org.taskclock.web.http.InternalErrors;

/**
 * The continuous profile of one JVM: profiles of a minute or more, one after the other. Each begins a few seconds after
 * a full minute, at different times for different JVMs, and its stacks count for the minutes that began before it.
 */
final class ProfiledJvm {
    private static final int MINUTE = 60;

    /** Until then, the history has the CPU time of the minute. */
    private static final int MIN_OFFSET = 5;

    private static final int OFFSETS = 16;

    /** A profile that would be shorter includes the next minute. */
    private static final int MIN_SECONDS = 30;

    /** A JVM that uses less than 1 % of a core is not profiled, because that would cost more than it explains. */
    private static final long MIN_NANOS_PER_SECOND = 10_000_000;

    /** In the handler of the signal, and in Flight Recorder's buffers. */
    static final long NANOS_PER_SAMPLE = 30_000;

    private static final Duration RETRY = Duration.ofMinutes(10);

    private final JvmKey key;
    private final ProfileBudget budget;
    private final Clock clock;
    private final Consumer<HistoryProfile> history;
    private final Consumer<String> log;
    private final DaemonThread thread;
    private final Set<String> logged = new HashSet<>();
    private final int offset;

    /** When to try async-profiler again, as of System.nanoTime. */
    private long asyncProfilerAt = System.nanoTime();

    /** The thread is never interrupted, because it could then not stop a profile that is running. */
    private final CountDownLatch end = new CountDownLatch(1);

    private final AtomicLong usedNanos = new AtomicLong();
    private volatile boolean hasVirtualThreads;

    ProfiledJvm(JvmKey key, ProfileBudget budget, Clock clock, Consumer<HistoryProfile> history, Consumer<String> log) {
        this.key = key;
        this.budget = budget;
        this.clock = clock;
        this.history = history;
        this.log = log;
        offset = MIN_OFFSET + Math.floorMod(key.id().hashCode(), OFFSETS);
        thread = new DaemonThread(this::run, "taskclock-profile-" + key.pid());
    }

    String id() {
        return key.id();
    }

    void start() {
        thread.start();
    }

    /** Ends the profile, and returns at once. */
    void end() {
        end.countDown();
    }

    void await(long millis) {
        thread.await(millis);
    }

    /** Adds what the JVM used. */
    void add(JvmSample sample) {
        usedNanos.addAndGet(Math.max(0, sample.process().cpuNanos()));
        if (!hasVirtualThreads)
            hasVirtualThreads = sample.pools().stream()
                    .anyMatch(pool -> pool.kind() == ThreadKind.CARRIER || pool.kind() == ThreadKind.VIRTUAL);
    }

    private void run() {
        long at = System.nanoTime();
        Duration pause = Duration.ofSeconds(MIN_OFFSET);
        while (pause != null && sleep(pause)) {
            long now = System.nanoTime();
            boolean isIdle = usedNanos.getAndSet(0) < (now - at) / 1e9 * MIN_NANOS_PER_SECOND;
            at = now;
            pause = isIdle ? Duration.ofSeconds(secondsUntil(1)) : tryProfile();
        }
    }

    /** Profiles once. Returns how long to pause afterward; null if the JVM has exited. */
    private Duration tryProfile() {
        String problem;
        try {
            return profile();
        } catch (MonitorException e) {
            if (e.reason() == MonitorException.Reason.GONE) return null;
            problem = e.getMessage();
        } catch (IOException e) {
            problem = e.getMessage();
        } catch (RuntimeException | Error e) {
            problem = InternalErrors.describe(e);
        }
        if (end.getCount() > 0 && logged.add(String.valueOf(problem)))
            log.accept("no profiles of " + key.service() + ": " + problem);
        return RETRY;
    }

    private Duration profile() throws IOException {
        int minutes = budget.minutes();
        long seconds = secondsUntil(minutes);
        if (seconds < MIN_SECONDS) {
            minutes++;
            seconds += MINUTE;
        }
        long start = System.nanoTime();
        long before = ProfilerThreads.cpuNanos(key.pid());
        Profile profile = profile(Duration.ofSeconds(seconds));
        if (end.getCount() == 0) return Duration.ZERO;
        long to = clock.instant().getEpochSecond() / MINUTE * MINUTE;
        history.accept(new HistoryProfile(
                key,
                Instant.ofEpochSecond(to - (long) minutes * MINUTE),
                Instant.ofEpochSecond(to),
                ProfileStacks.of(profile)));
        long own = ProfilerThreads.cpuNanos(key.pid()) - before;
        long cost = Math.max(0, own) + profile.samples() * NANOS_PER_SAMPLE;
        return budget.add(Duration.ofNanos(System.nanoTime() - start), cost);
    }

    /** Returns the seconds until the end of a profile of some minutes that begins now. */
    private long secondsUntil(int minutes) {
        long now = clock.instant().getEpochSecond();
        return MINUTE - Math.floorMod(now - offset, (long) MINUTE) + (minutes - 1L) * MINUTE;
    }

    /** Prefers async-profiler, unless it is missing or in use, or there are virtual threads, whose names it lacks. */
    private Profile profile(Duration duration) throws IOException {
        if (!hasVirtualThreads && System.nanoTime() - asyncProfilerAt >= 0) {
            try {
                return profile(duration, ProfileSource.ASYNC_PROFILER);
            } catch (ProfileException e) {
                asyncProfilerAt = System.nanoTime() + TimeUnit.HOURS.toNanos(1);
            }
        }
        return profile(duration, ProfileSource.JFR);
    }

    private Profile profile(Duration duration, ProfileSource source) throws IOException {
        Profiler.Settings settings = new Profiler.Settings(
                ProfileSelection.all(), source, null, duration, budget.period().toNanos(), false);
        return Profiler.run(key.pid(), settings, this::sleep);
    }

    /** Returns false if this is to end. */
    private boolean sleep(Duration duration) {
        try {
            return !end.await(duration.toMillis(), TimeUnit.MILLISECONDS);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            return false;
        }
    }
}
