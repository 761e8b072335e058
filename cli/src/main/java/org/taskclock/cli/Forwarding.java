// SPDX-License-Identifier: Apache-2.0
// Copyright the TaskClock authors
package org.taskclock.cli;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import org.jline.utils.Signals;

/** Signals that come to this JVM go to the command instead. What ends it, ends us. */
final class Forwarding {
    private Forwarding() {}

    static void to(Process process) {
        for (String signal : new String[] {"HUP", "INT", "TERM"}) {
            Signals.register(signal, () -> {
                // A terminal sends Ctrl-C to all that are in its foreground, the command too.
                if (signal.equals("INT") && isInForeground()) return;
                if (signal.equals("TERM")) process.destroy();
                else send(signal, process.pid());
            });
        }
    }

    private static void send(String signal, long pid) {
        try {
            // The JDK sends TERM and KILL only.
            new ProcessBuilder("sh", "-c", "kill -" + signal + " " + pid)
                    .inheritIO()
                    .start();
        } catch (IOException e) {
            System.err.println("taskclock: time: " + signal + " could not be handed on: " + e.getMessage());
        }
    }

    private static boolean isInForeground() {
        try {
            String stat = Files.readString(Path.of("/proc/self/stat"));
            // The third is the process group, the sixth the terminal's foreground group.
            String[] fields = stat.substring(stat.lastIndexOf(')') + 2).split(" ", -1);
            return fields[2].equals(fields[5]);
        } catch (IOException e) {
            return false;
        }
    }
}
