// SPDX-License-Identifier: Apache-2.0
// Copyright the TaskClock authors
package org.taskclock;

import static org.junit.jupiter.api.Assumptions.assumeTrue;

import java.io.UncheckedIOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;

/** Starts a child for which a directory is a separate tmpfs. */
final class TmpfsLauncher {
    private TmpfsLauncher() {}

    /** Returns the beginning of a command that mounts a tmpfs with this option on the directory. */
    static List<String> command(Path directory, String option) {
        String script = "mount -t tmpfs -o \"$1\" none \"$2\" || exit 99; shift 2; exec \"$@\"";
        for (List<String> namespace : List.of(List.of("unshare", "--mount"), List.of("unshare", "-Urm"))) {
            List<String> launcher = new ArrayList<>(namespace);
            launcher.addAll(List.of("sh", "-c", script, "sh", option, directory.toString()));
            List<String> probe = new ArrayList<>(launcher);
            probe.add("true");
            if (canRun(probe)) return launcher;
        }
        assumeTrue(false, "a private tmpfs mount is not permitted (unshare --mount, unshare -Urm)");
        throw new AssertionError();
    }

    private static boolean canRun(List<String> command) {
        try {
            return ChildJvm.run(command).exit() == 0;
        } catch (UncheckedIOException e) {
            return false; // no such command
        }
    }
}
