// SPDX-License-Identifier: Apache-2.0
// Copyright the TaskClock authors
package org.taskclock.monitor.proc;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.FileSystemException;
import java.nio.file.Files;
import java.nio.file.Path;

/** The version of the JDK that runs a process, from the file "release" of that JDK. */
public final class JdkVersion {
    private static final String KEY = "JAVA_VERSION=\"";

    private JdkVersion() {}

    /** Returns the version of a JVM, such as 17.0.12; null if unknown. */
    public static String of(long pid) {
        try {
            Path launcher = Files.readSymbolicLink(Path.of("/proc/" + pid + "/exe"));
            String version = read(pid, launcher.resolve("../../release"));
            if (version != null) return version;
            // A program that embeds a JVM has another executable.
            String library = TargetMemory.mappedFile(pid, JvmProcesses.LIBJVM);
            return library == null ? null : read(pid, Path.of(library, "../../../release"));
        } catch (IOException | RuntimeException e) {
            return null;
        }
    }

    private static String read(long pid, Path release) throws IOException {
        byte[] text;
        try {
            text = TargetFiles.of(pid).read(release.normalize().toString(), TargetFiles.MAX_TEXT_BYTES);
        } catch (FileSystemException e) {
            return null;
        }
        for (String line : new String(text, StandardCharsets.UTF_8).split("\n", -1))
            if (line.startsWith(KEY) && line.endsWith("\""))
                return TargetText.limit(line.substring(KEY.length(), line.length() - 1));
        return null;
    }
}
