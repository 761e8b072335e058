// SPDX-License-Identifier: Apache-2.0
// Copyright the TaskClock authors
package org.taskclock.metrics;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Tests control groups of both versions, with files like those of the kernel. */
class CgroupTest {
    @TempDir
    private Path root;

    private void writeFile(String path, String text) throws IOException {
        Path file = root.resolve(path);
        Files.createDirectories(file.getParent());
        Files.writeString(file, text);
    }

    private void writeVersion2(String group, String limit, String stat) throws IOException {
        writeFile(group + "/cpu.max", limit + "\n");
        writeFile(group + "/cpu.stat", stat);
    }

    @Test
    void shouldReadVersion2() throws IOException {
        writeVersion2("kubepods", "200000 100000", "usage_usec 9\n");
        writeVersion2(
                "kubepods/pod1",
                "max 100000",
                "usage_usec 5000\nuser_usec 4000\nnr_periods 10\nnr_throttled 2\nthrottled_usec 300\n");
        Cgroup group = Cgroup.of(List.of("0::/kubepods/pod1"), root);
        assertThat(group.cpuNanos()).isEqualTo(5_000_000);
        assertThat(group.throttledNanos()).isEqualTo(300_000);
        assertThat(group.cpuLimit()).as("limit of the parent group").isEqualTo(2);
        assertThat(group.periods()).as("unknown for the parent group").isEqualTo(-1);
        writeVersion2(
                "kubepods/pod1",
                "50000 100000",
                "usage_usec 5000\nnr_periods 10\nnr_throttled 2\nthrottled_usec 300\n");
        assertThat(group.usage()).isEqualTo(new JvmUsage.ContainerUsage(5_000_000, 300_000, 0.5, 10, 2));
        writeVersion2("kubepods/pod1", "50000 100000", "");
        assertThat(group.cpuLimit()).as("changed limit").isEqualTo(0.5);
        assertThat(group.cpuNanos()).as("missing line").isEqualTo(-1);
    }

    @Test
    void shouldReadVersion1() throws IOException {
        writeFile("cpu/docker/abc/cpu.cfs_quota_us", "150000\n");
        writeFile("cpu/docker/abc/cpu.cfs_period_us", "100000\n");
        writeFile("cpu/docker/abc/cpu.stat", "nr_periods 7\nnr_throttled 3\nthrottled_time 123456\n");
        writeFile("cpuacct/docker/abc/cpuacct.usage", "777\n");
        Cgroup group = Cgroup.of(List.of("4:cpuacct:/docker/abc", "3:cpu:/docker/abc", "0::/"), root);
        assertThat(group.cpuNanos()).isEqualTo(777);
        assertThat(group.throttledNanos()).isEqualTo(123_456);
        assertThat(group.periods()).isEqualTo(7);
        assertThat(group.throttledPeriods()).isEqualTo(3);
        assertThat(group.cpuLimit()).isEqualTo(1.5);
        assertThat(Cgroup.of(List.of("4:cpuacct:/", "3:cpu:/docker/abc"), root).cpuNanos())
                .as("different groups for cpu and cpuacct")
                .isEqualTo(-1);
    }

    /** In a container, the mount point is the container's own group, regardless of the path that the kernel reports. */
    @Test
    void shouldFindGroupOfContainer() throws IOException {
        writeVersion2(".", "100000 100000", "usage_usec 1\nthrottled_usec 2\n");
        Cgroup group = Cgroup.of(List.of("0::/system.slice/docker-1.scope"), root);
        assertThat(group.cpuNanos()).isEqualTo(1_000);
        assertThat(group.cpuLimit()).isEqualTo(1);
        assertThat(Cgroup.of(List.of("0::/../../elsewhere"), root).cpuLimit()).isEqualTo(1);
    }

    /** A container without a cgroup namespace sees the paths of others, but at the mount point only its own group. */
    @Test
    void shouldNotTakeOurOwnGroupForThatOfAnotherContainer() throws IOException {
        writeVersion2(".", "100000 100000", "usage_usec 1\nnr_periods 5\nnr_throttled 4\nthrottled_usec 2\n");
        writeFile("cpu/cpu.cfs_quota_us", "150000\n");
        writeFile("cpu/cpu.cfs_period_us", "100000\n");
        writeFile("cpu/cpu.stat", "nr_periods 7\nnr_throttled 3\nthrottled_time 123456\n");
        writeFile("cpuacct/cpuacct.usage", "777\n");
        for (List<String> lines : List.of(
                List.of("0::/kubepods/pod2/" + "0123456789abcdef".repeat(4)),
                List.of("4:cpuacct:/docker/abc", "3:cpu:/docker/abc", "0::/"))) {
            Cgroup other = Cgroup.ofOther(lines, root);
            assertThat(other.known()).as(lines.toString()).isEqualTo(new JvmUsage.ContainerUsage(-1, -1, 0, -1, -1));
            assertThat(other.usage()).as(lines.toString()).isNull();
        }
        writeVersion2("kubepods/pod2", "50000 100000", "usage_usec 9\nnr_periods 6\nnr_throttled 1\n");
        assertThat(Cgroup.ofOther(List.of("0::/kubepods/pod2"), root).usage())
                .isEqualTo(new JvmUsage.ContainerUsage(9_000, -1, 0.5, 6, 1));
    }

    /** Texts as the kernel writes them for a process in a cgroup namespace, with the host's hierarchy mounted. */
    @Test
    void shouldFindGroupsOutsideOfOurNamespace() throws IOException {
        String scope = "cri-containerd-" + "0123456789abcdef".repeat(4) + ".scope";
        List<String> mounts = List.of(
                "29 23 0:26 / /sys/fs/cgroup ro,nosuid - cgroup2 cgroup rw",
                "30 23 0:26 /../../../.. " + root + " ro,relatime - cgroup2 cgroup rw");
        writeFile("kubepods.slice/burstable.slice/pod1.slice/ours.scope/cgroup.procs", "1\n4711\n");
        writeFile("kubepods.slice/burstable.slice/pod1.slice/pause.scope/cgroup.procs", "47\n");
        String neighbor = "kubepods.slice/burstable.slice/pod2.slice/" + scope;
        writeVersion2(neighbor, "50000 100000", "usage_usec 5\nnr_periods 4\nnr_throttled 3\n");
        Cgroup group = Cgroup.outside(List.of("0::/../../pod2.slice/" + scope), mounts, 4711);
        assertThat(group.usage()).isEqualTo(new JvmUsage.ContainerUsage(5_000, -1, 0.5, 4, 3));

        writeVersion2("system.slice/ssh.service", "max 100000", "usage_usec 5\n");
        group = Cgroup.outside(List.of("0::/../../../../system.slice/ssh.service"), mounts, 4711);
        assertThat(group.usage()).as("no container and no limit").isNull();
        assertThat(group.throttledNanos()).isEqualTo(-1);
        assertThat(Cgroup.outside(List.of("0::/../../gone.slice"), mounts, 4711))
                .isNull();
        assertThat(Cgroup.outside(List.of("0::/../../pod2.slice/" + scope), mounts, 12))
                .as("our own group is not found")
                .isNull();
        assertThat(Cgroup.outside(List.of("0::/../../pod2.slice/" + scope), mounts.subList(0, 1), 4711))
                .as("the host's hierarchy is not mounted")
                .isNull();

        List<String> lines = List.of("0::/../../pod2.slice/" + scope);
        assertThat(Cgroup.outside(lines, mounts, 4711)).isNotNull();
        Files.delete(root.resolve("kubepods.slice/burstable.slice/pod1.slice/ours.scope/cgroup.procs"));
        assertThat(Cgroup.outside(lines, mounts, 4711))
                .as("our own group is not looked for again")
                .isNotNull();
    }

    @Test
    void shouldIgnoreGroupsThatAreNotContainers() throws IOException {
        String container = "system.slice/docker-" + "0123456789abcdef".repeat(4) + ".scope";
        for (String path : List.of("user.slice/user-0.slice/session-1.scope", "system.slice/orders.service")) {
            writeVersion2(path, "max 100000", "usage_usec 5000\n");
            Cgroup group = Cgroup.of(List.of("0::/" + path), root);
            assertThat(group.cpuNanos()).as(path).isEqualTo(-1);
            writeVersion2(path, "50000 100000", "usage_usec 5000\n");
            assertThat(group.cpuNanos()).as(path + " with a limit").isEqualTo(5_000_000);
        }
        for (String path : List.of(container, "kubepods.slice/kubepods-burstable.slice", "lxc/web", "docker/web")) {
            writeVersion2(path, "max 100000", "usage_usec 5000\n");
            assertThat(Cgroup.of(List.of("0::/" + path), root).cpuNanos())
                    .as(path)
                    .isEqualTo(5_000_000);
        }
        writeVersion2(".", "max 100000", "usage_usec 5000\n");
        assertThat(Cgroup.of(List.of("0::/"), root).cpuNanos())
                .as("a container's own group, which is not the root")
                .isEqualTo(5_000_000);
    }

    @Test
    void shouldHandleMissingGroup() throws IOException {
        for (List<String> lines : List.of(List.<String>of(), List.of("garbage"), List.of("0::/"))) {
            Cgroup none = Cgroup.of(lines, root);
            assertThat(none.cpuNanos()).isEqualTo(-1);
            assertThat(none.throttledNanos()).isEqualTo(-1);
            assertThat(none.cpuLimit()).isZero();
        }
        writeFile("cpu/cpu.cfs_quota_us", "-1\n");
        writeFile("cpuacct/cpuacct.usage", "777\n");
        Cgroup unlimited = Cgroup.of(List.of("1:cpu,cpuacct:/"), root);
        assertThat(unlimited.cpuNanos()).as("the root group is not a container").isEqualTo(-1);
        assertThat(unlimited.cpuLimit()).isZero();
    }
}
