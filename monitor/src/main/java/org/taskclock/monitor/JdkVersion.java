// SPDX-License-Identifier: Apache-2.0
// Copyright the TaskClock authors
package org.taskclock.monitor;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;

/** The version of the JDK that runs a process, from the file "release" of that JDK. */
final class JdkVersion {
    private static final String KEY = "JAVA_VERSION=\"";

    private JdkVersion() {}

    /** Returns the version of a JVM, such as 17.0.12; null if unknown. */
    static String of(long pid) {
        try {
            Path launcher = Files.readSymbolicLink(Path.of("/proc/" + pid + "/exe"));
            String version = read(pid, launcher.resolve("../../release"));
            // A program that embeds a JVM has another executable.
            return version != null ? version : read(pid, library(pid).resolve("../../../release"));
        } catch (IOException | RuntimeException e) {
            return null;
        }
    }

    private static String read(long pid, Path release) throws IOException {
        Path file = Path.of("/proc/" + pid + "/root" + release.normalize());
        if (!Files.isReadable(file)) return null;
        for (String line : Files.readAllLines(file))
            if (line.startsWith(KEY)) return line.substring(KEY.length(), line.length() - 1);
        return null;
    }

    /** Returns the path of HotSpot's library, JDK/lib/server/libjvm.so. */
    private static Path library(long pid) throws IOException {
        String maps = Files.readString(Path.of("/proc/" + pid + "/maps"), StandardCharsets.ISO_8859_1);
        int end = maps.indexOf("libjvm.so") + "libjvm.so".length();
        return Path.of(maps.substring(maps.lastIndexOf(" /", end) + 1, end));
    }
}
