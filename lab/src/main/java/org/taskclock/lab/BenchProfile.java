// SPDX-License-Identifier: Apache-2.0
// Copyright the TaskClock authors
package org.taskclock.lab;

import static org.taskclock.lab.Contender.AGENT_CPU;
import static org.taskclock.lab.Contender.AGENT_USER;
import static org.taskclock.lab.Contender.ID_0;
import static org.taskclock.lab.Contender.NANO_TIME;
import static org.taskclock.lab.Contender.NOTHING;
import static org.taskclock.lab.Contender.OWN_ID;
import static org.taskclock.lab.Contender.PROC;
import static org.taskclock.lab.Contender.STOCK_CPU;
import static org.taskclock.lab.Contender.STOCK_USER;
import static org.taskclock.lab.Contender.TASKCLOCK_CPU;
import static org.taskclock.lab.Contender.TASKCLOCK_NOW;
import static org.taskclock.lab.Contender.TASKCLOCK_SYSTEM;
import static org.taskclock.lab.Contender.TASKCLOCK_USER;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Locale;
import java.util.concurrent.TimeUnit;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import org.taskclock.lab.JmhSettings.Phase;

/** The profiles of {@code taskclock bench}. If a source states its settings, the profile uses them. */
@SuppressWarnings("ImmutableEnumChecker") // lists by List.of
enum BenchProfile {
    /** The first table of the blog post. */
    POST_US(sampled(TimeUnit.MICROSECONDS, 16, 2, 5, 1, true, allButEmpty()), averageOfFast(1)),
    /** The second table of the blog post. */
    POST_NS(sampled(TimeUnit.NANOSECONDS, 1, 4, 10, 3, true, allButEmpty()), averageOfFast(3)),
    /** The table of the pull request, which does not state its settings. */
    PR_MS(
            sampled(TimeUnit.MILLISECONDS, 1, 2, 5, 1, false, basicContenders()),
            average(new Phase(4, 200), new Phase(8, 200), 1, false, List.of(NOTHING, TASKCLOCK_USER))),
    THREADS(IntStream.of(1, 2, 4, 8, 16)
            .mapToObj(threads -> sampled(
                    TimeUnit.NANOSECONDS,
                    threads,
                    new Phase(2, 1_000),
                    new Phase(5, 2_000),
                    1,
                    false,
                    basicContenders()))
            .toArray(JmhSettings[]::new)),
    /** Rough figures for everything, in less than three minutes on two JDKs. */
    QUICK(
            sampled(
                    TimeUnit.MICROSECONDS,
                    16,
                    new Phase(2, 150),
                    new Phase(3, 200),
                    1,
                    false,
                    List.of(STOCK_CPU, STOCK_USER, OWN_ID, TASKCLOCK_USER)),
            sampled(TimeUnit.NANOSECONDS, 1, new Phase(2, 150), new Phase(4, 150), 1, false, allButEmpty()),
            average(new Phase(4, 80), new Phase(5, 80), 1, true, fastContenders()));

    final List<JmhSettings> settings;

    BenchProfile(JmhSettings... settings) {
        this.settings = List.of(settings);
    }

    /** Returns settings with iterations of 5 s, as the sources have them. */
    private static JmhSettings sampled(
            TimeUnit unit,
            int threads,
            int warmUps,
            int iterations,
            int forks,
            boolean all,
            List<Contender> contenders) {
        return sampled(unit, threads, new Phase(warmUps, 5_000), new Phase(iterations, 5_000), forks, all, contenders);
    }

    private static JmhSettings sampled(
            TimeUnit unit,
            int threads,
            Phase warmUp,
            Phase measured,
            int forks,
            boolean all,
            List<Contender> contenders) {
        return new JmhSettings(true, unit, threads, warmUp, measured, forks, all, contenders);
    }

    private static JmhSettings average(
            Phase warmUp, Phase measured, int forks, boolean all, List<Contender> contenders) {
        return new JmhSettings(false, TimeUnit.NANOSECONDS, 1, warmUp, measured, forks, all, contenders);
    }

    private static JmhSettings averageOfFast(int forks) {
        return average(new Phase(5, 200), new Phase(10, 200), forks, true, fastContenders());
    }

    private static List<Contender> allButEmpty() {
        List<Contender> all = new ArrayList<>(List.of(Contender.values()));
        all.remove(NOTHING);
        return all;
    }

    private static List<Contender> basicContenders() {
        return List.of(STOCK_CPU, STOCK_USER, PROC, OWN_ID, ID_0, TASKCLOCK_CPU, TASKCLOCK_USER);
    }

    private static List<Contender> fastContenders() {
        return List.of(
                NOTHING,
                NANO_TIME,
                TASKCLOCK_CPU,
                TASKCLOCK_USER,
                TASKCLOCK_SYSTEM,
                TASKCLOCK_NOW,
                AGENT_CPU,
                AGENT_USER);
    }

    static BenchProfile named(String name) {
        return Arrays.stream(values())
                .filter(profile -> profile.toString().equals(name))
                .findFirst()
                .orElseThrow(
                        () -> new IllegalArgumentException("profile " + name + ": unknown: use one of " + names()));
    }

    static String names() {
        return Arrays.stream(values()).map(BenchProfile::toString).collect(Collectors.joining(", "));
    }

    @Override
    public String toString() {
        return name().toLowerCase(Locale.ROOT).replace('_', '-');
    }
}
