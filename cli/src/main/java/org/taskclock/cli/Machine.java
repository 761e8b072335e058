// SPDX-License-Identifier: Apache-2.0
// Copyright the TaskClock authors
package org.taskclock.cli;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.stream.Stream;
import org.taskclock.ClockStatus;

/** What a measurement was made on. What this system does not tell is "unknown". */
record Machine(String kernel, String libc, String jdk, String cpu, int processors, String clockSource) {
    private static final String UNKNOWN = "unknown";

    static Machine read(ClockStatus status) {
        return new Machine(
                property("os.name") + " " + firstLine("/proc/sys/kernel/osrelease", property("os.version")),
                status.libc(),
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
