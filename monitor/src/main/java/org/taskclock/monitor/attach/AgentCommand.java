// SPDX-License-Identifier: Apache-2.0
// Copyright the TaskClock authors
package org.taskclock.monitor.attach;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import org.taskclock.monitor.proc.TargetFiles;

/**
 * Passes options to an agent that is loaded, through a file that it reads when it is asked for the agent properties.
 * Loading the agent again would have the same effect, but each time, JDK 21 and later print four lines of warnings.
 */
final class AgentCommand {
    /** The agent property with the reply. */
    private static final String STATE = "taskclock.state";

    private AgentCommand() {}

    /** Returns the agent's state, or null if there is no agent, or if it does not accept commands. */
    static String send(AttachClient jvm, String options, long timeoutMillis) throws IOException {
        String file = TargetFiles.TMP + ".taskclock_command_" + jvm.innerPid();
        try {
            // The line end shows that the command is complete.
            jvm.files().create(file, (options + "\n").getBytes(StandardCharsets.UTF_8));
        } catch (IOException e) {
            return null; // another tool sends a command, or the JVM's /tmp cannot be written
        }
        try {
            String state = jvm.property(timeoutMillis, "agentProperties", STATE);
            return state == null || state.isEmpty() ? null : state;
        } finally {
            jvm.files().deleteIfExists(file);
        }
    }
}
