// SPDX-License-Identifier: Apache-2.0
// Copyright the TaskClock authors
package org.taskclock.cli;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.List;
import org.taskclock.monitor.profile.PprofProfile;
import org.taskclock.monitor.profile.Profile;

/** The formats of a file with a profile, and the suffixes by which they are chosen. */
enum ProfileFormat {
    HTML("html?"),
    COLLAPSED("collapsed|txt"),
    PPROF("pb\\.gz|pprof"),
    JSON("json");

    static final String SUFFIXES = ".html, .collapsed or .txt, .pb.gz or .pprof, or .json";

    /** A regular expression. */
    private final String suffix;

    ProfileFormat(String suffix) {
        this.suffix = suffix;
    }

    /** Returns the format of a file; null if its suffix is unknown. Standard output gets a page. */
    static ProfileFormat of(Path file) {
        String name = file.toString();
        if (name.equals("-")) return HTML;
        for (ProfileFormat format : values()) if (name.matches("(?s).*\\.(" + format.suffix + ")")) return format;
        return null;
    }

    /** @param arguments the arguments that repeat the profile */
    byte[] format(Profile profile, List<String> arguments) throws IOException {
        return switch (this) {
            case HTML -> utf8(ProfilePage.of(profile, arguments));
            case COLLAPSED -> utf8(profile.collapsed());
            case PPROF -> PprofProfile.of(profile);
            case JSON -> utf8(ProfileJson.of(profile));
        };
    }

    /** Returns what to do with the file. */
    String hint() {
        return switch (this) {
            case HTML -> "open it in a browser";
            case COLLAPSED -> "stacks with microseconds of CPU time";
            case PPROF -> "open it with go tool pprof -http localhost:0 FILE, or another viewer of pprof files";
            case JSON -> "one JSON object";
        };
    }

    private static byte[] utf8(String text) {
        return text.getBytes(StandardCharsets.UTF_8);
    }
}
