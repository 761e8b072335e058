// SPDX-License-Identifier: Apache-2.0
// Copyright the TaskClock authors
package org.taskclock.monitor.finding;

import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Locale;
import org.taskclock.monitor.attach.ThreadDump;
import org.taskclock.monitor.finding.LockConvoys.Convoy;

/** A lock that many threads wait for in several dumps, or that a few threads wait for in turn in most dumps. */
public final class LockConvoy extends FindingKind {
    static final int MIN_WAITERS = 3;
    private static final int MIN_SAMPLES = 3;

    /** Few threads convince only if they wait in most of the last samples, and if others wait from time to time. */
    static final int RECENT_SAMPLES = 9;

    private static final int MIN_RECENT_SAMPLES = 6;
    private static final double MIN_WAITING_SHARE = 0.6;
    private static final int MIN_TURNS = 2;

    private static final int MAX_NAMES = 3;

    public LockConvoy() {
        super(
                "lock-convoy",
                30,
                Color.RED,
                Source.DUMPS,
                "Several threads wait for the same lock again and again.",
                "Find out with taskclock dump PID what the owner does while it holds the lock. Hold the lock for a"
                        + " shorter time, or split it.");
    }

    @Override
    List<Finding> find(Observation observation, List<Finding> found) {
        return find(observation.convoys(), observation.intervalNanos());
    }

    List<Finding> find(LockConvoys convoys, long intervalNanos) {
        return convoys.all().stream()
                .filter(convoy -> isCrowded(convoy) || isOfFew(convoy))
                .sorted(Comparator.comparingInt(
                        (Convoy convoy) -> -convoy.last.waiters().size()))
                .map(convoy -> finding(convoy, intervalNanos))
                .toList();
    }

    private static boolean isCrowded(Convoy convoy) {
        return convoy.crowded >= MIN_SAMPLES;
    }

    private static boolean isOfFew(Convoy convoy) {
        return convoy.recent.size() >= MIN_RECENT_SAMPLES
                && convoy.turns >= MIN_TURNS
                && waitingSamples(convoy) >= MIN_WAITING_SHARE * convoy.recent.size();
    }

    private static long waitingSamples(Convoy convoy) {
        return convoy.recent.stream().filter(waiters -> waiters > 0).count();
    }

    private Finding finding(Convoy convoy, long intervalNanos) {
        LockGraph.Contention last = convoy.last;
        boolean steadyOwner = last.owner() != null && convoy.owners.size() == 1;
        String lock = last.lockClass();
        List<String> evidence = new ArrayList<>();
        String text;
        if (isCrowded(convoy)) {
            List<ThreadDump.Entry> waiters = convoy.lastCrowd;
            text = steadyOwner
                    ? "thread \"" + last.owner().name() + "\" holds a lock that " + waiters.size()
                            + " threads wait for: " + lock
                    : waiters.size() + " threads wait for the same lock: " + lock;
            evidence.add("three or more threads waited for it in " + convoy.crowded + " stack samples over "
                    + seconds(convoy.lastAt - convoy.crowdedSince));
            evidence.add("in the last sample: " + names(waiters));
        } else {
            text = convoy.parties.size() + " threads wait in turn for the same lock: " + lock;
            double average = convoy.recent.stream().mapToInt(n -> n).average().orElse(0);
            evidence.add("threads waited for it in " + waitingSamples(convoy) + " of the last " + convoy.recent.size()
                    + " stack samples, " + number(average) + " at a time, and for "
                    + seconds(convoy.lastAt - convoy.since) + " so far");
            evidence.add("these waited: " + names(List.copyOf(convoy.parties.values())));
        }
        long longest = convoy.waitingSince.values().stream()
                .mapToLong(since -> convoy.lastAt - since)
                .max()
                .orElse(0);
        if (longest > 0) {
            long steady = convoy.waitingSince.values().stream()
                    .filter(since -> convoy.lastAt - since == longest)
                    .count();
            evidence.add(
                    steady + (steady == 1 ? " thread" : " threads") + " waited in each sample for " + seconds(longest));
        }
        addOwner(evidence, convoy);
        long since = isCrowded(convoy) ? convoy.crowdedSince : convoy.since;
        return new Finding(this, steadyOwner ? last.owner().tid() : 0, text, evidence)
                .lasting(convoy.lastAt - since, intervalNanos);
    }

    private static void addOwner(List<String> evidence, Convoy convoy) {
        ThreadDump.Entry owner = convoy.last.owner();
        if (convoy.owners.isEmpty()) {
            evidence.add("owner unknown: "
                    + (convoy.last.lockClass().startsWith("java.util.concurrent.")
                            ? "thread dumps do not contain the owners of java.util.concurrent locks"
                            : "no thread held it when the samples were taken"));
            return;
        }
        convoy.owners.forEach((name, held) ->
                evidence.add("held by \"" + name + "\" in " + held + " of " + convoy.samples + " samples"));
        if (owner == null) return;
        String frame = owner.topFrame();
        evidence.add("the owner is " + (convoy.ownerState.isEmpty() ? "in an unknown state" : convoy.ownerState)
                + (frame.isEmpty() ? "" : " " + frame));
    }

    private static String names(List<ThreadDump.Entry> threads) {
        StringBuilder names = new StringBuilder();
        for (ThreadDump.Entry thread : threads.subList(0, Math.min(MAX_NAMES, threads.size())))
            names.append(names.isEmpty() ? "\"" : ", \"").append(thread.name()).append('"');
        if (threads.size() > MAX_NAMES)
            names.append(", and ").append(threads.size() - MAX_NAMES).append(" more");
        return names.toString();
    }

    private static String seconds(long nanos) {
        return String.format(Locale.ROOT, "%.1f s", nanos / 1e9);
    }
}
