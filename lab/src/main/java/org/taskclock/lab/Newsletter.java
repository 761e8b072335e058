// SPDX-License-Identifier: Apache-2.0
// Copyright the TaskClock authors
package org.taskclock.lab;

import java.util.List;

/** The measurements of the Java Specialists' Newsletter 320 ("Please Don't Yield A Lot", 2024-11-30). */
final class Newsletter {
    static final String SOURCE = "The Java Specialists' Newsletter 320";
    static final String MACHINE = "MacBook Pro M2 Max, 12 cores, macOS, JDK 24-ea";
    static final String SINGLE_MACHINE = "MacBook Pro M2 Max, macOS, JDK 21, for 1 s";
    static final int PROCESSORS = 12;
    static final double SECONDS = 10.3;

    /** The figures of its class TestBench. */
    record Figures(boolean several, boolean virtual, boolean yielding, long evenNumbers, ExperimentJvm.Times times) {}

    private static final List<Figures> ALL = List.of(
            new Figures(false, false, false, 9_393_103_267L, new ExperimentJvm.Times(10.717, 11.092, 0.184)),
            new Figures(true, false, false, 85_245_904_577L, new ExperimentJvm.Times(10.721, 114.402, 0.608)),
            new Figures(false, false, true, 73_903_324, new ExperimentJvm.Times(10.692, 8.164, 3.235)),
            new Figures(false, true, true, 7_959_055, new ExperimentJvm.Times(10.677, 22.577, 56.556)),
            new Figures(true, false, true, 92_293_566, new ExperimentJvm.Times(10.680, 16.067, 100.791)),
            new Figures(true, true, true, 168_633_713, new ExperimentJvm.Times(10.713, 115.022, 0.686)));

    /** The figures of its class YieldALot, which ran on JDK 21 for one second. */
    static final YieldProgram.Figures SINGLE =
            new YieldProgram.Figures(1, 986_448_000, 679_551_000, 306_897_000, 7_284_820);

    static final YieldProgram.Figures SINGLE_SILENCED =
            new YieldProgram.Figures(1, 1_001_147_000, 995_077_000, 6_070_000, 251_681_803);

    /**
     * Slowdowns of virtual threads, which only the text states: "almost 1200x", "500x slower than the non-yielding
     * version".
     */
    static final double ONE_VIRTUAL_SLOWDOWN = 1200;

    static final double SEVERAL_VIRTUAL_SLOWDOWN = 500;

    private Newsletter() {}

    /**
     * Returns the figures of a program, or null for virtual threads that do not yield: the newsletter did not measure
     * them.
     */
    static Figures of(boolean several, boolean virtual, boolean yielding) {
        for (Figures figures : ALL) {
            if (figures.several == several && figures.virtual == virtual && figures.yielding == yielding)
                return figures;
        }
        return null;
    }

    /** Returns how many times slower yielding made a program, or NaN if it does not yield. */
    static double slowdown(boolean several, boolean virtual, boolean yielding) {
        if (!yielding) return Double.NaN;
        if (virtual) return several ? SEVERAL_VIRTUAL_SLOWDOWN : ONE_VIRTUAL_SLOWDOWN;
        return (double) of(several, false, false).evenNumbers()
                / of(several, false, true).evenNumbers();
    }
}
