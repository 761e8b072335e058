// SPDX-License-Identifier: Apache-2.0
// Copyright the TaskClock authors
package org.taskclock.cli;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import org.jline.utils.Signals;

/** Forwards signals from this JVM to a child process. This JVM exits when the child does. */
final class SignalForwarder {
    private SignalForwarder() {}

    static void install(Process process) {
        for (String signal : new String[] {"HUP", "INT", "TERM"}) {
            Signals.register(signal, () -> {
                // On Ctrl-C, a terminal signals the whole foreground process group, including the child.
                if (signal.equals("INT") && isInForeground()) return;
                if (signal.equals("TERM")) process.destroy();
                else send(signal, process.pid());
            });
        }
    }

    private static void send(String signal, long pid) {
        try {
            // The JDK can send only TERM and KILL.
            new ProcessBuilder("sh", "-c", "kill -" + signal + " " + pid)
                    .inheritIO()
                    .start();
        } catch (IOException e) {
            System.err.println("taskclock: cannot forward SIG" + signal + ": " + e.getMessage());
        }
    }

    private static boolean isInForeground() {
        try {
            String stat = Files.readString(Path.of("/proc/self/stat"));
            // Field 5 is the process group, field 8 the foreground process group of the terminal; fields[0] is field 3.
            String[] fields = stat.substring(stat.lastIndexOf(')') + 2).split(" ", -1);
            return fields[2].equals(fields[5]);
        } catch (IOException e) {
            return false;
        }
    }
}
