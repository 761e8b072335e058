// SPDX-License-Identifier: Apache-2.0
// Copyright the TaskClock authors
package org.taskclock.cli;

import static org.assertj.core.api.Assertions.assertThat;

import java.lang.reflect.Proxy;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.taskclock.testing.LoadJvm;

class DescendantSamplerTest {
    private static final int SCANS = 4;

    /** Returns a handle whose first listing of descendants fails as if this process had too many open files. */
    private static ProcessHandle failingAtFirst(ProcessHandle handle, CountDownLatch scans) {
        return (ProcessHandle) Proxy.newProxyInstance(
                ProcessHandle.class.getClassLoader(), new Class<?>[] {ProcessHandle.class}, (proxy, method, args) -> {
                    if (method.getName().equals("descendants")) {
                        boolean first = scans.getCount() == SCANS;
                        scans.countDown();
                        if (first) throw new RuntimeException("Unable to open /proc");
                    }
                    return method.invoke(handle, args);
                });
    }

    @Test
    void shouldContinueAfterFailedScan() throws Exception {
        try (LoadJvm load = LoadJvm.start("busy")) {
            CountDownLatch scans = new CountDownLatch(SCANS);
            ProcessHandle handle = ProcessHandle.of(load.pid()).orElseThrow();
            DescendantSampler sampler = new DescendantSampler(failingAtFirst(handle, scans));
            assertThat(scans.await(30, TimeUnit.SECONDS)).as("further scans").isTrue();
            List<JvmUsage> jvms = sampler.stop();
            assertThat(jvms).hasSize(1);
            assertThat(jvms.get(0).pid()).isEqualTo(load.pid());
            assertThat(jvms.get(0).pools()).anyMatch(pool -> pool.name().startsWith("a busy"));
        }
    }

    @Test
    void shouldWaitForTheLastSampleEvenIfInterrupted() throws Exception {
        try (LoadJvm load = LoadJvm.start("busy")) {
            DescendantSampler sampler =
                    new DescendantSampler(ProcessHandle.of(load.pid()).orElseThrow());
            Thread.currentThread().interrupt();
            sampler.stop();
            assertThat(Thread.interrupted()).as("interrupted").isTrue();
            assertThat(Thread.getAllStackTraces().keySet())
                    .extracting(Thread::getName)
                    .doesNotContain("taskclock-sampler");
        }
    }
}
