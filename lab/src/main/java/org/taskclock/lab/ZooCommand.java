// SPDX-License-Identifier: Apache-2.0
// Copyright the TaskClock authors
package org.taskclock.lab;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.Stream;

/** Starts {@code taskclock} commands, in a JVM like this one. */
final class ZooCommand {
    private static final String NAME = "taskclock-cli.jar";

    private final List<String> command;

    ZooCommand() throws LabException {
        Path own = Path.of(System.getProperty("java.class.path")).toAbsolutePath();
        // Next to it, or in the source tree.
        Path jar = Stream.of(NAME, "taskclock", "../../cli/target/" + NAME)
                .map(own::resolveSibling)
                .filter(Files::isRegularFile)
                .findFirst()
                .orElseThrow(() -> new LabException("no " + NAME + " next to " + own + ": copy it there"));
        String java = Path.of(System.getProperty("java.home"), "bin", "java").toString();
        command = List.of(java, "--enable-native-access=ALL-UNNAMED", "-jar", jar.toString());
    }

    /** Starts a command whose output, also that to stderr, goes to a file. */
    Process start(Path output, String... arguments) throws IOException {
        List<String> all = new ArrayList<>(command);
        all.addAll(List.of(arguments));
        ProcessBuilder builder =
                new ProcessBuilder(all).redirectErrorStream(true).redirectOutput(output.toFile());
        builder.environment().keySet().removeAll(List.of("JAVA_TOOL_OPTIONS", "JDK_JAVA_OPTIONS"));
        return builder.start();
    }
}
