// SPDX-License-Identifier: Apache-2.0
// Copyright the TaskClock authors
package org.taskclock.monitor.finding;

import java.util.Comparator;
import java.util.List;
import java.util.ServiceLoader;

/** The registry of all kinds of findings. */
public final class FindingKinds {
    /** The most severe first, and unknown ones last. */
    public static final Comparator<FindingKind> BY_SEVERITY =
            Comparator.comparingInt(FindingKind::rank).thenComparing(FindingKind::id);

    /** All kinds, the most severe first. */
    public static final List<FindingKind> ALL =
            ServiceLoader.load(FindingKind.class, FindingKind.class.getClassLoader()).stream()
                    .map(ServiceLoader.Provider::get)
                    .sorted(BY_SEVERITY)
                    .toList();

    /** A kind in a recording of another version. */
    private static final class Unknown extends FindingKind {
        Unknown(String id) {
            super(id, Integer.MAX_VALUE, Color.RED, Source.FIGURES, "", "");
        }
    }

    private FindingKinds() {}

    /** Returns the kind with an identifier, which may be unknown. */
    public static FindingKind of(String id) {
        for (FindingKind kind : ALL) if (kind.id().equals(id)) return kind;
        return new Unknown(id);
    }
}
