// SPDX-License-Identifier: Apache-2.0
// Copyright the TaskClock authors
package org.taskclock.monitor;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class HostCpuTest {
    private static final long UNIT_NANOS = 10_000_000;

    @TempDir
    private Path folder;

    private long cpuNanos(String text) throws IOException {
        Path file = Files.writeString(folder.resolve("stat"), text);
        try (HostCpu machine = new HostCpu(new ProcFile(file.toString(), new ProcFile.Budget(1)))) {
            return machine.cpuNanos();
        }
    }

    @Test
    void shouldAddAllFieldsExceptIdleAndWait() throws IOException {
        assertThat(cpuNanos("cpu  1 20 300 4000 50000 600000 7000000 8 9 10\ncpu0 1 2 3 4 5 6 7 8 9 10\n"))
                .isEqualTo(7_600_321 * UNIT_NANOS);
    }

    @Test
    void shouldReturnUnknownForEmptyFile() throws IOException {
        assertThat(cpuNanos("")).isEqualTo(-1);
        assertThat(cpuNanos("cpu")).isEqualTo(-1);
    }

    @Test
    void shouldReturnUnknownForMissingFile() {
        try (HostCpu machine = new HostCpu(new ProcFile("/proc/missing", new ProcFile.Budget(1)))) {
            assertThat(machine.cpuNanos()).isEqualTo(-1);
        }
    }
}
