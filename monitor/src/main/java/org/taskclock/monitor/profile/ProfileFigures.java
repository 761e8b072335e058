// SPDX-License-Identifier: Apache-2.0
// Copyright the TaskClock authors
package org.taskclock.monitor.profile;

import com.google.gson.Gson;
import com.google.gson.JsonParseException;
import org.taskclock.monitor.usage.Json;

/**
 * CPU time and samples of the threads that were profiled. What is unknown is null.
 *
 * @param threads which these are
 * @param cpu in percent of a core
 * @param samples -1 if unknown
 */
public record ProfileFigures(String threads, String source, Double seconds, Double cpu, Double user, long samples) {
    public static ProfileFigures of(Profile profile) {
        return new ProfileFigures(
                profile.threads(),
                profile.source(),
                Math.round(profile.intervalNanos() / 1e8) / 10.0,
                Json.percent(profile.cpuNanos(), profile.intervalNanos()),
                Json.percent(profile.userNanos(), profile.intervalNanos()),
                profile.samples());
    }

    /** Returns figures of which only the number of samples may be known. */
    public static ProfileFigures of(String threads, String source, long samples) {
        return new ProfileFigures(threads, source, null, null, null, samples);
    }

    /** Reads what {@link #json} has written. If that is missing or damaged, everything is unknown. */
    public static ProfileFigures ofJson(String json) {
        try {
            ProfileFigures figures = new Gson().fromJson(json, ProfileFigures.class);
            if (figures != null) return figures;
        } catch (JsonParseException e) {
            // The profile itself may still be of use.
        }
        return of(null, null, -1);
    }

    String json() {
        return new Gson().toJson(this);
    }
}
