// SPDX-License-Identifier: Apache-2.0
// Copyright the TaskClock authors
package org.taskclock.lab;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;

/** A control group, of version 1 or 2, that limits the CPU time of what is started in it, as that of a container. */
final class CpuLimitGroup implements AutoCloseable {
    private static final Path ROOT = Path.of("/sys/fs/cgroup");
    private static final int PERIOD_MICROS = 100_000;
    private static final int REMOVAL_SECONDS = 10;
    private static final int POLL_MILLIS = 100;

    private final Path directory;

    /** @throws IOException if groups cannot be created here */
    CpuLimitGroup(double processors) throws IOException {
        boolean isV2 = Files.exists(ROOT.resolve("cgroup.controllers"));
        Path parent = isV2 ? ROOT : ROOT.resolve("cpu");
        directory = Files.createDirectory(
                parent.resolve("taskclock-zoo-" + ProcessHandle.current().pid()));
        long quota = Math.round(processors * PERIOD_MICROS);
        try {
            if (isV2) write("cpu.max", quota + " " + PERIOD_MICROS);
            else write("cpu.cfs_quota_us", Long.toString(quota));
        } catch (IOException e) {
            Files.delete(directory);
            throw e;
        }
    }

    private void write(String file, String text) throws IOException {
        Files.writeString(directory.resolve(file), text);
    }

    /** Returns words in front of a command, which start it in this group. */
    List<String> launcher() {
        return List.of("sh", "-c", "echo $$ > " + directory.resolve("cgroup.procs") + " && exec \"$@\"", "sh");
    }

    /** Removes the group, whose processes must have been killed. */
    @Override
    public void close() throws IOException {
        for (int i = 0; i < REMOVAL_SECONDS * 1_000 / POLL_MILLIS; i++) {
            if (Files.readString(directory.resolve("cgroup.procs")).isEmpty()) break;
            try {
                Thread.sleep(POLL_MILLIS);
            } catch (InterruptedException e) {
                Thread.currentThread().interrupt();
                break;
            }
        }
        Files.delete(directory);
    }
}
