// SPDX-License-Identifier: Apache-2.0
// Copyright the TaskClock authors
package org.taskclock.report;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.stream.Stream;

/**
 * The machine and JVM of a measurement.
 *
 * @param kernel name and release
 * @param jdk name, version and vendor of this JVM
 * @param cpu the processor's model, or else its architecture
 * @param processors available to this JVM
 * @param clockSource of the kernel, or "unknown"
 */
public record MachineInfo(String kernel, String jdk, String cpu, int processors, String clockSource) {
    private static final String UNKNOWN = "unknown";

    /** Reads /proc and /sys. */
    public static MachineInfo read() {
        return new MachineInfo(
                property("os.name") + " " + firstLine("/proc/sys/kernel/osrelease", property("os.version")),
                property("java.vm.name") + " " + property("java.vm.version") + " (" + property("java.vendor") + ")",
                cpuModel(),
                Runtime.getRuntime().availableProcessors(),
                firstLine("/sys/devices/system/clocksource/clocksource0/current_clocksource", UNKNOWN));
    }

    private static String property(String name) {
        return System.getProperty(name, UNKNOWN);
    }

    private static String firstLine(String file, String otherwise) {
        try (Stream<String> lines = Files.lines(Path.of(file))) {
            return lines.findFirst().orElse(otherwise).trim();
        } catch (IOException | RuntimeException e) {
            return otherwise;
        }
    }

    private static String cpuModel() {
        try (Stream<String> lines = Files.lines(Path.of("/proc/cpuinfo"))) {
            return lines.filter(line -> line.startsWith("model name"))
                    .findFirst()
                    .map(line -> line.substring(line.indexOf(':') + 1).trim())
                    .orElse(property("os.arch"));
        } catch (IOException | RuntimeException e) {
            return property("os.arch");
        }
    }
}
