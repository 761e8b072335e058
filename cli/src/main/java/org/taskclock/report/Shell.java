// SPDX-License-Identifier: Apache-2.0
// Copyright the TaskClock authors
package org.taskclock.report;

import java.util.List;
import java.util.stream.Collectors;

/** Commands as they can be given to a shell. */
final class Shell {
    private Shell() {}

    static String line(List<String> command) {
        return command.stream()
                .map(word -> word.matches("[\\w./:=,@%+-]+") ? word : "'" + word.replace("'", "'\\''") + "'")
                .collect(Collectors.joining(" "));
    }
}
