// SPDX-License-Identifier: Apache-2.0
// Copyright the TaskClock authors
package org.taskclock.lab;

import com.google.gson.JsonElement;
import java.util.List;
import java.util.Map;

/** All that was measured. */
record Measurements(List<Measurement> all) {
    static Measurements of(Map<String, JsonElement> jmh) {
        return new Measurements(Measurement.parse(jmh));
    }

    List<String> jdks() {
        return all.stream().map(Measurement::jdk).distinct().toList();
    }

    String version(String jdk) {
        return all.stream()
                .filter(one -> one.jdk().equals(jdk))
                .findFirst()
                .orElseThrow()
                .version();
    }

    List<Integer> sampledThreads() {
        return all.stream()
                .filter(Measurement::sampled)
                .map(Measurement::threads)
                .distinct()
                .sorted()
                .toList();
    }

    /** On the rung that was measured first, which is the best; null where it was not measured. */
    Measurement sampled(String jdk, Contender contender, int threads) {
        return find(jdk, contender, null, true, threads);
    }

    Measurement average(String jdk, Contender contender) {
        return find(jdk, contender, null, false, 1);
    }

    private Measurement find(String jdk, Contender contender, String rung, boolean sampled, int threads) {
        return all.stream()
                .filter(one -> one.jdk().equals(jdk)
                        && one.contender() == contender
                        && (rung == null || one.rung().equals(rung))
                        && one.sampled() == sampled
                        && one.threads() == threads)
                .findFirst()
                .orElse(null);
    }

    Measurement like(Measurement other) {
        return all.stream().filter(one -> one.isLike(other)).findFirst().orElse(null);
    }

    /** The reader that the fix deleted: the JDK's own where it has not got the fix. */
    Contender before(String jdk) {
        return Jdk.readsUserTimeAsText(version(jdk)) ? Contender.STOCK_USER : Contender.PROC;
    }

    /** What the fix put in its place. */
    Contender after(String jdk) {
        return Jdk.readsUserTimeAsText(version(jdk)) ? Contender.OWN_ID : Contender.STOCK_USER;
    }
}
