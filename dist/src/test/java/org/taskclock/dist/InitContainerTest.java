// SPDX-License-Identifier: Apache-2.0
// Copyright the TaskClock authors
package org.taskclock.dist;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/**
 * The pod of deploy/kubernetes/agent/deployment.yaml, as far as namespaces, chroot, and user ids make one: the init
 * container and the program have different, read-only roots, and share only the volume. There is no container engine.
 */
class InitContainerTest {
    private static final String SCRIPT = """
            set -eu
            pod=$1 image=$2 java=$3 copy=$4 options=$5
            mount -t tmpfs tmpfs "$pod"
            mkdir "$pod/volume"
            mount -t tmpfs -o mode=777,size=8m tmpfs "$pod/volume"

            # container NAME OPTION DIRECTORY...: a root with directories of this machine, read-only, and the volume
            container() {
              root=$pod/$1
              mkdir -p "$root/taskclock" "$root/tmp" "$root/proc" "$root/dev"
              mount --bind "$pod/volume" "$root/taskclock"
              mount -o "remount,bind,$2" "$root/taskclock"
              mount --bind /dev "$root/dev"
              mount -t proc proc "$root/proc"
              shift 2
              for directory; do
                [ -e "$directory" ] || continue
                mkdir -p "$root$directory"
                mount --bind "$directory" "$root$directory"
                mount -o remount,bind,ro "$root$directory"
              done
            }
            container init rw /usr/bin /usr/lib /bin /lib /lib64 "$image"
            mkdir -p "$pod/init/usr/share"
            ln -s "$image/usr/share/taskclock" "$pod/init/usr/share/taskclock"
            container program ro "$java" /usr/lib /lib /lib64
            mount -t tmpfs -o mode=1777 tmpfs "$pod/program/tmp"

            chroot --userspec=1000:1000 "$pod/init" $copy
            # The program has no shell and no other tools.
            export JAVA_TOOL_OPTIONS="$options"
            exec chroot --userspec=1000:1000 "$pod/program" "$java/bin/java" -XshowSettings:properties -version
            """;

    @TempDir
    private Path pod;

    private static String valueOf(String pattern, String manifest) {
        Matcher value = Pattern.compile(pattern).matcher(manifest);
        assertThat(value.find()).as(pattern).isTrue();
        return value.group(1);
    }

    @Test
    void shouldLoadTheAgentThatTheInitContainerHasCopied() throws Exception {
        assumeTrue("root".equals(System.getProperty("user.name")), "NOT RUN: only root can create these namespaces");
        String manifest = Files.readString(Path.of("..", "deploy", "kubernetes", "agent", "deployment.yaml"));
        String copy = valueOf("command: \\[(.*)]", manifest).replace(",", "");
        String options = valueOf("name: JAVA_TOOL_OPTIONS\\n *value: (.*)", manifest);
        ProcessResult result = ProcessResult.of(
                Map.of(),
                List.of(
                        "/usr/bin/unshare",
                        "--mount",
                        "--pid",
                        "--fork",
                        "sh",
                        "-c",
                        SCRIPT,
                        "pod",
                        pod.toString(),
                        Path.of("target", "image").toRealPath().toString(),
                        Path.of(System.getProperty("java.home")).toRealPath().toString(),
                        copy,
                        options));
        assertThat(result.exitCode()).as(result.output()).isZero();
        assertThat(result.output())
                .contains("Picked up JAVA_TOOL_OPTIONS: -javaagent:/taskclock/taskclock-agent.jar")
                .contains("taskclock.agent = ")
                .doesNotContain("taskclock.agent = failed");
    }
}
