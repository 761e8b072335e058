// SPDX-License-Identifier: Apache-2.0
// Copyright the TaskClock authors
package org.taskclock.cli;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Map;
import java.util.Properties;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** {@code taskclock doctor --report}. */
@Tag("slow17")
class DoctorReportTest {
    @TempDir
    private Path root;

    private final Properties properties = new Properties();

    @BeforeEach
    void setArchitecture() {
        properties.setProperty("os.arch", "aarch64");
    }

    private void write(String file, String text) throws IOException {
        Path path = root.resolve(file);
        Files.createDirectories(path.getParent());
        Files.writeString(path, text);
    }

    private String report(Map<String, String> environment) {
        return new DoctorReport(root).of("1.2.3", "kernel  Linux\n", properties, environment);
    }

    @Test
    void shouldDescribeTheMachine() throws IOException {
        write("proc/cpuinfo", """
                processor\t: 0
                Features\t: fp asimd ecv atomics
                CPU implementer\t: 0x41
                CPU part\t: 0xd46

                processor\t: 1
                Features\t: fp asimd ecv atomics
                CPU implementer\t: 0x41
                CPU part\t: 0xd4d
                """);
        write("sys/class/dmi/id/sys_vendor", "Example\n");
        write("sys/class/dmi/id/product_name", "m1.large\n");
        write("proc/cmdline", "BOOT_IMAGE=/vmlinuz root=UUID=5 nohz_full=1-3 password=secret rseq_debug=1\n");
        write("proc/sys/kernel/version", "#1 SMP PREEMPT_DYNAMIC\n");
        write("sys/devices/system/clocksource/clocksource0/available_clocksource", "arch_sys_counter \n");
        properties.setProperty("taskclock.backend", "rseq");
        properties.setProperty("user.name", "somebody");
        assertThat(report(Map.of("GLIBC_TUNABLES", "glibc.malloc.check=1:glibc.pthread.rseq=0")))
                .isEqualTo("""
                        ### taskclock doctor on aarch64

                        - TaskClock: `1.2.3`
                        - processor: `CPU implementer 0x41, CPU part 0xd46/0xd4d`
                        - processor flags: `ecv`
                        - machine: `Example m1.large`
                        - clock sources: `arch_sys_counter`
                        - kernel: `#1 SMP PREEMPT_DYNAMIC`
                        - kernel arguments: `nohz_full=1-3 rseq_debug=1`
                        - settings: `-Dtaskclock.backend=rseq glibc.pthread.rseq=0`

                        ```text
                        kernel  Linux
                        ```
                        """);
    }

    @Test
    void shouldDoWithoutFiles() {
        assertThat(report(Map.of())).contains("- processor: `none`\n", "- machine: `none`\n", "- settings: `none`\n");
    }

    @Test
    void shouldKeepValuesWithinTheirItems() throws IOException {
        write("sys/class/dmi/id/sys_vendor", "a`b\n\n# c\n");
        assertThat(report(Map.of())).contains("- machine: `a b # c`\n");
    }

    @Test
    void shouldContainWhatDoctorPrints() throws Exception {
        CliResult result = CliResult.run(DoctorTest.FAST_OPTION, "doctor", "--report");
        assertThat(result.exitCode()).as(result.err()).isZero();
        assertThat(result.out())
                .startsWith("### taskclock doctor on " + System.getProperty("os.arch") + "\n\n- TaskClock: ")
                .containsPattern("(?s)\n```text\nkernel +Linux .*\nbackend +verdict .*\nthe contract holds\n```\n$");
    }

    @Test
    void shouldPrintOneFormat() throws Exception {
        CliResult result = CliResult.runHere("doctor", "--report", "--json");
        assertThat(result.exitCode()).isEqualTo(2);
        assertThat(result.out()).isEmpty();
        assertThat(result.err()).contains("--json").contains("--report").contains("mutually exclusive");
    }
}
