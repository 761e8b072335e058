// SPDX-License-Identifier: Apache-2.0
// Copyright the TaskClock authors
package org.taskclock.cli;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Properties;
import java.util.Set;
import java.util.TreeMap;
import java.util.stream.Collectors;
import java.util.stream.Stream;

/**
 * What an issue about this machine needs, in Markdown: the output of {@code doctor}, and the settings that affect the
 * clock. It does not name the host, and of the kernel's arguments and this JVM's properties only contains those that
 * affect the clock.
 */
final class DoctorReport {
    private static final List<String> KERNEL_ARGUMENTS = List.of(
            "clocksource", "hpet", "isolcpus", "nohz", "nohz_full", "notsc", "rseq_debug", "rseq_slice_ext", "tsc");

    /** Fields of /proc/cpuinfo on x86_64 and aarch64. */
    private static final List<String> PROCESSOR_FIELDS =
            List.of("model name", "CPU implementer", "CPU architecture", "CPU variant", "CPU part", "CPU revision");

    /** Flags in /proc/cpuinfo that concern the counter or a hypervisor. */
    private static final List<String> PROCESSOR_FLAGS =
            List.of("constant_tsc", "ecv", "hypervisor", "nonstop_tsc", "rdtscp", "tsc", "tsc_known_freq");

    private final Path root;

    /** Creates a report with the files below a directory, which is / except in tests. */
    DoctorReport(Path root) {
        this.root = root;
    }

    /** Returns the report around the text that {@code doctor} prints. */
    String of(String version, String doctor, Properties properties, Map<String, String> environment) {
        StringBuilder text = new StringBuilder();
        text.append("### taskclock doctor on ")
                .append(properties.getProperty("os.arch"))
                .append("\n\n");
        item(text, "TaskClock", version);
        item(text, "processor", processor());
        item(text, "processor flags", flags());
        item(text, "machine", machine());
        item(text, "clock sources", text("sys/devices/system/clocksource/clocksource0/available_clocksource"));
        item(text, "kernel", text("proc/sys/kernel/version"));
        item(text, "kernel arguments", kernelArguments());
        item(text, "settings", settings(properties, environment));
        return text.append("\n```text\n").append(doctor).append("```\n").toString();
    }

    private static void item(StringBuilder text, String name, String value) {
        // A value may not end the list, nor start another element.
        String line =
                value.isBlank() ? "none" : value.replaceAll("[\\s`]+", " ").trim();
        text.append("- ").append(name).append(": `").append(line).append("`\n");
    }

    private String processor() {
        Map<String, String> fields = new TreeMap<>();
        for (String line : lines("proc/cpuinfo")) {
            String name = line.substring(0, Math.max(0, line.indexOf(':'))).trim();
            // Processors of several kinds may be in one machine.
            if (PROCESSOR_FIELDS.contains(name))
                fields.merge(name, line.substring(line.indexOf(':') + 1).trim(), DoctorReport::both);
        }
        return fields.entrySet().stream()
                .map(field -> field.getKey() + " " + field.getValue())
                .collect(Collectors.joining(", "));
    }

    private static String both(String values, String value) {
        return List.of(values.split("/", -1)).contains(value) ? values : values + "/" + value;
    }

    private String flags() {
        Set<String> found = new LinkedHashSet<>();
        for (String line : lines("proc/cpuinfo")) {
            if (!line.startsWith("flags") && !line.startsWith("Features")) continue;
            List<String> words = List.of(line.split("\\s+"));
            for (String flag : PROCESSOR_FLAGS) if (words.contains(flag)) found.add(flag);
        }
        return String.join(" ", found);
    }

    /** Returns the maker and the model of the machine; cloud providers put the type of the instance there. */
    private String machine() {
        String model = text("proc/device-tree/model").replace("\0", "");
        return (text("sys/class/dmi/id/sys_vendor") + " " + text("sys/class/dmi/id/product_name") + " " + model).trim();
    }

    private String kernelArguments() {
        return Stream.of(text("proc/cmdline").split("\\s+"))
                .filter(argument -> KERNEL_ARGUMENTS.contains(argument.split("=", 2)[0]))
                .collect(Collectors.joining(" "));
    }

    private static String settings(Properties properties, Map<String, String> environment) {
        Set<String> settings = new LinkedHashSet<>();
        for (String name :
                new TreeMap<>(properties).keySet().stream().map(String::valueOf).toList())
            // The others contain paths, or are set by TaskClock.
            if (name.equals("taskclock.backend") || name.equals("taskclock.accuracy"))
                settings.add("-D" + name + "=" + properties.getProperty(name));
        for (String tunable : environment.getOrDefault("GLIBC_TUNABLES", "").split(":", -1))
            if (tunable.contains("rseq")) settings.add(tunable);
        return String.join(" ", settings);
    }

    private String text(String file) {
        return String.join(" ", lines(file)).trim();
    }

    private List<String> lines(String file) {
        try {
            return Files.readAllLines(root.resolve(file));
        } catch (IOException | RuntimeException e) {
            return List.of();
        }
    }
}
