// SPDX-License-Identifier: Apache-2.0
// Copyright the TaskClock authors
package org.taskclock.lab;

import java.util.List;

/** What the Java Specialists' Newsletter 320 ("Please Don't Yield A Lot", 2024-11-30) measured. */
final class Newsletter {
    static final String SOURCE = "The Java Specialists' Newsletter 320";
    static final String MACHINE = "MacBook Pro M2 Max, 12 cores, macOS, JDK 24-ea";
    static final String SMALL_MACHINE = "MacBook Pro M2 Max, macOS, JDK 21, for 1 s";
    static final int PROCESSORS = 12;
    static final double SECONDS = 10.3;

    /** Of its TestBench; real, user and sys in seconds. */
    record Figures(boolean several, boolean virtual, boolean yielding, long evenNumbers, Jvm.Times times) {}

    private static final List<Figures> ALL = List.of(
            new Figures(false, false, false, 9_393_103_267L, new Jvm.Times(10.717, 11.092, 0.184)),
            new Figures(true, false, false, 85_245_904_577L, new Jvm.Times(10.721, 114.402, 0.608)),
            new Figures(false, false, true, 73_903_324, new Jvm.Times(10.692, 8.164, 3.235)),
            new Figures(false, true, true, 7_959_055, new Jvm.Times(10.677, 22.577, 56.556)),
            new Figures(true, false, true, 92_293_566, new Jvm.Times(10.680, 16.067, 100.791)),
            new Figures(true, true, true, 168_633_713, new Jvm.Times(10.713, 115.022, 0.686)));

    /** Its YieldALot, of a second: JDK 21. */
    record Small(double cpuMillis, double userMillis, double systemMillis, long counter) {}

    static final Small SMALL = new Small(986.448, 679.551, 306.897, 7_284_820);
    static final Small SMALL_SILENCED = new Small(1_001.147, 995.077, 6.070, 251_681_803);

    /** In words alone, of virtual threads: "almost 1200x", "500x slower than the non-yielding version". */
    static final double ONE_VIRTUAL_SLOWDOWN = 1200;

    static final double SEVERAL_VIRTUAL_SLOWDOWN = 500;

    private Newsletter() {}

    /** Null for the two that have none: virtual threads that do not yield. */
    static Figures of(boolean several, boolean virtual, boolean yielding) {
        for (Figures figures : ALL) {
            if (figures.several == several && figures.virtual == virtual && figures.yielding == yielding)
                return figures;
        }
        return null;
    }

    /** How many times slower yielding made it; NaN where nothing yields. */
    static double slowdown(boolean several, boolean virtual, boolean yielding) {
        if (!yielding) return Double.NaN;
        if (virtual) return several ? SEVERAL_VIRTUAL_SLOWDOWN : ONE_VIRTUAL_SLOWDOWN;
        return (double) of(several, false, false).evenNumbers()
                / of(several, false, true).evenNumbers();
    }
}
