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

/** A cgroup whose processors the test chooses, as for a container; version 1 or 2, whichever this machine has. */
final class Cpuset implements AutoCloseable {
    private static final int GONE_WITHIN_SECONDS = 10;

    private final Path directory;

    private Cpuset(Path directory) {
        this.directory = directory;
    }

    /** Creates one; skips the test with a reason if that is not possible. */
    static Cpuset create(String processors) throws IOException {
        List<String> reasons = new ArrayList<>();
        for (String line : Files.readAllLines(Path.of("/proc/self/mounts"))) {
            String[] mount = line.split(" ", -1);
            boolean isSecond = mount[2].equals("cgroup2");
            boolean isFirst = mount[2].equals("cgroup")
                    && List.of(mount[3].split(",", -1)).contains("cpuset");
            if (!isFirst && !isSecond) continue;
            Path directory = Path.of(
                    mount[1], "taskclock-test-" + ProcessHandle.current().pid());
            Cpuset cpuset = new Cpuset(directory);
            try {
                Path passedOn = Path.of(mount[1], "cgroup.subtree_control");
                if (isSecond && !Files.readString(passedOn).contains("cpuset")) {
                    throw new IOException("no cpuset in " + passedOn);
                }
                Files.createDirectory(directory);
                // Version 1 wants its memory nodes named.
                if (isFirst)
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
        assumeTrue(false, "no cpuset can be made here: " + (reasons.isEmpty() ? "none is mounted" : reasons));
        throw new AssertionError();
    }

    void allow(String processors) throws IOException {
        write("cpuset.cpus", processors);
    }

    private void write(String file, String text) throws IOException {
        Files.writeString(directory.resolve(file), text);
    }

    /** A command prefix that starts a command in this group. */
    List<String> launcher() {
        return List.of(
                "sh",
                "-c",
                "echo $$ > \"$0\" && exec \"$@\"",
                directory.resolve("cgroup.procs").toString());
    }

    /** Removes it; the kernel takes a moment to forget processes that have ended. */
    @Override
    public void close() throws IOException {
        long end = System.nanoTime() + TimeUnit.SECONDS.toNanos(GONE_WITHIN_SECONDS);
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
