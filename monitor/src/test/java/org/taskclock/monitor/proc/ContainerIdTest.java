// SPDX-License-Identifier: Apache-2.0
// Copyright the TaskClock authors
package org.taskclock.monitor.proc;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class ContainerIdTest {
    private static final String ID = "0123456789ab" + "c".repeat(52);

    @ParameterizedTest
    @ValueSource(
            strings = {
                "0::/docker/ID",
                "4:memory:/docker/ID",
                "0::/system.slice/docker-ID.scope",
                "0::/kubepods.slice/kubepods-pod12.slice/cri-containerd-ID.scope",
                "0::/kubepods/besteffort/pod0f8b3f0e-1b0a-4f0c-8d1e-0123456789ab/ID",
                "0::/machine.slice/libpod-ID.scope/container",
                "0::/docker/ffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff/docker/ID"
            })
    void shouldFindTheShortIdOfTheInnermostContainer(String line) {
        assertThat(ContainerId.in(List.of("9:cpu:/", line.replace("ID", ID)))).isEqualTo("0123456789ab");
    }

    @Test
    void shouldFindTheNameOfAnLxcContainer() {
        assertThat(ContainerId.in(List.of("0::/lxc.payload.web1/system.slice"))).isEqualTo("web1");
        assertThat(ContainerId.in(List.of("3:cpu:/lxc/web2"))).isEqualTo("web2");
    }

    @ParameterizedTest
    @ValueSource(
            strings = {"0::/", "0::/user.slice/user-1000.slice/session-2.scope", "0::/system.slice/orders.service"})
    void shouldFindNoContainerElsewhere(String line) {
        assertThat(ContainerId.in(List.of(line))).isNull();
    }
}
