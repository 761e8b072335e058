// SPDX-License-Identifier: Apache-2.0
// Copyright the TaskClock authors
package org.taskclock.agent;

import java.util.Arrays;
import java.util.List;
import java.util.function.ObjIntConsumer;
import java.util.function.ObjLongConsumer;

/** What Thread.yield does: what it always did, that and be counted, or nothing. */
final class Yields {
    /** The numbers are those of agent.c. */
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
            throw new IllegalArgumentException("yield is one of " + Arrays.toString(values()) + ", not " + name);
        }

        @Override
        public String toString() {
            return name().toLowerCase(java.util.Locale.ROOT);
        }
    }

    private final Hooks hooks;
    private final VirtualThreads virtual;
    private final YieldCounts counts;
    private boolean prepared;
    private Mode mode = Mode.PASS;

    Yields(Hooks hooks, VirtualThreads virtual) {
        this.hooks = hooks;
        this.virtual = virtual;
        this.counts = new YieldCounts(hooks);
    }

    Mode mode() {
        return mode;
    }

    YieldCounts counts() {
        return counts;
    }

    void change(Mode wanted) throws Refused {
        if (wanted == mode) return;
        if (wanted == Mode.PASS) {
            set(Mode.PASS);
            virtual.release(VirtualThreads.Use.YIELDS);
            Refused.unlessNull((String) hooks.call("restoreYield"));
            return;
        }
        prepare();
        // First, as it may be refused; it does nothing yet.
        if (VirtualThreads.exist() && !virtual.uses(VirtualThreads.Use.YIELDS))
            virtual.use(VirtualThreads.Use.YIELDS, () -> {});
        if (mode == Mode.PASS) Refused.unlessNull((String) hooks.call("takeYield"));
        set(wanted);
    }

    private void prepare() throws Refused {
        if (prepared) return;
        ObjIntConsumer<Thread> firstYields = counts::first;
        ObjLongConsumer<Thread> yields = counts::sampled;
        Refused.unlessNull((String) hooks.call("prepareYield", firstYields, yields));
        prepared = true;
    }

    private void set(Mode wanted) {
        hooks.call("setYieldMode", wanted.number);
        mode = wanted;
    }

    List<YieldCounts.Yielder> yielders() {
        return prepared ? counts.yielders() : List.of();
    }
}
