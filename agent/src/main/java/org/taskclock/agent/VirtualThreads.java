// SPDX-License-Identifier: Apache-2.0
// Copyright the TaskClock authors
package org.taskclock.agent;

import java.lang.instrument.Instrumentation;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;

/** What is changed in java.lang.VirtualThread: all at once, when some of it is first wanted, and switched by flags from then on. */
final class VirtualThreads {
    /** Yields ask whether they are to be done. */
    final Rewriting.Change yields = Rewriting.skip("tryYield", "skipYield");
    /** What happens to a thread on its carrier is told. */
    final Rewriting.Change mounts =
            Rewriting.before("runContinuation", Map.of("run", "mounted", "unmount", "unmounted", "afterDone", "ended"));

    private final Instrumentation jvm;
    /** Null before the first use. */
    private Rewriting rewriting;

    private final Set<Rewriting.Change> used = new HashSet<>();

    VirtualThreads(Instrumentation jvm) {
        this.jvm = jvm;
    }

    static boolean exist() {
        return Runtime.version().feature() >= 21;
    }

    void use(Rewriting.Change change) throws Refused {
        if (rewriting == null) {
            Rewriting made = new Rewriting(jvm, type(), List.of(yields, mounts));
            made.apply();
            rewriting = made;
        }
        rewriting.demand(change);
        used.add(change);
        rewriting.keep(true);
    }

    /** Its flag is off by now. */
    void release(Rewriting.Change change) {
        if (used.remove(change) && used.isEmpty()) rewriting.keep(false);
    }

    private static Class<?> type() throws Refused {
        try {
            return Class.forName("java.lang.VirtualThread", false, null);
        } catch (ClassNotFoundException e) {
            throw new Refused("this JVM has no java.lang.VirtualThread", e);
        }
    }
}
