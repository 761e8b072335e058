// SPDX-License-Identifier: Apache-2.0
// Copyright the TaskClock authors
package org.taskclock.report;

import java.util.List;
import java.util.stream.Collectors;

/** Quotes commands for a shell. */
final class ShellCommand {
    private ShellCommand() {}

    static String quote(List<String> command) {
        return command.stream()
                .map(arg -> arg.matches("[\\w./:=,@%+-]+") ? arg : "'" + arg.replace("'", "'\\''") + "'")
                .collect(Collectors.joining(" "));
    }
}
