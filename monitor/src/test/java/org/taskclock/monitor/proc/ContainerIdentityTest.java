// SPDX-License-Identifier: Apache-2.0
// Copyright the TaskClock authors
package org.taskclock.monitor.proc;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class ContainerIdentityTest {
    private static final String ID = "0123456789abcdef".repeat(4);
    private static final String UID = "0f8b3f0e-1b0a-4f0c-8d1e-0123456789ab";

    @ParameterizedTest
    @ValueSource(
            strings = {
                "0::/kubepods/besteffort/podUID/ID",
                "0::/kubepods.slice/kubepods-burstable.slice/kubepods-burstable-podU_D.slice/cri-containerd-ID.scope",
                "0::/../../kubepods-podU_D.slice/crio-ID.scope",
                "0::/kubelet.slice/kubelet-kubepods.slice/kubelet-kubepods-podU_D.slice/cri-containerd-ID.scope",
                "4:cpu,cpuacct:/kubepods/podUID/ID"
            })
    void shouldFindContainerAndPod(String line) {
        String text =
                line.replace("UID", UID).replace("U_D", UID.replace('-', '_')).replace("ID", ID);
        assertThat(ContainerIdentity.in(List.of("9:pids:/", text))).isEqualTo(new ContainerIdentity(ID, UID));
    }

    @Test
    void shouldFindStaticPods() {
        String uid = "0f8b3f0e1b0a4f0c8d1e0123456789ab";
        assertThat(ContainerIdentity.in(List.of("0::/kubepods/burstable/pod" + uid + "/" + ID)))
                .isEqualTo(new ContainerIdentity(ID, uid));
    }

    @Test
    void shouldFindContainersWithoutPod() {
        assertThat(ContainerIdentity.in(List.of("0::/system.slice/docker-" + ID + ".scope")))
                .isEqualTo(new ContainerIdentity(ID, ""));
        assertThat(ContainerIdentity.in(List.of("0::/lxc.payload.web1/system.slice")))
                .isEqualTo(new ContainerIdentity("web1", ""));
        assertThat(ContainerIdentity.in(List.of("0::/user.slice/session-2.scope")))
                .isEqualTo(new ContainerIdentity("", ""));
    }
}
