// SPDX-License-Identifier: Apache-2.0
// Copyright the TaskClock authors
package org.taskclock;

import java.util.function.BiConsumer;

/** How a native library is loaded for a class. The agent, which may do so without the JVM's permission, puts its way here. */
final class Loading {
    private static volatile BiConsumer<Class<?>, String> way = (owner, path) -> System.load(path);

    private Loading() {}

    static void load(Class<?> owner, String path) {
        way.accept(owner, path);
    }

    /** For the agent, by reflection, before the clock is first used. */
    static void by(BiConsumer<Class<?>, String> other) {
        way = other;
    }
}
