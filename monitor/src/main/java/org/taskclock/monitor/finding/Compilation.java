// SPDX-License-Identifier: Apache-2.0
// Copyright the TaskClock authors
package org.taskclock.monitor.finding;

import java.util.List;
import org.taskclock.metrics.ThreadKind;

/** Compilation that takes much of the JVM's CPU time. */
public final class Compilation extends JvmWork {
    public Compilation() {
        super(
                "jit",
                60,
                Color.CYAN,
                ThreadKind.JIT,
                "compilation",
                "Compilation uses much of the JVM's CPU time, which is normal only after it has started.",
                "If it goes on, check whether the code cache is full, and whether classes are generated all the time.");
    }

    /** Every JVM that has just started compiles much. */
    @Override
    public int minIntervals() {
        return 60;
    }

    @Override
    boolean mustLast() {
        return true;
    }

    @Override
    public List<Alert> alerts() {
        return List.of(alert("TaskClockCompilation", 30, Alert.Severity.INFO, MIN_SHARE));
    }
}
