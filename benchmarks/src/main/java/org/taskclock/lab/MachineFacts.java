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

/** What a measurement was made on. What the system does not tell is left out. */
final class MachineFacts {
    private MachineFacts() {}

    static Map<String, String> read() {
        ClockStatus status = TaskClock.status();
        Map<String, String> facts = new LinkedHashMap<>();
        put(facts, "cpu", fact("/proc/cpuinfo", "model name"));
        facts.put("processors", Integer.toString(Runtime.getRuntime().availableProcessors()));
        if (flags().contains(" hypervisor")) facts.put("virtual machine", "yes");
        facts.put("kernel", System.getProperty("os.name") + " " + System.getProperty("os.version"));
        facts.put("libc", status.libc());
        put(facts, "clock source", fact("/sys/devices/system/clocksource/clocksource0/current_clocksource", ""));
        put(facts, "frequency governor", fact("/sys/devices/system/cpu/cpu0/cpufreq/scaling_governor", ""));
        facts.put("rung", status.rung().toString());
        facts.put("tick", status.tickNanos() / 1_000 + " us");
        facts.put("accounting", status.accounting().toString());
        put(facts, "load", fact("/proc/loadavg", ""));
        return facts;
    }

    private static String flags() {
        String flags = fact("/proc/cpuinfo", "flags");
        return flags == null ? "" : flags;
    }

    private static void put(Map<String, String> facts, String name, String value) {
        if (value != null) facts.put(name, value);
    }

    /** What follows the colon in the first line that begins so; null if there is none. */
    private static String fact(String file, String start) {
        try (Stream<String> lines = Files.lines(Path.of(file))) {
            return lines.filter(line -> line.startsWith(start))
                    .findFirst()
                    .map(line -> start.isEmpty() ? line : line.substring(line.indexOf(':') + 1))
                    .map(String::trim)
                    .orElse(null);
        } catch (IOException | RuntimeException e) {
            return null;
        }
    }
}
