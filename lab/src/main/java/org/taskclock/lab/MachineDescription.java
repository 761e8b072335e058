// SPDX-License-Identifier: Apache-2.0
// Copyright the TaskClock authors
package org.taskclock.lab;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.stream.Stream;
import org.taskclock.ClockStatus;
import org.taskclock.TaskClock;
import org.taskclock.report.MachineInfo;

/** The machine of a measurement, for {@link org.taskclock.report.Result#machine}. Unknown properties are omitted. */
final class MachineDescription {
    private static final String CPU = "/sys/devices/system/cpu/";

    private MachineDescription() {}

    static Map<String, String> read() {
        Map<String, String> properties = new LinkedHashMap<>();
        MachineInfo machine = MachineInfo.read();
        properties.put("cpu", machine.cpu());
        properties.put("processors", Integer.toString(machine.processors()));
        String flags = cpuFlags();
        if (flags != null) {
            boolean virtual = (" " + flags + " ").contains(" hypervisor ");
            properties.put("virtual machine", virtual ? "yes" : "no");
        }
        properties.put("kernel", machine.kernel());
        properties.put("clock source", machine.clockSource());
        put(properties, "frequency governor", line(CPU + "cpu0/cpufreq/scaling_governor"));
        put(properties, "processors with precise accounting", line(CPU + "nohz_full"));
        put(properties, "return from system calls", line(CPU + "vulnerabilities/spec_rstack_overflow"));
        put(properties, "GLIBC_TUNABLES", System.getenv("GLIBC_TUNABLES"));
        ClockStatus status = TaskClock.status();
        properties.put("libc", status.libc());
        properties.put("backend", status.backend().toString());
        properties.put("tick", status.tickNanos() / 1_000 + " us");
        properties.put("accounting", status.accounting().toString());
        put(properties, "load at the start", line("/proc/loadavg"));
        return properties;
    }

    private static void put(Map<String, String> properties, String name, String value) {
        if (value != null && !value.isEmpty()) properties.put(name, value);
    }

    private static String cpuFlags() {
        try (Stream<String> lines = Files.lines(Path.of("/proc/cpuinfo"))) {
            return lines.filter(line -> line.startsWith("flags")).findFirst().orElse(null);
        } catch (IOException e) {
            return null;
        }
    }

    private static String line(String file) {
        try {
            return Files.readString(Path.of(file)).strip();
        } catch (IOException e) {
            return null;
        }
    }
}
