// SPDX-License-Identifier: Apache-2.0
// Copyright the TaskClock authors
package org.taskclock.cli;

import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.ParseResult;

/** The options of the interactive view, shared by {@code top} and {@code replay}. */
final class ScreenOptions {
    @Option(
            names = "--no-config",
            description = "Ignore the saved settings of the interactive view, and do not save any.")
    private boolean noConfig;

    @Option(names = "--no-mouse", description = "Leave the mouse to the terminal.")
    private boolean noMouse;

    boolean mouse() {
        return !noMouse;
    }

    /**
     * Returns the saved settings, and prints a line if they cannot be read.
     *
     * @param hasInterval whether the command line gives the interval
     */
    SavedSettings settings(CommandSpec spec, boolean hasInterval) {
        SavedSettings settings =
                noConfig ? SavedSettings.none() : SavedSettings.load(SavedSettings.file(System.getenv()));
        if (!settings.error().isEmpty()) System.err.println("taskclock: " + settings.error());
        ParseResult parsed = spec.commandLine().getParseResult();
        if (parsed.hasMatchedOption("--sort")) settings.ignore("sort", "reverse");
        if (hasInterval) settings.ignore("interval");
        return settings;
    }
}
