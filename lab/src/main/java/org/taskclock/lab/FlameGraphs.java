// SPDX-License-Identifier: Apache-2.0
// Copyright the TaskClock authors
package org.taskclock.lab;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.function.Consumer;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.taskclock.report.Result;

/** Collapsed stacks, recorded by async-profiler in JVMs that only read a clock. */
final class FlameGraphs {
    static final String BEFORE = "before";
    static final String AFTER = "after";
    static final String ID_0 = "id 0";
    static final String OURS = "ours";

    /** The suffix that async-profiler adds to the names of kernel frames. */
    private static final String KERNEL = "_[k]";

    /** Functions that look up a thread id in the kernel's radix tree, in different kernel versions. */
    private static final List<String> LOOK_UPS =
            List.of("find_vpid", "find_pid_ns", "idr_find", "radix_tree_lookup", "__radix_tree_lookup");

    /** The narrowest frame kept has one of so many samples. */
    private static final int MIN_SHARE = 500;

    private final boolean raw;
    private final List<Result.FlameGraph> graphs = new ArrayList<>();
    private final List<Shares> shares = new ArrayList<>();

    /**
     * Shares of the samples.
     *
     * @param kernel the share in the kernel; null without kernel frames
     * @param lookUp the share of the kernel's samples in the lookup of a thread id; null without kernel frames
     */
    record Shares(String jdk, String which, long samples, Double kernel, Double lookUp) {
        static Shares of(String jdk, String which, String collapsed) {
            long samples = 0;
            long kernel = 0;
            long lookUp = 0;
            for (String line : collapsed.lines().toList()) {
                int blank = line.lastIndexOf(' ');
                if (blank < 0) continue;
                long count = Long.parseLong(line.substring(blank + 1));
                samples += count;
                String stack = line.substring(0, blank);
                if (!stack.contains(KERNEL)) continue;
                kernel += count;
                if (Stream.of(stack.split(";")).anyMatch(Shares::looksUp)) lookUp += count;
            }
            return kernel == 0
                    ? new Shares(jdk, which, samples, null, null)
                    : new Shares(jdk, which, samples, (double) kernel / samples, (double) lookUp / kernel);
        }

        private static boolean looksUp(String frame) {
            return LOOK_UPS.stream().anyMatch(frame::startsWith);
        }

        String text() {
            if (kernel == null) {
                return samples
                        + " samples, no kernel frames: they need root, or kernel.perf_event_paranoid set to 1 or less";
            }
            return String.format(
                    Locale.ROOT,
                    "%d samples, %.0f %% in the kernel, %.0f %% of these look up the thread id",
                    samples,
                    100 * kernel,
                    100 * lookUp);
        }
    }

    FlameGraphs(boolean raw) {
        this.raw = raw;
    }

    List<Result.FlameGraph> graphs() {
        return List.copyOf(graphs);
    }

    List<Shares> shares() {
        return List.copyOf(shares);
    }

    /** Records all four flame graphs of a JDK and reports each in one line. */
    void profile(Jdk jdk, String backend, long millis, Consumer<String> line) throws IOException, InterruptedException {
        boolean text = Jdk.readsUserTimeAsText(jdk.version());
        profile(jdk, backend, BEFORE, text ? Contender.STOCK_USER : Contender.PROC, millis, line);
        profile(jdk, backend, AFTER, text ? Contender.OWN_ID : Contender.STOCK_USER, millis, line);
        profile(jdk, backend, ID_0, Contender.ID_0, millis, line);
        profile(jdk, backend, OURS, Contender.TASKCLOCK_USER, millis, line);
    }

    private void profile(Jdk jdk, String backend, String which, Contender contender, long millis, Consumer<String> line)
            throws IOException, InterruptedException {
        String name = "JDK " + jdk.version() + ", " + which + ": " + contender.text;
        Path file = Files.createTempFile("taskclock-flame", ".collapsed");
        try {
            Process process = new ProcessBuilder(
                            jdk.java().toString(),
                            "--enable-native-access=ALL-UNNAMED",
                            "-XX:+UnlockDiagnosticVMOptions",
                            "-XX:+DebugNonSafepoints",
                            "-Dtaskclock.backend=" + backend,
                            "-cp",
                            System.getProperty("java.class.path"),
                            ProfiledProgram.class.getName(),
                            contender.id,
                            Long.toString(millis),
                            file.toString())
                    .redirectErrorStream(true)
                    .start();
            String output = new String(process.getInputStream().readAllBytes(), StandardCharsets.UTF_8).strip();
            int exitCode = process.waitFor();
            // Shorten the path of the library, which was extracted to a temporary directory.
            String collapsed = Files.readString(file)
                    .replaceAll("[^;\n]*/libtaskclock[^;\n]*?\\.so( \\(deleted\\))?", "libtaskclock.so");
            if (exitCode != 0 || collapsed.isBlank()) {
                String why = output.lines().findFirst().orElse("exit code " + exitCode);
                line.accept("flame graph: " + name + ": failed: " + why);
                return;
            }
            Shares found = Shares.of(jdk.version(), which, collapsed);
            shares.add(found);
            String notes = output.lines().map(note -> "; " + note).reduce("", String::concat);
            String stacks = raw ? collapsed : withoutNarrowFrames(collapsed);
            graphs.add(new Result.FlameGraph(name, found.text() + notes, stacks));
            line.accept("flame graph: " + name + ": " + found.text() + notes);
        } finally {
            Files.delete(file);
        }
    }

    /**
     * Removes frames with less than 0.2 % of all samples, which are two pixels wide and are most of the text. Their
     * samples go to their callers.
     */
    static String withoutNarrowFrames(String collapsed) {
        Map<String, Long> samples = new LinkedHashMap<>();
        collapsed.lines().forEach(line -> {
            int blank = line.lastIndexOf(' ');
            if (blank > 0)
                samples.merge(line.substring(0, blank), Long.parseLong(line.substring(blank + 1)), Long::sum);
        });
        long all = samples.values().stream().mapToLong(count -> count).sum();
        Map<String, Long> widths = new HashMap<>();
        samples.forEach((stack, count) -> {
            for (String part = stack; !part.isEmpty(); part = caller(part)) widths.merge(part, count, Long::sum);
        });
        Map<String, Long> kept = new LinkedHashMap<>();
        samples.forEach((stack, count) -> {
            String part = stack;
            while (MIN_SHARE * widths.get(part) < all && part.contains(";")) part = caller(part);
            kept.merge(part, count, Long::sum);
        });
        return kept.entrySet().stream()
                .map(stack -> stack.getKey() + " " + stack.getValue() + "\n")
                .collect(Collectors.joining());
    }

    private static String caller(String stack) {
        return stack.substring(0, Math.max(0, stack.lastIndexOf(';')));
    }
}
