// SPDX-License-Identifier: Apache-2.0
// Copyright the TaskClock authors
package org.taskclock.monitor.finding;

import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Locale;
import org.taskclock.monitor.attach.ThreadDump;
import org.taskclock.monitor.finding.LockConvoys.Convoy;

/** A lock that several threads wait for in several consecutive dumps. */
public final class LockConvoy extends FindingKind {
    static final int MIN_WAITERS = 3;
    private static final int MIN_SAMPLES = 3;
    private static final int MAX_NAMES = 3;

    public LockConvoy() {
        super(
                "lock-convoy",
                30,
                Source.DUMPS,
                "Several threads wait for the same lock again and again.",
                "Find what the owner does while it holds the lock, and hold it for a shorter time, or split it.");
    }

    @Override
    List<Finding> find(Observation observation, List<Finding> found) {
        return find(observation.convoys());
    }

    List<Finding> find(LockConvoys convoys) {
        return convoys.all().stream()
                .filter(convoy -> convoy.samples >= MIN_SAMPLES)
                .sorted(Comparator.comparingInt(
                        (Convoy convoy) -> -convoy.last.waiters().size()))
                .map(this::finding)
                .toList();
    }

    private Finding finding(Convoy convoy) {
        LockGraph.Contention last = convoy.last;
        int count = last.waiters().size();
        boolean steadyOwner = convoy.owners.size() == 1;
        String text = last.owner() != null && steadyOwner
                ? "thread \"" + last.owner().name() + "\" holds a lock that " + count + " threads wait for: "
                        + last.lockClass()
                : count + " threads wait for the same lock: " + last.lockClass();
        List<String> evidence = new ArrayList<>();
        evidence.add("three or more threads waited for it in " + convoy.samples + " stack samples over "
                + seconds(convoy.lastAt - convoy.since));
        evidence.add("in the last sample: " + names(last.waiters()));
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
        return new Finding(this, last.owner() == null ? 0 : last.owner().tid(), text, evidence);
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
