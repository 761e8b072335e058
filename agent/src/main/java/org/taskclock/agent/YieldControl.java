// SPDX-License-Identifier: Apache-2.0
// Copyright the TaskClock authors
package org.taskclock.agent;

import java.util.Arrays;
import java.util.List;
import java.util.Locale;

/** Controls whether Thread.yield yields, yields and is counted, or does nothing. */
final class YieldControl {
    /** The effect of a yield. The numbers are those in yield.c. */
    enum Mode {
        PASS(0),
        COUNT(1),
        OFF(2);

        private final int number;

        Mode(int number) {
            this.number = number;
        }

        static Mode of(String name) {
            for (Mode mode : values()) if (mode.toString().equals(name)) return mode;
            throw new IllegalArgumentException("yield must be one of " + Arrays.toString(values()) + ", not " + name);
        }

        @Override
        public String toString() {
            return name().toLowerCase(Locale.ROOT);
        }
    }

    private final TaskClockHooks hooks;
    private final VirtualThreadPatch patch;
    /** Null before the first use. */
    private YieldCounts counts;

    private boolean prepared;
    private Mode mode = Mode.PASS;
    private Mode virtualMode = Mode.PASS;

    YieldControl(TaskClockHooks hooks, VirtualThreadPatch patch) {
        this.hooks = hooks;
        this.patch = patch;
    }

    /** Returns the mode for platform threads. */
    synchronized Mode mode() {
        return mode;
    }

    synchronized Mode virtualMode() {
        return virtualMode;
    }

    synchronized YieldCounts counts() {
        if (counts == null) counts = new YieldCounts(hooks);
        return counts;
    }

    /** Sets the mode for platform threads. */
    synchronized void setMode(Mode newMode) throws FeatureException {
        if (newMode == mode) return;
        if (newMode != Mode.PASS) prepare();
        if (mode == Mode.PASS) FeatureException.throwIf(hooks.takeYield());
        hooks.setYieldMode(newMode.number);
        mode = newMode;
        if (newMode == Mode.PASS) FeatureException.throwIf(hooks.restoreYield());
    }

    /** Sets the mode for virtual threads. */
    synchronized void setVirtualMode(Mode newMode) throws FeatureException {
        if (newMode == virtualMode) return;
        if (newMode == Mode.PASS) {
            passVirtual();
            return;
        }
        prepare();
        if (!patch.isEnabled(VirtualThreadPatch.Use.YIELDS)) patch.enable(VirtualThreadPatch.Use.YIELDS, () -> {});
        hooks.setVirtualYieldMode(newMode.number);
        virtualMode = newMode;
    }

    /** Lets virtual threads yield without counting. */
    synchronized void passVirtual() {
        if (virtualMode == Mode.PASS) return;
        hooks.setVirtualYieldMode(Mode.PASS.number);
        virtualMode = Mode.PASS;
        patch.disable(VirtualThreadPatch.Use.YIELDS);
    }

    private void prepare() throws FeatureException {
        if (prepared) return;
        FeatureException.throwIf(hooks.prepareYield(counts()::addThread, counts()::addSample));
        prepared = true;
    }

    long stacks() {
        return prepared ? counts().stacks() : 0;
    }

    long memoryBytes() {
        return prepared ? counts().memoryBytes() : 0;
    }

    synchronized List<YieldCounts.Yielder> yielders() {
        return prepared ? counts().yielders() : List.of();
    }
}
