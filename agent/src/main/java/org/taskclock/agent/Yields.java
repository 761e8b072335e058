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
    /** Null before the first use. */
    private YieldCounts counts;

    private boolean prepared;
    private Mode mode = Mode.PASS;
    private Mode virtualMode = Mode.PASS;

    Yields(Hooks hooks, VirtualThreads virtual) {
        this.hooks = hooks;
        this.virtual = virtual;
    }

    /** Of platform threads. */
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

    /** What yields of platform threads do. */
    synchronized void change(Mode wanted) throws Refused {
        if (wanted == mode) return;
        if (wanted != Mode.PASS) prepare();
        if (mode == Mode.PASS) Refused.unlessNull((String) hooks.call("takeYield"));
        hooks.call("setYieldMode", wanted.number);
        mode = wanted;
        if (wanted == Mode.PASS) Refused.unlessNull((String) hooks.call("restoreYield"));
    }

    /** What yields of virtual threads do. */
    synchronized void changeVirtual(Mode wanted) throws Refused {
        if (wanted == virtualMode) return;
        if (wanted != Mode.PASS) {
            prepare();
            if (!virtual.uses(VirtualThreads.Use.YIELDS)) virtual.use(VirtualThreads.Use.YIELDS, () -> {});
        }
        hooks.call("setVirtualYieldMode", wanted.number);
        virtualMode = wanted;
        if (wanted == Mode.PASS) virtual.release(VirtualThreads.Use.YIELDS);
    }

    private void prepare() throws Refused {
        if (prepared) return;
        ObjIntConsumer<Thread> firstYields = counts()::first;
        ObjLongConsumer<Thread> yields = counts()::sampled;
        Refused.unlessNull((String) hooks.call("prepareYield", firstYields, yields));
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
