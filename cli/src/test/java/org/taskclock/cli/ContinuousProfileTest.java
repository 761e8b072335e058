// SPDX-License-Identifier: Apache-2.0
// Copyright the TaskClock authors
package org.taskclock.cli;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.within;

import java.io.IOException;
import java.io.InputStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.condition.EnabledForJreRange;
import org.junit.jupiter.api.condition.JRE;
import org.junit.jupiter.api.io.TempDir;

/** {@code serve --profile} as a process, from a JVM that uses CPU time to what {@code query} answers. */
@Tag("slow17")
class ContinuousProfileTest {
    private static final String PROGRAM = "org.taskclock.cli.HotJvm$Program.";
    /** An argument of the programs, which other tests do not profile. */
    private static final String TOKEN = "profiled-by-" + ProcessHandle.current().pid();

    private static final String LIBRARY = "libasyncProfiler.so";

    /** A profile of up to 90 seconds begins up to 21 seconds after the start. */
    private static final Duration TIMEOUT = Duration.ofMinutes(5);

    @TempDir
    private Path directory;

    @BeforeEach
    void extractAsyncProfiler() throws IOException {
        try (InputStream library = ContinuousProfileTest.class.getResourceAsStream("/linux-x64/" + LIBRARY)) {
            Files.copy(library, directory.resolve(LIBRARY));
        }
    }

    private Process serve() throws IOException {
        ProcessBuilder builder = CliResult.builder("serve", "--listen", "127.0.0.1:0", "--data", data());
        builder.command().addAll(List.of("--match", TOKEN, "--profile", "5%"));
        builder.environment().put("ASPROF_LIB", directory.toString());
        return builder.redirectErrorStream(true)
                .redirectOutput(directory.resolve("log").toFile())
                .start();
    }

    private String data() {
        return directory.resolve("data").toString();
    }

    /** Returns the CPU time of each method of a pool, with its callees, in nanoseconds. */
    private Map<String, Double> methods(HotJvm jvm, String pool) throws Exception {
        String condition = " WHERE pid = " + jvm.pid + " AND pool LIKE '" + pool + "'";
        CliResult result = CliResult.run(
                "query",
                "--data",
                data(),
                "--format",
                "csv",
                "SELECT method, sum(total_ns)::DOUBLE FROM method_cpu" + condition + " GROUP BY ALL");
        Map<String, Double> methods = new HashMap<>();
        // There is no history yet while serve starts.
        if (result.exitCode() != 0) return methods;
        for (String line : result.out().lines().skip(1).toList()) {
            int comma = line.lastIndexOf(',');
            methods.put(line.substring(0, comma).replace("\"", ""), Double.valueOf(line.substring(comma + 1)));
        }
        return methods;
    }

    /** Waits until a method was sampled, and returns all of the pool. */
    private Map<String, Double> await(HotJvm jvm, String pool, String method) throws Exception {
        long end = System.nanoTime() + TIMEOUT.toNanos();
        Map<String, Double> methods = methods(jvm, pool);
        while (!methods.containsKey(PROGRAM + method)) {
            assertThat(System.nanoTime() - end)
                    .as("%s; log: %s", methods, Files.readString(directory.resolve("log")))
                    .isNegative();
            Thread.sleep(2_000);
            methods = methods(jvm, pool);
        }
        return methods;
    }

    private static boolean hasAsyncProfiler(HotJvm jvm) throws IOException {
        return Files.readString(Path.of("/proc/" + jvm.pid + "/maps")).contains(LIBRARY);
    }

    private static void check(Map<String, Double> methods) {
        double hot = methods.get(PROGRAM + "hot");
        assertThat(hot / (hot + methods.get(PROGRAM + "warm"))).isCloseTo(0.75, within(0.08));
        assertThat(methods).as("a method of another pool").doesNotContainKey(PROGRAM + "unrelated");
    }

    @Test
    void shouldUseAsyncProfilerIfItIsThere() throws Exception {
        try (HotJvm jvm = new HotJvm("-XX:+EnableDynamicAgentLoading", TOKEN)) {
            Process serve = serve();
            try {
                check(await(jvm, "worker-#", "hot"));
                assertThat(hasAsyncProfiler(jvm)).isTrue();
                assertThat(jvm.execute("jcmd", "JFR.check")).doesNotContain("taskclock");
            } finally {
                serve.destroy();
                CliResult.exitCode(serve);
            }
        }
    }

    /** async-profiler would not know which virtual threads ran. */
    @Test
    @EnabledForJreRange(min = JRE.JAVA_21)
    void shouldUseFlightRecorderIfThereAreVirtualThreads() throws Exception {
        try (HotJvm jvm = new HotJvm("virtual", TOKEN)) {
            Process serve = serve();
            try {
                check(await(jvm, "worker-#", "hot"));
                Map<String, Double> carriers = await(jvm, "ForkJoinPool-%", "workVirtually");
                assertThat(carriers).doesNotContainKeys(PROGRAM + "hot", PROGRAM + "unrelated");
                assertThat(hasAsyncProfiler(jvm)).isFalse();
                assertThat(jvm.execute("jcmd", "JFR.check")).contains("taskclock");
            } finally {
                serve.destroy();
                CliResult.exitCode(serve);
            }
        }
    }
}
