// SPDX-License-Identifier: Apache-2.0
// Copyright the TaskClock authors
package org.taskclock.cli;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import org.taskclock.monitor.profile.Profile;

/** The page of the terminal interface with a profile, from its start. Confined to the main thread. */
final class ProfileView {
    private final String name;
    private final Duration duration;
    private final long startNanos = System.nanoTime();
    private Profile profile;
    private String failure;
    private boolean flame;

    ProfileView(String name, Duration duration) {
        this.name = name;
        this.duration = duration;
    }

    void show(Profile result) {
        profile = result;
    }

    void fail(String message) {
        failure = message;
    }

    void toggleFlame() {
        flame = !flame;
    }

    /** Returns the lines above the table or flame graph, which may be longer than the screen is wide. */
    List<String> summary() {
        if (failure != null) return List.of("No profile: " + CellFormat.sanitize(failure));
        if (profile != null) return ProfileText.summary(profile);
        return List.of(String.format(
                Locale.ROOT,
                "Profiling %s for %d s: %.0f s so far. Escape cancels.",
                CellFormat.sanitize(name),
                duration.toSeconds(),
                (System.nanoTime() - startNanos) / 1e9));
    }

    List<String> body(int width) {
        if (profile == null) return List.of();
        List<String> lines = new ArrayList<>();
        lines.add("Escape: back, f: " + (flame ? "table of methods" : "flame graph"));
        lines.add("");
        lines.addAll(flame ? FlameText.of(profile, width) : ProfileText.methods(profile, 0));
        return lines;
    }
}
