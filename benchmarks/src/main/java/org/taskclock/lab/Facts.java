// SPDX-License-Identifier: Apache-2.0
// Copyright the TaskClock authors
package org.taskclock.lab;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.function.Predicate;
import java.util.stream.Stream;
import org.taskclock.ClockStatus;
import org.taskclock.TaskClock;

/** What a measurement was made on, for {@link org.taskclock.report.Result#machine}. What the system does not tell is left out. */
final class Facts {
    private static final String CPU = "/sys/devices/system/cpu/";

    private Facts() {}

    static Map<String, String> read() {
        Map<String, String> facts = new LinkedHashMap<>();
        put(facts, "cpu", cpuinfo(line -> line.startsWith("model name")));
        facts.put("processors", Integer.toString(Runtime.getRuntime().availableProcessors()));
        String flags = cpuinfo(line -> line.startsWith("flags"));
        if (flags != null) {
            boolean virtual = (" " + flags + " ").contains(" hypervisor ");
            facts.put("virtual machine", virtual ? "yes" : "no");
        }
        facts.put("kernel", System.getProperty("os.name") + " " + System.getProperty("os.version"));
        put(facts, "clock source", line("/sys/devices/system/clocksource/clocksource0/current_clocksource"));
        put(facts, "frequency governor", line(CPU + "cpu0/cpufreq/scaling_governor"));
        put(facts, "processors with precise accounting", line(CPU + "nohz_full"));
        put(facts, "return from system calls", line(CPU + "vulnerabilities/spec_rstack_overflow"));
        put(facts, "GLIBC_TUNABLES", System.getenv("GLIBC_TUNABLES"));
        ClockStatus status = TaskClock.status();
        facts.put("libc", status.libc());
        facts.put("rung", status.rung().toString());
        facts.put("tick", status.tickNanos() / 1_000 + " us");
        facts.put("accounting", status.accounting().toString());
        put(facts, "load at the start", line("/proc/loadavg"));
        return facts;
    }

    private static void put(Map<String, String> facts, String name, String value) {
        if (value != null && !value.isEmpty()) facts.put(name, value);
    }

    private static String cpuinfo(Predicate<String> which) {
        try (Stream<String> lines = Files.lines(Path.of("/proc/cpuinfo"))) {
            return lines.filter(which)
                    .findFirst()
                    .map(line -> line.substring(line.indexOf(':') + 1).strip())
                    .orElse(null);
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
