// SPDX-License-Identifier: Apache-2.0
// Copyright the TaskClock authors
package org.taskclock.monitor.finding;

import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.taskclock.monitor.attach.ThreadDump;

/** Finds locks that several threads wait for in several consecutive dumps. */
public final class LockConvoys {
    /** A busy lock is sometimes free when a dump is taken. */
    private static final int MAX_MISSED_SAMPLES = 1;

    /** A lock and the threads that wait for it, from one dump to the next. */
    static final class Convoy {
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
            if (found.waiters().size() < LockConvoy.MIN_WAITERS) continue;
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

    List<Convoy> all() {
        return convoys;
    }

    public List<Finding> findings() {
        return new LockConvoy().find(this);
    }
}
