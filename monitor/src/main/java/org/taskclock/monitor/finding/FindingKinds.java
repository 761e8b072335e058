// SPDX-License-Identifier: Apache-2.0
// Copyright the TaskClock authors
package org.taskclock.monitor.finding;

import java.util.Comparator;
import java.util.List;

/** The registry of all kinds of findings. */
public final class FindingKinds {
    /** All kinds, the most severe first: those that affect all threads or waste CPU time. */
    public static final List<FindingKind> ALL = List.of(
            new YieldStorm(),
            new CarrierMonopolized(),
            new LockConvoy(),
            new Throttled(),
            new GarbageCollection(),
            new Compilation(),
            new SystemHeavy(),
            new SchedulingHeavy(),
            new PoolDominates(),
            new ExporterDown());

    /** The most severe first, and unknown ones last. */
    public static final Comparator<FindingKind> BY_SEVERITY =
            Comparator.comparingInt(kind -> ALL.contains(kind) ? ALL.indexOf(kind) : ALL.size());

    /** A kind in a recording of another version. */
    private static final class Unknown extends FindingKind {
        Unknown(String id) {
            super(id, Source.FIGURES, "", "");
        }
    }

    private FindingKinds() {}

    /** Returns the kind with an identifier, which may be unknown. */
    public static FindingKind of(String id) {
        for (FindingKind kind : ALL) if (kind.id().equals(id)) return kind;
        return new Unknown(id);
    }
}
