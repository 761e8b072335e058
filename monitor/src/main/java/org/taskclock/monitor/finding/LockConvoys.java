// SPDX-License-Identifier: Apache-2.0
// Copyright the TaskClock authors
package org.taskclock.monitor.finding;

import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.function.Predicate;
import org.taskclock.monitor.attach.ThreadDump;

/** Finds locks that threads wait for in several dumps. */
public final class LockConvoys {
    /** A busy lock is sometimes free when a dump is taken. */
    private static final int MAX_MISSED_SAMPLES = 1;

    /** Locks that few threads wait for are free more often. */
    private static final int MAX_MISSED_SAMPLES_OF_FEW = 2;

    private static final int MAX_PARTIES = 100;

    /** A lock and the threads that wait for it, from one dump to the next. */
    static final class Convoy {
        final long since;
        LockGraph.Contention last;
        /** The System.nanoTime of the first of the consecutive dumps in which each thread waited. */
        Map<Integer, Long> waitingSince = new HashMap<>();
        /** The number of samples in which each thread held the lock. */
        final Map<String, Integer> owners = new LinkedHashMap<>();
        /** The threads that have waited for it. */
        final Map<Integer, ThreadDump.Entry> parties = new LinkedHashMap<>();

        /** The state of the owner in the last sample; empty if unknown. */
        String ownerState = "";

        /** The samples in which threads waited. */
        int samples;

        int missed;
        long lastAt;

        /** How many threads waited in each of the last samples. */
        final ArrayDeque<Integer> recent = new ArrayDeque<>();

        /** How often other threads waited than in the sample before. */
        int turns;

        /** The samples in which many threads waited, the first and last of them, and the number since the last. */
        int crowded;

        List<ThreadDump.Entry> lastCrowd = List.of();

        long crowdedSince;
        int uncrowded;

        Convoy(long since) {
            this.since = since;
        }

        boolean isSameLock(LockGraph.Contention found) {
            return found.lockClass().equals(last.lockClass()) && found.lockId().equals(last.lockId());
        }

        /** Returns whether it is the same lock, although the garbage collector may have moved it. */
        boolean matches(LockGraph.Contention found) {
            if (!found.lockClass().equals(last.lockClass())) return false;
            ThreadDump.Entry owner = found.owner();
            if (owner != null
                    && last.owner() != null
                    && owner.tid() == last.owner().tid()) return true;
            if (owner != null && waitingSince.containsKey(owner.tid())) return true;
            return found.waiters().stream().anyMatch(waiter -> waitingSince.containsKey(waiter.tid()));
        }

        void add(LockGraph.Contention found, LockGraph locks, long nanos) {
            Set<Integer> before = Set.copyOf(waitingSince.keySet());
            if (missed > 0) waitingSince.clear();
            Map<Integer, Long> waiting = new HashMap<>();
            for (ThreadDump.Entry waiter : found.waiters()) {
                waiting.put(waiter.tid(), waitingSince.getOrDefault(waiter.tid(), nanos));
                if (parties.size() < MAX_PARTIES) parties.put(waiter.tid(), waiter);
            }
            if (samples > 0 && !waiting.keySet().equals(before)) turns++;
            waitingSince = waiting;
            last = found;
            lastAt = nanos;
            samples++;
            missed = 0;
            count(found.waiters(), nanos);
            if (found.owner() != null) owners.merge(found.owner().name(), 1, Integer::sum);
            LockGraph.Wait owner =
                    found.owner() == null ? null : locks.of(found.owner().tid());
            ownerState =
                    owner == null || owner.state() == null ? "" : owner.state().name();
        }

        void miss(long nanos) {
            missed++;
            count(List.of(), nanos);
        }

        private void count(List<ThreadDump.Entry> waiters, long nanos) {
            recent.add(waiters.size());
            if (recent.size() > LockConvoy.RECENT_SAMPLES) recent.remove();
            if (waiters.size() < LockConvoy.MIN_WAITERS) {
                if (++uncrowded > MAX_MISSED_SAMPLES) crowded = 0;
                return;
            }
            if (crowded++ == 0) crowdedSince = nanos;
            lastCrowd = waiters;
            uncrowded = 0;
        }
    }

    private final List<Convoy> convoys = new ArrayList<>();

    /** Adds a dump that was taken at {@code nanos}. */
    public void add(LockGraph locks, long nanos) {
        Set<Convoy> seen = new HashSet<>();
        for (LockGraph.Contention found : locks.contentions()) {
            Convoy convoy = find(known -> !seen.contains(known) && known.isSameLock(found));
            if (convoy == null) convoy = find(known -> !seen.contains(known) && known.matches(found));
            if (convoy == null) {
                convoy = new Convoy(nanos);
                convoys.add(convoy);
            }
            convoy.add(found, locks, nanos);
            seen.add(convoy);
        }
        for (Convoy convoy : convoys) if (!seen.contains(convoy)) convoy.miss(nanos);
        convoys.removeIf(convoy -> convoy.missed > MAX_MISSED_SAMPLES_OF_FEW);
    }

    private Convoy find(Predicate<Convoy> condition) {
        return convoys.stream().filter(condition).findFirst().orElse(null);
    }

    /** Forgets convoys that were last seen before {@code nanos}: nobody knows whether these threads still wait. */
    public void forgetBefore(long nanos) {
        convoys.removeIf(convoy -> convoy.lastAt - nanos < 0);
    }

    /** Returns whether more dumps are necessary, because the last ones showed a lock that threads wait for. */
    public boolean isContended() {
        return convoys.stream().anyMatch(convoy -> convoy.missed <= MAX_MISSED_SAMPLES);
    }

    List<Convoy> all() {
        return convoys;
    }

    public List<Finding> findings() {
        return new LockConvoy().find(this, 0);
    }
}
