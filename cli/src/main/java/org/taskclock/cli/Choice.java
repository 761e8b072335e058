// SPDX-License-Identifier: Apache-2.0
// Copyright the TaskClock authors
package org.taskclock.cli;

import java.util.List;
import java.util.stream.Collectors;
import org.taskclock.watch.Jvms;

/** Which JVM is meant: by its process id, or a part of its main class's or jar's name. */
final class Choice {
    private Choice() {}

    static long find(String pidOrName) throws Target.Failure {
        if (pidOrName.matches("[0-9]{1,10}")) return Long.parseLong(pidOrName);
        List<Jvms.Jvm> found = Jvms.named(pidOrName);
        if (found.size() == 1) return found.get(0).pid();
        if (found.isEmpty()) {
            throw new Target.Failure(
                    Main.NO_PROCESS,
                    "no JVM has \"" + pidOrName + "\" in its name: taskclock top shows those there are");
        }
        String all = found.stream().map(jvm -> jvm.pid() + " " + jvm.name()).collect(Collectors.joining(", "));
        throw new Target.Failure(
                Main.USAGE,
                found.size() + " JVMs have \"" + pidOrName + "\" in their names: choose a process id: " + all);
    }
}
