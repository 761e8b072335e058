// SPDX-License-Identifier: Apache-2.0
// Copyright the TaskClock authors
package org.taskclock;

import static org.junit.jupiter.api.Assumptions.assumeTrue;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;

/** A cgroup (version 1 or 2) that restricts processes to certain processors, as a container does. */
final class Cpuset implements AutoCloseable {
    private static final int REMOVAL_LIMIT_SECONDS = 10;

    private final Path directory;

    private Cpuset(Path directory) {
        this.directory = directory;
    }

    /** Creates a cgroup. Skips the test if that is not possible. */
    static Cpuset create(String processors) throws IOException {
        List<String> reasons = new ArrayList<>();
        for (String line : Files.readAllLines(Path.of("/proc/self/mounts"))) {
            String[] mount = line.split(" ", -1);
            boolean isVersion2 = mount[2].equals("cgroup2");
            boolean isVersion1 = mount[2].equals("cgroup")
                    && List.of(mount[3].split(",", -1)).contains("cpuset");
            if (!isVersion1 && !isVersion2) continue;
            Path directory = Path.of(
                    mount[1], "taskclock-test-" + ProcessHandle.current().pid());
            Cpuset cpuset = new Cpuset(directory);
            try {
                Path subtreeControl = Path.of(mount[1], "cgroup.subtree_control");
                if (isVersion2 && !Files.readString(subtreeControl).contains("cpuset")) {
                    throw new IOException("no cpuset in " + subtreeControl);
                }
                Files.createDirectory(directory);
                // Version 1 also requires memory nodes.
                if (isVersion1)
                    cpuset.write(
                            "cpuset.mems",
                            Files.readString(Path.of(mount[1], "cpuset.mems")).trim());
                cpuset.allow(processors);
                return cpuset;
            } catch (IOException e) {
                reasons.add(e.toString());
                Files.deleteIfExists(directory);
            }
        }
        if (reasons.isEmpty()) reasons.add("no cpuset controller is mounted");
        assumeTrue(false, "cannot create a cpuset: " + reasons);
        throw new AssertionError();
    }

    void allow(String processors) throws IOException {
        write("cpuset.cpus", processors);
    }

    private void write(String file, String text) throws IOException {
        Files.writeString(directory.resolve(file), text);
    }

    /** Returns a command prefix that starts a command in this cgroup. */
    List<String> launcher() {
        return List.of(
                "sh",
                "-c",
                "echo $$ > \"$0\" && exec \"$@\"",
                directory.resolve("cgroup.procs").toString());
    }

    /** Removes the cgroup. The kernel needs a moment to remove processes that have ended. */
    @Override
    public void close() throws IOException {
        long end = System.nanoTime() + TimeUnit.SECONDS.toNanos(REMOVAL_LIMIT_SECONDS);
        for (; ; ) {
            try {
                Files.delete(directory);
                return;
            } catch (IOException e) {
                if (System.nanoTime() > end) throw e;
                Thread.onSpinWait();
            }
        }
    }
}
