// SPDX-License-Identifier: Apache-2.0
// Copyright the TaskClock authors
package org.taskclock.lab;

import com.google.gson.JsonElement;
import java.util.List;
import java.util.Map;

/** All measurements of a result. */
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

    /** Returns the measurement on the best backend, which is the first one, or null if there is none. */
    Measurement sampled(String jdk, Contender contender, int threads) {
        return find(jdk, contender, null, true, threads);
    }

    Measurement average(String jdk, Contender contender) {
        return find(jdk, contender, null, false, 1);
    }

    /** Returns the first measurement on a backend, or on any if it is null; null if there is none. */
    Measurement find(String jdk, Contender contender, String backend, boolean sampled, int threads) {
        return all.stream()
                .filter(one -> one.jdk().equals(jdk)
                        && one.contender() == contender
                        && (backend == null || one.backend().equals(backend))
                        && one.sampled() == sampled
                        && one.threads() == threads)
                .findFirst()
                .orElse(null);
    }

    Measurement comparable(Measurement other) {
        return all.stream().filter(one -> one.isComparable(other)).findFirst().orElse(null);
    }

    /** Returns the contender that reads as before the fix: the JDK's own ThreadMXBean if it lacks the fix. */
    Contender before(String jdk) {
        return Jdk.readsUserTimeAsText(version(jdk)) ? Contender.STOCK_USER : Contender.PROC;
    }

    /** Returns the contender that reads as after the fix. */
    Contender after(String jdk) {
        return Jdk.readsUserTimeAsText(version(jdk)) ? Contender.OWN_ID : Contender.STOCK_USER;
    }
}
