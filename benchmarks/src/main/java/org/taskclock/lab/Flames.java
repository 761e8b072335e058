// SPDX-License-Identifier: Apache-2.0
// Copyright the TaskClock authors
package org.taskclock.lab;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.function.Consumer;
import java.util.stream.Stream;
import org.taskclock.report.Result;

/** Where the time of the readers goes: collapsed stacks by async-profiler, each of a JVM that does nothing but read. */
final class Flames {
    static final String BEFORE = "before";
    static final String AFTER = "after";
    static final String ID_0 = "id 0";
    static final String OURS = "ours";

    /** What async-profiler appends to the name of a frame of the kernel. */
    private static final String KERNEL = "_[k]";

    /** The radix tree of ids, by the names that kernels have given it. */
    private static final List<String> LOOK_UPS =
            List.of("find_vpid", "find_pid_ns", "idr_find", "radix_tree_lookup", "__radix_tree_lookup");

    private final List<Result.FlameGraph> graphs = new ArrayList<>();
    private final List<Shares> shares = new ArrayList<>();

    /**
     * Parts of all samples.
     *
     * @param kernel null where the kernel's frames could not be had
     * @param lookUp of the samples in the kernel, those that look a thread's id up; null likewise
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
                        + " samples, without the kernel's frames, which need kernel.perf_event_paranoid at 1 or less, or root";
            }
            return String.format(
                    Locale.ROOT,
                    "%d samples, %.0f %% in the kernel, %.0f %% of these in the look-up of the thread's id",
                    samples,
                    100 * kernel,
                    100 * lookUp);
        }
    }

    List<Result.FlameGraph> graphs() {
        return List.copyOf(graphs);
    }

    List<Shares> shares() {
        return List.copyOf(shares);
    }

    /** All four; what cannot be had, the lines say. */
    void profile(Jdk jdk, String rung, long millis, Consumer<String> line) throws IOException, InterruptedException {
        boolean text = Jdk.readsUserTimeAsText(jdk.version());
        profile(jdk, rung, BEFORE, text ? Contender.STOCK_USER : Contender.PROC, millis, line);
        profile(jdk, rung, AFTER, text ? Contender.OWN_ID : Contender.STOCK_USER, millis, line);
        profile(jdk, rung, ID_0, Contender.ID_0, millis, line);
        profile(jdk, rung, OURS, Contender.TASKCLOCK_USER, millis, line);
    }

    private void profile(Jdk jdk, String rung, String which, Contender contender, long millis, Consumer<String> line)
            throws IOException, InterruptedException {
        String name = "JDK " + jdk.version() + ", " + which + ": " + contender.text;
        Path file = Files.createTempFile("taskclock-flame", ".collapsed");
        try {
            Process process = new ProcessBuilder(
                            jdk.java().toString(),
                            "--enable-native-access=ALL-UNNAMED",
                            "-XX:+UnlockDiagnosticVMOptions",
                            "-XX:+DebugNonSafepoints",
                            "-Dtaskclock.rung=" + rung,
                            "-cp",
                            System.getProperty("java.class.path"),
                            Profiled.class.getName(),
                            contender.id,
                            Long.toString(millis),
                            file.toString())
                    .redirectErrorStream(true)
                    .start();
            String said = new String(process.getInputStream().readAllBytes(), StandardCharsets.UTF_8).strip();
            int exitCode = process.waitFor();
            // The library was unpacked to a folder of this run.
            String collapsed = Files.readString(file)
                    .replaceAll("[^;\n]*/libtaskclock[^;\n]*?\\.so( \\(deleted\\))?", "libtaskclock.so");
            if (exitCode != 0 || collapsed.isBlank()) {
                String why = said.lines().findFirst().orElse("exit code " + exitCode);
                line.accept("flame graph: " + name + ": none: " + why);
                return;
            }
            Shares found = Shares.of(jdk.version(), which, collapsed);
            shares.add(found);
            String how = said.lines().map(told -> "; " + told).reduce("", String::concat);
            graphs.add(new Result.FlameGraph(name, found.text() + how, collapsed));
            line.accept("flame graph: " + name + ": " + found.text() + how);
        } finally {
            Files.delete(file);
        }
    }
}
