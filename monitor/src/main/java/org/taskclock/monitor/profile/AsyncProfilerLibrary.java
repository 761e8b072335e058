// SPDX-License-Identifier: Apache-2.0
// Copyright the TaskClock authors
package org.taskclock.monitor.profile;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.DirectoryStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import org.taskclock.monitor.proc.TargetMemory;

/** Finds async-profiler's library, which is not part of TaskClock. */
final class AsyncProfilerLibrary {
    private static final String LIBRARY = "libasyncProfiler";
    private static final String NAME = "libasyncProfiler.so";

    private static final int SIGPROF = 27;

    private static final List<String> FOLDERS = List.of(
            "/usr/local/lib",
            "/usr/local/lib/async-profiler",
            "/usr/lib",
            "/usr/lib64",
            "/usr/lib/async-profiler",
            "/usr/lib/x86_64-linux-gnu",
            "/opt/async-profiler/lib",
            "/opt/async-profiler/build");

    private AsyncProfilerLibrary() {}

    /**
     * Returns the library: at the given path, which may be a folder of async-profiler, else where ASPROF_LIB in the
     * environment says, else next to asprof on the PATH, else in the usual folders. Returns null if there is none.
     *
     * @param given null if the user gave none
     * @throws ProfileException if the given path, or that in ASPROF_LIB, has no library
     */
    static Path find(Path given) throws ProfileException {
        if (given != null) return at(given, "--async-profiler " + given);
        String variable = System.getenv("ASPROF_LIB");
        if (variable != null && !variable.isEmpty()) return at(Path.of(variable), "ASPROF_LIB=" + variable);
        for (String folder : String.valueOf(System.getenv("PATH")).split(":", -1)) {
            Path asprof = Path.of(folder).resolve("asprof");
            if (!Files.isExecutable(asprof)) continue;
            try {
                Path library =
                        asprof.toRealPath().resolve("../../lib").normalize().resolve(NAME);
                if (Files.isRegularFile(library)) return library;
            } catch (IOException e) {
                // Continue with the next folder.
            }
        }
        for (String folder : FOLDERS) {
            Path library = Path.of(folder, NAME);
            if (Files.isRegularFile(library)) return library;
        }
        return inReleaseFolder();
    }

    private static Path at(Path path, String option) throws ProfileException {
        for (Path candidate :
                List.of(path, path.resolve(NAME), path.resolve("lib").resolve(NAME)))
            if (Files.isRegularFile(candidate))
                return candidate.toAbsolutePath().normalize();
        throw new ProfileException(option + ": there is no " + NAME + ": give the path of the library");
    }

    /** Looks for an unpacked release, such as /opt/async-profiler-4.6-linux-x64. */
    private static Path inReleaseFolder() {
        for (Path parent : List.of(Path.of("/opt"), Path.of(System.getProperty("user.home")))) {
            if (!Files.isDirectory(parent)) continue;
            try (DirectoryStream<Path> found = Files.newDirectoryStream(parent, "async-profiler*")) {
                for (Path folder : found) {
                    Path library = folder.resolve("lib").resolve(NAME);
                    if (Files.isRegularFile(library)) return library;
                }
            } catch (IOException e) {
                // The folder cannot be listed, so nothing can be loaded from it.
            }
        }
        return null;
    }

    /**
     * Returns whether async-profiler is loaded in a JVM and a handler for its default signal, SIGPROF, is installed.
     */
    static boolean hasTakenSigprof(long pid) throws IOException {
        boolean caught = false;
        for (String line : Files.readAllLines(Path.of("/proc/" + pid + "/status"), StandardCharsets.ISO_8859_1)) {
            if (!line.startsWith("SigCgt:")) continue;
            long signals =
                    Long.parseUnsignedLong(line.substring("SigCgt:".length()).strip(), 16);
            caught = ((signals >>> (SIGPROF - 1)) & 1) != 0;
        }
        if (!caught) return false;
        return TargetMemory.mappedFile(pid, LIBRARY) != null;
    }

    /**
     * Returns the library that is already loaded in a JVM; null if there is none. A second copy would not see the state
     * of the first one.
     *
     * @throws ProfileException if its file has been deleted, so that it cannot be asked whether it is profiling
     */
    static Path loadedIn(long pid) throws IOException {
        String library = TargetMemory.mappedFile(pid, LIBRARY);
        if (library == null) return null;
        if (!library.endsWith(" (deleted)")) return Path.of(library);
        throw new ProfileException(
                "process " + pid + ": async-profiler was loaded from a file that has since been deleted"
                        + ", so it may be profiling: use --source jfr");
    }
}
