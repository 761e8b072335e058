// SPDX-License-Identifier: Apache-2.0
// Copyright the TaskClock authors
package org.taskclock.monitor.recording;

import com.google.gson.JsonArray;
import org.taskclock.monitor.usage.JavaStatus;
import org.taskclock.monitor.usage.ThreadUsage;

/** The format of a {@link JavaStatus} in a recording: the elements of an array, in the order of its components. */
final class JavaStatusFormat {
    private JavaStatusFormat() {}

    static JsonArray encode(JavaStatus status) {
        JavaStatus saved = withoutAddress(status);
        JsonArray array = new JsonArray();
        array.add(saved.stateName());
        array.add(saved.lockClass());
        array.add(saved.lockId());
        array.add(saved.contended());
        array.add(saved.ownerTid());
        array.add(saved.owner());
        array.add(saved.blockedNanos());
        array.add(saved.waitedNanos());
        array.add(saved.allocatedBytes());
        return array;
    }

    static JavaStatus decode(JsonArray array) {
        return new JavaStatus(
                state(array.get(0).getAsString()),
                array.get(1).getAsString(),
                array.get(2).getAsString(),
                array.get(3).getAsBoolean(),
                array.get(4).getAsInt(),
                array.get(5).getAsString(),
                array.get(6).getAsLong(),
                array.get(7).getAsLong(),
                array.get(8).getAsLong());
    }

    /** Returns null for an unknown name. */
    private static Thread.State state(String name) {
        for (Thread.State state : Thread.State.values()) if (state.name().equals(name)) return state;
        return null;
    }

    /**
     * Returns a usage that is equal for two intervals if the thread slept through both. The estimated times differ,
     * because no two intervals are of equal length.
     */
    static ThreadUsage withoutTimes(ThreadUsage usage) {
        JavaStatus java = withoutAddress(usage.java());
        return usage.change().java(java.with(0, 0, java.allocatedBytes())).build();
    }

    /** Each garbage collection may change the address of every object, which is of interest only for locks. */
    private static JavaStatus withoutAddress(JavaStatus status) {
        if (status.contended()) return status;
        return new JavaStatus(
                status.state(),
                status.lockClass(),
                "",
                false,
                0,
                "",
                status.blockedNanos(),
                status.waitedNanos(),
                status.allocatedBytes());
    }
}
