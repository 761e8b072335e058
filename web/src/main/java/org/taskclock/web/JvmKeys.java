// SPDX-License-Identifier: Apache-2.0
// Copyright the TaskClock authors
package org.taskclock.web;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Instant;
import org.taskclock.history.JvmKey;
import org.taskclock.monitor.fleet.JvmDiscovery;
import org.taskclock.monitor.fleet.JvmLabels;
import org.taskclock.monitor.fleet.MonitoredJvm;
import org.taskclock.monitor.proc.JvmProcesses;

/** Assigns JVMs the identities that the API and the history use. */
final class JvmKeys {
    /** USER_HZ, the unit of start times in /proc. */
    private static final long TICKS_PER_SECOND = 100;

    private static final String BOOT_TIME = "btime ";
    private static final int BOOT_ID_LENGTH = 4;

    private final String host;

    /** Part of the kernel's boot id, because process ids and start ticks may repeat after a reboot. */
    private final String boot;

    /** @param node the name of this node of a Kubernetes cluster, instead of that of a pod; null if there is none */
    JvmKeys(String node) {
        host = node != null ? node : read("/proc/sys/kernel/hostname", "localhost");
        String id = read("/proc/sys/kernel/random/boot_id", "");
        boot = id.length() < BOOT_ID_LENGTH ? "0" : id.substring(0, BOOT_ID_LENGTH);
    }

    private static String read(String file, String ifAbsent) {
        try {
            String text = Files.readString(Path.of(file)).strip();
            return text.isEmpty() ? ifAbsent : text;
        } catch (IOException e) {
            return ifAbsent;
        }
    }

    String host() {
        return host;
    }

    /** Returns the key of a running JVM. Its id does not depend on the wall clock, which may be changed. */
    JvmKey of(MonitoredJvm jvm) {
        JvmLabels labels = jvm.labels();
        long ticks = jvm.id().startTicks();
        return new JvmKey(
                id(jvm.id()),
                host,
                labels.pid(),
                labels.service(),
                JvmProcesses.nameOf(labels.pid()),
                labels.containerId().isEmpty() ? null : labels.containerId(),
                labels.podUid().isEmpty() ? null : labels.podUid(),
                started(ticks));
    }

    String id(JvmDiscovery.JvmId jvm) {
        return jvm.pid() + "-" + Long.toString(jvm.startTicks(), Character.MAX_RADIX) + "-" + boot;
    }

    /** Returns whether the process of a JVM of the history exists. */
    boolean isRunning(JvmKey key) {
        return key.host().equals(host) && id(JvmDiscovery.idOf(key.pid())).equals(key.id());
    }

    private static Instant started(long ticks) {
        try {
            for (String line : Files.readAllLines(Path.of("/proc/stat"), StandardCharsets.ISO_8859_1))
                if (line.startsWith(BOOT_TIME))
                    return Instant.ofEpochSecond(Long.parseLong(line.substring(BOOT_TIME.length())))
                            .plusMillis(ticks * 1_000 / TICKS_PER_SECOND);
        } catch (IOException | RuntimeException e) {
            // The file is unlikely to lack this line.
        }
        return Instant.now();
    }
}
