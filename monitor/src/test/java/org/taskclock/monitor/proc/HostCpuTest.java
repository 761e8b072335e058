// SPDX-License-Identifier: Apache-2.0
// Copyright the TaskClock authors
package org.taskclock.monitor.proc;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.taskclock.CpuTime;

class HostCpuTest {
    private static final long UNIT_NANOS = 10_000_000;

    @TempDir
    private Path folder;

    private CpuTime read(String text) throws IOException {
        Path file = Files.writeString(folder.resolve("stat"), text);
        try (HostCpu machine = new HostCpu(new ProcFile(file.toString(), new ProcFile.Budget(1)))) {
            return machine.now();
        }
    }

    @Test
    void shouldAddAllFieldsExceptIdleAndWait() throws IOException {
        assertThat(read("cpu  1 20 300 4000 50000 600000 7000000 8 9 10\ncpu0 1 2 3 4 5 6 7 8 9 10\n"))
                .isEqualTo(new CpuTime(7_600_321 * UNIT_NANOS, 21 * UNIT_NANOS, 7_600_300 * UNIT_NANOS));
    }

    @Test
    void shouldReturnUnknownForEmptyFile() throws IOException {
        assertThat(read("")).isEqualTo(CpuTime.UNKNOWN);
        assertThat(read("cpu")).isEqualTo(CpuTime.UNKNOWN);
    }

    @Test
    void shouldReturnUnknownForMissingFile() {
        try (HostCpu machine = new HostCpu(new ProcFile("/proc/missing", new ProcFile.Budget(1)))) {
            assertThat(machine.now()).isEqualTo(CpuTime.UNKNOWN);
        }
    }
}
