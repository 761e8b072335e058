// SPDX-License-Identifier: Apache-2.0
// Copyright the TaskClock authors
package org.taskclock.watch;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Control groups as kernels show them, in both versions. */
class CgroupTest {
    @TempDir
    private Path root;

    private void file(String path, String text) throws IOException {
        Path file = root.resolve(path);
        Files.createDirectories(file.getParent());
        Files.writeString(file, text);
    }

    private void version2(String group, String limit, String stat) throws IOException {
        file(group + "/cpu.max", limit + "\n");
        file(group + "/cpu.stat", stat);
    }

    @Test
    void shouldReadVersion2() throws IOException {
        version2("kubepods", "200000 100000", "usage_usec 9\n");
        version2(
                "kubepods/pod1",
                "max 100000",
                "usage_usec 5000\nuser_usec 4000\nnr_periods 10\nnr_throttled 2\nthrottled_usec 300\n");
        Cgroup group = Cgroup.of(List.of("0::/kubepods/pod1"), root);
        assertThat(group.cpuNanos()).isEqualTo(5_000_000);
        assertThat(group.throttledNanos()).isEqualTo(300_000);
        assertThat(group.cores()).as("of the group above it").isEqualTo(2);
        version2("kubepods/pod1", "50000 100000", "");
        assertThat(group.cores()).as("a limit that is changed").isEqualTo(0.5);
        assertThat(group.cpuNanos()).as("no such line").isNegative();
    }

    @Test
    void shouldReadVersion1() throws IOException {
        file("cpu/docker/abc/cpu.cfs_quota_us", "150000\n");
        file("cpu/docker/abc/cpu.cfs_period_us", "100000\n");
        file("cpu/docker/abc/cpu.stat", "nr_periods 7\nnr_throttled 3\nthrottled_time 123456\n");
        file("cpuacct/docker/abc/cpuacct.usage", "777\n");
        Cgroup group = Cgroup.of(List.of("4:cpuacct:/docker/abc", "3:cpu:/docker/abc", "0::/"), root);
        assertThat(group.cpuNanos()).isEqualTo(777);
        assertThat(group.throttledNanos()).isEqualTo(123_456);
        assertThat(group.cores()).isEqualTo(1.5);
        assertThat(Cgroup.of(List.of("4:cpuacct:/", "3:cpu:/docker/abc"), root).cpuNanos())
                .as("another group's")
                .isEqualTo(-1);
    }

    /** What is mounted in a container is its own group, whatever the kernel calls it. */
    @Test
    void shouldFindTheGroupOfAContainer() throws IOException {
        version2(".", "100000 100000", "usage_usec 1\nthrottled_usec 2\n");
        Cgroup group = Cgroup.of(List.of("0::/system.slice/docker-1.scope"), root);
        assertThat(group.cpuNanos()).isEqualTo(1_000);
        assertThat(group.cores()).isEqualTo(1);
        assertThat(Cgroup.of(List.of("0::/../../elsewhere"), root).cores()).isEqualTo(1);
    }

    @Test
    void shouldDoWithoutAny() throws IOException {
        for (List<String> lines : List.of(List.<String>of(), List.of("garbage"), List.of("0::/"))) {
            Cgroup none = Cgroup.of(lines, root);
            assertThat(none.cpuNanos()).isEqualTo(-1);
            assertThat(none.throttledNanos()).isEqualTo(-1);
            assertThat(none.cores()).isZero();
        }
        file("cpu/cpu.cfs_quota_us", "-1\n");
        file("cpuacct/cpuacct.usage", "777\n");
        Cgroup unlimited = Cgroup.of(List.of("1:cpu,cpuacct:/"), root);
        assertThat(unlimited.cpuNanos()).as("the machine's, no container's").isEqualTo(-1);
        assertThat(unlimited.cores()).isZero();
    }
}
