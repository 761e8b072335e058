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

/** What {@code taskclock bench} can run. Where a source tells its settings, they are the same. */
@SuppressWarnings("ImmutableEnumChecker") // lists by List.of
enum Profile {
    /** The first table of the blog post. */
    POST_US(sampled(TimeUnit.MICROSECONDS, 16, 2, 5_000, 5, 5_000, 1, true, all()), fast(1)),
    /** Its second one. */
    POST_NS(sampled(TimeUnit.NANOSECONDS, 1, 4, 5_000, 10, 5_000, 3, true, all()), fast(3)),
    /** The pull request's; it does not tell its settings. */
    PR_MS(
            sampled(TimeUnit.MILLISECONDS, 1, 2, 5_000, 5, 5_000, 1, false, before()),
            average(4, 200, 8, 200, 1, false, List.of(NOTHING, TASKCLOCK_USER))),
    THREADS(IntStream.of(1, 2, 4, 8, 16)
            .mapToObj(threads -> sampled(TimeUnit.NANOSECONDS, threads, 2, 1_000, 5, 2_000, 1, false, before()))
            .toArray(Part[]::new)),
    /** A little of each, below three minutes on two JDKs. */
    QUICK(
            sampled(
                    TimeUnit.MICROSECONDS,
                    16,
                    2,
                    150,
                    3,
                    200,
                    1,
                    false,
                    List.of(STOCK_CPU, STOCK_USER, OWN_ID, TASKCLOCK_USER)),
            sampled(TimeUnit.NANOSECONDS, 1, 2, 150, 4, 150, 1, false, all()),
            average(4, 80, 5, 80, 1, true, fastOnes()));

    final List<Part> parts;

    Profile(Part... parts) {
        this.parts = List.of(parts);
    }

    Profile(Part sampled, Part fast) {
        this(new Part[] {sampled, fast});
    }

    private static Part sampled(
            TimeUnit unit,
            int threads,
            int warmUps,
            long warmUpMillis,
            int iterations,
            long millis,
            int forks,
            boolean allRungs,
            List<Contender> contenders) {
        return new Part(true, unit, threads, warmUps, warmUpMillis, iterations, millis, forks, allRungs, contenders);
    }

    private static Part average(
            int warmUps,
            long warmUpMillis,
            int iterations,
            long millis,
            int forks,
            boolean allRungs,
            List<Contender> contenders) {
        return new Part(
                false, TimeUnit.NANOSECONDS, 1, warmUps, warmUpMillis, iterations, millis, forks, allRungs, contenders);
    }

    private static Part fast(int forks) {
        return average(5, 200, 10, 200, forks, true, fastOnes());
    }

    private static List<Contender> all() {
        List<Contender> all = new ArrayList<>(List.of(Contender.values()));
        all.remove(NOTHING);
        return all;
    }

    private static List<Contender> before() {
        return List.of(STOCK_CPU, STOCK_USER, PROC, OWN_ID, ID_0, TASKCLOCK_CPU, TASKCLOCK_USER);
    }

    private static List<Contender> fastOnes() {
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

    static Profile named(String name) {
        return Arrays.stream(values())
                .filter(profile -> profile.toString().equals(name))
                .findFirst()
                .orElseThrow(() -> new IllegalArgumentException("profile: no " + name + ": known are " + names()));
    }

    static String names() {
        return Arrays.stream(values()).map(Profile::toString).collect(Collectors.joining(", "));
    }

    @Override
    public String toString() {
        return name().toLowerCase(Locale.ROOT).replace('_', '-');
    }
}
