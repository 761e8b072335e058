// SPDX-License-Identifier: Apache-2.0
// Copyright the TaskClock authors
package org.taskclock.monitor.profile;

import java.io.IOException;
import java.time.Clock;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.HashMap;
import java.util.Map;
import java.util.concurrent.ArrayBlockingQueue;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.TimeUnit;
import java.util.function.Consumer;
import org.taskclock.monitor.finding.DatedFinding;
import org.taskclock.monitor.finding.Evidence;
import org.taskclock.monitor.finding.Finding;
import org.taskclock.monitor.usage.DaemonThread;

/**
 * Takes {@link Evidence} when a finding begins, on a thread of its own.
 *
 * <p>The cost is limited: one a minute for each JVM, one an hour for each cause, and twelve an hour in all. Each takes
 * about a second of CPU time of the JVM, most of it to start Flight Recorder, so together less than 0.5 % of a
 * processor.
 */
public final class EvidenceTaker implements AutoCloseable {
    private static final Duration PAUSE = Duration.ofMinutes(1);
    private static final Duration SAME_CAUSE = Duration.ofHours(1);
    private static final int MAX_PER_HOUR = 12;
    private static final int MAX_WAITING = 4;

    /**
     * A JVM.
     *
     * @param id identifies it
     * @param program its name for people
     */
    public record Jvm(String id, long pid, String program) {}

    /** Receives what was taken, on one thread. */
    public interface Receiver {
        void accept(Jvm jvm, Evidence evidence) throws IOException;

        /** Called once an hour while nothing is taken. */
        default void tick() throws IOException {}
    }

    private record Task(Jvm jvm, DatedFinding finding) {}

    private final Clock clock;
    private final Receiver receiver;
    private final Consumer<String> log;
    private final BlockingQueue<Task> tasks = new ArrayBlockingQueue<>(MAX_WAITING);
    private final DaemonThread thread = new DaemonThread(this::run, "taskclock-evidence");

    /** What was logged last; empty if the last evidence could be kept. Of our thread. */
    private String logged = "";

    // Of the thread that calls begin().

    private final Map<String, Instant> lastOfJvm = new HashMap<>();
    private final Map<String, Instant> lastOfCause = new HashMap<>();
    private final Deque<Instant> lastHour = new ArrayDeque<>();

    /** @param log receives why evidence is not kept */
    public EvidenceTaker(Clock clock, Receiver receiver, Consumer<String> log) {
        this.clock = clock;
        this.receiver = receiver;
        this.log = log;
    }

    public void start() {
        thread.start();
    }

    /** Called by one thread when a finding begins. Returns at once. */
    public void begin(Jvm jvm, DatedFinding finding) {
        if (tasks.remainingCapacity() > 0 && mayTake(jvm.id, finding.finding(), clock.instant()))
            tasks.add(new Task(jvm, finding));
    }

    /** Returns whether evidence may be taken now, considering its cost, and counts it. */
    boolean mayTake(String jvm, Finding finding, Instant now) {
        lastOfJvm.values().removeIf(at -> !at.plus(PAUSE).isAfter(now));
        lastOfCause.values().removeIf(at -> !at.plus(SAME_CAUSE).isAfter(now));
        lastHour.removeIf(at -> !at.plus(Duration.ofHours(1)).isAfter(now));
        String cause = jvm + " " + DatedFinding.key(finding);
        if (lastOfJvm.containsKey(jvm) || lastOfCause.containsKey(cause) || lastHour.size() >= MAX_PER_HOUR)
            return false;
        lastOfJvm.put(jvm, now);
        lastOfCause.put(cause, now);
        lastHour.add(now);
        return true;
    }

    private void run() {
        try {
            while (true) {
                Task task = tasks.poll(1, TimeUnit.HOURS);
                try {
                    if (task == null) receiver.tick();
                    else receiver.accept(task.jvm, FindingProfiler.take(task.jvm.pid, task.jvm.program, task.finding));
                    logged = "";
                } catch (IOException | RuntimeException | Error e) {
                    log(describe(e));
                }
            }
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }

    private static String describe(Throwable e) {
        return e instanceof IOException && e.getMessage() != null ? e.getMessage() : e.toString();
    }

    /** Logs why evidence cannot be kept, once until it can be. */
    private void log(String reason) {
        if (!logged.equals(reason)) log.accept("no evidence is kept: " + reason);
        logged = reason;
    }

    /** Ends what is being taken. Its receiver gets what there is. */
    @Override
    public void close() {
        thread.end(TimeUnit.SECONDS.toMillis(5));
    }
}
