// SPDX-License-Identifier: Apache-2.0
// Copyright the TaskClock authors
package org.taskclock.cli;

import java.io.IOException;
import java.time.Duration;
import java.util.Queue;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import org.taskclock.metrics.ThreadKind;
import org.taskclock.monitor.profile.Profile;
import org.taskclock.monitor.profile.ProfileSelection;
import org.taskclock.monitor.profile.ProfileSource;
import org.taskclock.monitor.profile.Profiler;
import org.taskclock.monitor.sampling.IntervalSource;
import org.taskclock.monitor.usage.DaemonThread;
import org.taskclock.monitor.usage.ThreadUsage;

/** Runs profiles for the terminal interface on a thread of their own, so that the view stays live. */
final class ProfileRunner {
    static final Duration DURATION = Duration.ofSeconds(5);

    /** Long enough for a busy JVM to stop sampling. After that, it stops by itself. */
    private static final long CLOSE_TIMEOUT_MILLIS = 10_000;

    private final Queue<TerminalUi.Event> events;
    private DaemonThread thread;
    private CountDownLatch cancelled = new CountDownLatch(1);

    ProfileRunner(Queue<TerminalUi.Event> events) {
        this.events = events;
    }

    /** Starts a profile of a row and returns its view. A profile that is still running is cancelled first. */
    ProfileView start(IntervalSource source, TableModel.Row row) {
        cancel();
        Thread previous = thread;
        CountDownLatch end = new CountDownLatch(1);
        cancelled = end;
        ProfileView view = new ProfileView(row.thread().name(), DURATION);
        int pid = row.thread().pid();
        Profiler.Settings settings = new Profiler.Settings(
                selection(row), ProfileSource.AUTO, null, DURATION, Profiler.DEFAULT_PERIOD.toNanos(), false);
        thread = new DaemonThread(
                () -> {
                    TerminalUi.Event result;
                    try {
                        if (previous != null) previous.join();
                        source.checkProfile();
                        Profile profile = Profiler.run(pid, settings, step -> !isDone(end, step));
                        result = () -> view.show(profile);
                    } catch (IOException | RuntimeException e) {
                        String message = e instanceof IOException ? e.getMessage() : e.toString();
                        result = () -> view.fail(message);
                    } catch (InterruptedException e) {
                        return;
                    }
                    events.add(result);
                },
                "taskclock-profile");
        thread.start();
        return view;
    }

    /** Virtual threads have no row of their own in the profile, because their carriers are sampled. */
    private static ProfileSelection selection(TableModel.Row row) {
        ThreadUsage thread = row.thread();
        boolean virtual = thread.kind() == ThreadKind.VIRTUAL;
        if (virtual || (row.isPool() && thread.kind() == ThreadKind.CARRIER)) return ProfileSelection.carriers();
        return row.isPool()
                ? ProfileSelection.pool(thread.pool())
                : ProfileSelection.thread(Integer.toString(thread.tid()));
    }

    private static boolean isDone(CountDownLatch end, Duration step) {
        try {
            return end.await(step.toNanos(), TimeUnit.NANOSECONDS);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            return true;
        }
    }

    /** Ends the profile that is running, if any. */
    void cancel() {
        cancelled.countDown();
    }

    /** Ends the profile that is running, and waits until sampling has stopped. */
    void close() {
        cancel();
        if (thread == null) return;
        thread.await(CLOSE_TIMEOUT_MILLIS);
    }
}
