// SPDX-License-Identifier: Apache-2.0
// Copyright the TaskClock authors
package org.taskclock.monitor;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.nio.file.attribute.PosixFilePermissions;

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
        Path file = jvm.reportRequest().resolveSibling(".taskclock_command_" + jvm.innerPid());
        try {
            Files.createFile(file);
        } catch (IOException e) {
            return null; // another tool sends a command, or the JVM's /tmp cannot be written
        }
        try {
            // The JVM's user must be able to read the file, and nobody else may write it.
            Files.setPosixFilePermissions(file, PosixFilePermissions.fromString("rw-r--r--"));
            // The line end shows that the command is complete.
            Files.writeString(file, options + "\n", StandardOpenOption.WRITE);
            String state = jvm.properties(timeoutMillis, "agentProperties").getProperty(STATE, "");
            return state.isEmpty() ? null : state;
        } finally {
            Files.deleteIfExists(file);
        }
    }
}
