// SPDX-License-Identifier: Apache-2.0
// Copyright the TaskClock authors
package org.taskclock.monitor.proc;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/** The id of the container that a process runs in, as container engines put it in the names of control groups. */
public final class ContainerId {
    /** Docker, containerd, CRI-O and Podman use 64 hexadecimal digits, alone or as in docker-ID.scope. */
    private static final Pattern ENGINE = Pattern.compile("(?:^|[^0-9a-f])([0-9a-f]{12})[0-9a-f]{52}(?![0-9a-f])");

    private static final Pattern LXC = Pattern.compile("/lxc(?:\\.payload\\.|/)([^/]+)");

    private ContainerId() {}

    /** Returns the short id; null if the process is not in a container, or if its id is unknown. */
    public static String of(long pid) {
        try {
            return in(Files.readAllLines(Path.of("/proc/" + pid + "/cgroup")));
        } catch (IOException e) {
            return null;
        }
    }

    /** Returns the short id in the lines of /proc/PID/cgroup. */
    static String in(List<String> lines) {
        for (Pattern pattern : List.of(ENGINE, LXC)) {
            String id = null;
            for (String line : lines) {
                Matcher matcher = pattern.matcher(line);
                while (matcher.find()) id = matcher.group(1); // the innermost container
                if (id != null) return id;
            }
        }
        return null;
    }
}
