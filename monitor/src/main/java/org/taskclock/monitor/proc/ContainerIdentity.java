// SPDX-License-Identifier: Apache-2.0
// Copyright the TaskClock authors
package org.taskclock.monitor.proc;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * Where a process runs, as far as container engines and Kubernetes put it in the names of control groups.
 *
 * @param id the container's full id, or the name of an LXC container; empty if there is none
 * @param podUid the unique id of the Kubernetes pod; empty if there is none
 */
public record ContainerIdentity(String id, String podUid) {
    /** With systemd, the hyphens in the id are underscores. The ids of static pods are hashes without hyphens. */
    private static final Pattern POD = Pattern.compile(
            "pod([0-9a-f]{8}[-_][0-9a-f]{4}[-_][0-9a-f]{4}[-_][0-9a-f]{4}[-_][0-9a-f]{12}|[0-9a-f]{32})");

    private static final Pattern ENGINE = Pattern.compile("(?:^|[^0-9a-f])([0-9a-f]{64})(?![0-9a-f])");

    /** Returns where a process runs. */
    public static ContainerIdentity of(long pid) {
        try {
            return in(Files.readAllLines(Path.of("/proc/" + pid + "/cgroup")));
        } catch (IOException e) {
            return new ContainerIdentity("", "");
        }
    }

    /** Returns the identity in the lines of /proc/PID/cgroup. */
    static ContainerIdentity in(List<String> lines) {
        String id = last(ENGINE, lines);
        if (id.isEmpty()) {
            String lxc = ContainerId.in(lines);
            if (lxc != null) id = lxc;
        }
        return new ContainerIdentity(id, last(POD, lines).replace('_', '-'));
    }

    /** Returns the innermost match. */
    private static String last(Pattern pattern, List<String> lines) {
        for (String line : lines) {
            String found = "";
            Matcher matcher = pattern.matcher(line);
            while (matcher.find()) found = matcher.group(1);
            if (!found.isEmpty()) return found;
        }
        return "";
    }
}
