// SPDX-License-Identifier: Apache-2.0
// Copyright the TaskClock authors
package org.taskclock.monitor.finding;

import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.taskclock.monitor.attach.ThreadDump;

/**
 * What consecutive thread dumps show of the workers of {@code ForkJoinPool.commonPool()}. Each JVM has one, and it has
 * no more workers than processors, so that tasks that block hold up all others.
 */
public final class CommonPool {
    static final String WORKER = "ForkJoinPool.commonPool-worker-";

    /** Dumps further apart prove nothing about the time between them. */
    private static final long MAX_GAP_NANOS = 20 * ThreadHistory.SECOND;

    private static final Pattern PARALLELISM =
            Pattern.compile("-Djava\\.util\\.concurrent\\.ForkJoinPool\\.common\\.parallelism=(\\d{1,5})(?!\\d)");
    private static final Pattern PROCESSORS = Pattern.compile("-XX:ActiveProcessorCount=(\\d{1,5})(?!\\d)");
    private static final Pattern COMPENSATED = Pattern.compile(
            "ForkJoinPool\\.(?:managedBlock|compensatedBlock)|ForkJoinTask\\.(?:awaitDone|externalAwaitDone)");

    /** The consecutive dumps in which all workers were blocked, and the times of the first and the last of them. */
    int samples;

    long since;
    long lastAt;

    /** The workers that were blocked in the last one. */
    int blocked;

    /** The places in the program where they were, and how many of them. */
    Map<String, Integer> sites = Map.of();

    /** Threads that waited for the result of a task. */
    int waiting;

    /**
     * Returns how many tasks the common pool of a JVM runs at the same time.
     *
     * @param vmArguments the options of the JVM
     * @param processors the processors that it can use
     */
    public static int parallelism(String vmArguments, int processors) {
        Matcher parallelism = PARALLELISM.matcher(vmArguments);
        // The last one counts.
        int found = -1;
        while (parallelism.find()) found = Integer.parseInt(parallelism.group(1));
        if (found >= 0) return found;
        Matcher active = PROCESSORS.matcher(vmArguments);
        int available = processors;
        while (active.find()) available = Integer.parseInt(active.group(1));
        return Math.max(1, available - 1);
    }

    /**
     * Adds a dump that was taken at {@code nanos}.
     *
     * @param parallelism 0 if unknown
     */
    public void add(ThreadDump dump, LockGraph locks, long nanos, int parallelism) {
        List<ThreadDump.Entry> stuck = new ArrayList<>();
        int others = 0;
        waiting = 0;
        for (ThreadDump.Entry entry : dump.all()) {
            if (!entry.name().startsWith(WORKER)) {
                if (isWaiting(entry)) waiting++;
            } else if (isBlocked(entry, locks)) {
                stuck.add(entry);
            } else if (!isCompensated(entry)) {
                others++;
            }
        }
        blocked = stuck.size();
        boolean isStuck = others == 0 && parallelism > 0 && blocked >= parallelism;
        if (!isStuck || nanos - lastAt > MAX_GAP_NANOS) samples = 0;
        lastAt = nanos;
        if (!isStuck) return;
        if (samples++ == 0) since = lastAt;
        sites = new LinkedHashMap<>();
        for (ThreadDump.Entry entry : stuck) {
            String site = entry.programFrame();
            sites.merge(site.isEmpty() ? entry.topFrame() : site, 1, Integer::sum);
        }
    }

    /** Forgets dumps before {@code nanos}: nobody knows whether the workers still wait. */
    public void forgetBefore(long nanos) {
        if (lastAt - nanos < 0) samples = 0;
    }

    /** Returns whether more dumps are necessary. */
    public boolean isSuspicious() {
        return samples > 0;
    }

    /** Returns whether a worker waits in a task. One that waits in the kernel has a state like one that runs. */
    private static boolean isBlocked(ThreadDump.Entry worker, LockGraph locks) {
        if (!worker.text().contains("at java.util.concurrent.ForkJoinTask.doExec") || isCompensated(worker))
            return false;
        LockGraph.Wait wait = locks.of(worker.tid());
        if (wait == null || wait.state() == null) return false;
        return wait.state() != Thread.State.RUNNABLE || worker.topFrame().endsWith("Native Method)");
    }

    /** Returns whether the pool starts another worker while this one waits, or it waits for a task that runs. */
    private static boolean isCompensated(ThreadDump.Entry worker) {
        return COMPENSATED.matcher(worker.text()).find();
    }

    private static boolean isWaiting(ThreadDump.Entry thread) {
        return thread.text().contains("at java.util.concurrent.CompletableFuture.waitingGet")
                || thread.text().contains("at java.util.concurrent.CompletableFuture.timedGet")
                || thread.text().contains("at java.util.concurrent.ForkJoinTask.awaitDone");
    }
}
