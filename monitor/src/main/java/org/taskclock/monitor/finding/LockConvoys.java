// SPDX-License-Identifier: Apache-2.0
// Copyright the TaskClock authors
package org.taskclock.monitor.finding;

import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashMap;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Set;
import org.taskclock.monitor.attach.ThreadDump;

/** Finds locks that several threads wait for in several consecutive dumps. */
public final class LockConvoys {
    static final String KIND = "lock-convoy";

    private static final int MIN_WAITERS = 3;
    private static final int MIN_SAMPLES = 3;
    /** A busy lock is sometimes free when a dump is taken. */
    private static final int MAX_MISSED_SAMPLES = 1;

    private static final int MAX_NAMES = 3;

    /** A lock and the threads that wait for it, from one dump to the next. */
    private static final class Convoy {
        final long since;
        LockGraph.Contention last;
        /** The System.nanoTime of the first of the consecutive dumps in which each thread waited. */
        Map<Integer, Long> waitingSince = new HashMap<>();
        /** The number of samples in which each thread held the lock. */
        final Map<String, Integer> owners = new LinkedHashMap<>();

        /** The state of the owner in the last sample; empty if unknown. */
        String ownerState = "";

        int samples;
        int missed;
        long lastAt;

        Convoy(long since) {
            this.since = since;
        }

        boolean matches(LockGraph.Contention found) {
            if (!found.lockClass().equals(last.lockClass())) return false;
            // The garbage collector may have moved the lock.
            if (found.lockId().equals(last.lockId())) return true;
            if (found.owner() != null
                    && last.owner() != null
                    && found.owner().tid() == last.owner().tid()) return true;
            return found.waiters().stream().anyMatch(waiter -> waitingSince.containsKey(waiter.tid()));
        }

        void add(LockGraph.Contention found, LockGraph locks, long nanos) {
            if (missed > 0) waitingSince.clear();
            Map<Integer, Long> waiting = new HashMap<>();
            for (ThreadDump.Entry waiter : found.waiters())
                waiting.put(waiter.tid(), waitingSince.getOrDefault(waiter.tid(), nanos));
            waitingSince = waiting;
            last = found;
            lastAt = nanos;
            samples++;
            missed = 0;
            if (found.owner() != null) owners.merge(found.owner().name(), 1, Integer::sum);
            LockGraph.Wait owner =
                    found.owner() == null ? null : locks.of(found.owner().tid());
            ownerState =
                    owner == null || owner.state() == null ? "" : owner.state().name();
        }
    }

    private final List<Convoy> convoys = new ArrayList<>();

    /** Adds a dump that was taken at {@code nanos}. */
    public void add(LockGraph locks, long nanos) {
        Set<Convoy> seen = new HashSet<>();
        for (LockGraph.Contention found : locks.contentions()) {
            if (found.waiters().size() < MIN_WAITERS) continue;
            Convoy convoy = convoys.stream()
                    .filter(known -> !seen.contains(known) && known.matches(found))
                    .findFirst()
                    .orElse(null);
            if (convoy == null) {
                convoy = new Convoy(nanos);
                convoys.add(convoy);
            }
            convoy.add(found, locks, nanos);
            seen.add(convoy);
        }
        convoys.removeIf(convoy -> !seen.contains(convoy) && ++convoy.missed > MAX_MISSED_SAMPLES);
    }

    /** Forgets convoys that were last seen before {@code nanos}: nobody knows whether these threads still wait. */
    public void forgetBefore(long nanos) {
        convoys.removeIf(convoy -> convoy.lastAt - nanos < 0);
    }

    /** Returns whether more dumps are necessary, because the last ones showed a lock that several threads wait for. */
    public boolean isContended() {
        return !convoys.isEmpty();
    }

    public List<Finding> diagnose() {
        return convoys.stream()
                .filter(convoy -> convoy.samples >= MIN_SAMPLES)
                .sorted(Comparator.comparingInt(
                        (Convoy convoy) -> -convoy.last.waiters().size()))
                .map(LockConvoys::finding)
                .toList();
    }

    private static Finding finding(Convoy convoy) {
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
        return new Finding(KIND, last.owner() == null ? 0 : last.owner().tid(), text, evidence);
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
