// SPDX-License-Identifier: Apache-2.0
// Copyright the TaskClock authors
package org.taskclock.monitor.profile;

import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

/** Compares the CPU time per second of methods in two profiles. */
public final class MethodComparison {
    /**
     * A method, with its CPU time in fractions of a core; 0 where it was not sampled.
     *
     * @param selfA in the method itself, in the first profile
     * @param totalA with its callees
     */
    public record Change(String name, double selfA, double selfB, double totalA, double totalB) {
        public double self() {
            return selfB - selfA;
        }

        public double total() {
            return totalB - totalA;
        }
    }

    private MethodComparison() {}

    /** Returns all methods, those whose own CPU time per second changed most first. */
    public static List<Change> of(Profile a, Profile b) {
        Map<String, Profile.Method> before = new HashMap<>();
        for (Profile.Method method : a.methods()) before.put(method.name(), method);
        List<Change> changes = new ArrayList<>();
        for (Profile.Method method : b.methods()) changes.add(change(a, before.remove(method.name()), b, method));
        for (Profile.Method method : before.values()) changes.add(change(a, method, b, null));
        changes.sort(Comparator.comparingDouble((Change change) -> Math.abs(change.self()))
                .thenComparingDouble(change -> Math.abs(change.total()))
                .reversed()
                .thenComparing(Change::name));
        return changes;
    }

    private static Change change(Profile a, Profile.Method before, Profile b, Profile.Method after) {
        return new Change(
                (after == null ? before : after).name(),
                before == null ? 0 : cores(a, before.selfNanos()),
                after == null ? 0 : cores(b, after.selfNanos()),
                before == null ? 0 : cores(a, before.totalNanos()),
                after == null ? 0 : cores(b, after.totalNanos()));
    }

    private static double cores(Profile profile, long nanos) {
        return profile.intervalNanos() <= 0 ? 0 : (double) nanos / profile.intervalNanos();
    }
}
