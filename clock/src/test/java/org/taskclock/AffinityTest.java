// SPDX-License-Identifier: Apache-2.0
// Copyright the TaskClock authors
package org.taskclock;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import java.io.BufferedReader;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.io.Writer;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/**
 * Tests that the clock does not change the CPU affinity of a program's threads. Since Linux 6.2 it is not enough to
 * restore an affinity: the kernel remembers the mask that a thread requested. It restricts the thread, and the threads
 * that it starts, to that mask when their container gets more processors later.
 */
class AffinityTest {
    private static final String ALLOWED_CPUS = "Cpus_allowed_list:\t";

    @BeforeAll
    static void assumeNativeLibrary() {
        assumeTrue(ExpectedBackend.isNative(), "no native library for this system");
    }

    @Test
    void shouldNotChangeTheAffinityOfAnyThread() throws IOException {
        String allowed = allowedCpus("thread-self");
        ChildJvm child = ChildJvm.run(AffinityPrinter.class).succeeded();
        assertThat(child.out().lines()).isNotEmpty().allMatch(line -> line.endsWith(" " + allowed));
    }

    /** The run without the clock verifies that the machine behaves as expected. */
    @ParameterizedTest
    @ValueSource(strings = {"clock", "no clock"})
    void shouldUseProcessorsThatTheContainerGetsLater(String mode) throws Exception {
        List<Integer> processors = parseCpuList(allowedCpus("thread-self"));
        assumeTrue(processors.size() > 1, "needs at least two processors");
        String first = processors.get(0).toString();
        String both = first + "," + processors.get(1);
        try (Cpuset cpuset = Cpuset.create(first)) {
            List<String> command = new ArrayList<>(cpuset.launcher());
            command.addAll(ChildJvm.command(List.of(), AffinityPrinter.class, mode));
            Process child = new ProcessBuilder(command)
                    .redirectError(ProcessBuilder.Redirect.INHERIT)
                    .start();
            try (BufferedReader out = child.inputReader();
                    Writer in = child.outputWriter()) {
                assertThat(out.readLine()).isEqualTo("allowed on " + first);
                cpuset.allow(both);
                in.write("grown\n");
                in.flush();
                List<String> threads = out.lines().toList();
                assertThat(threads).anyMatch(line -> line.startsWith("later "));
                assertThat(threads).allMatch(line -> parseCpuList(line.substring(line.lastIndexOf(' ') + 1))
                        .equals(processors.subList(0, 2)));
            } finally {
                child.destroyForcibly().waitFor();
            }
        }
    }

    /** Reads the clock, waits for input if there is an argument, and prints the allowed processors of each thread. */
    static final class AffinityPrinter {
        private AffinityPrinter() {}

        public static void main(String[] arguments) throws Exception {
            if (arguments.length == 0 || arguments[0].equals("clock")) {
                for (int i = 0; i < 1_000; i++) CpuLoad.sink = TaskClock.cpuNanos();
                // Waits until the backend has been selected.
                CpuLoad.sink = TaskClock.status().backends().size();
            }
            if (arguments.length > 0) {
                System.out.println("allowed on " + allowedCpus("thread-self"));
                if (System.in.read() < 0) throw new IOException("standard input was closed");
            }
            Thread later = new Thread(AffinityPrinter::print, "later");
            later.start();
            later.join();
        }

        private static void print() {
            try (var tasks = Files.newDirectoryStream(Path.of("/proc/self/task"))) {
                for (Path task : tasks) print(task);
            } catch (IOException e) {
                throw new UncheckedIOException(e);
            }
        }

        private static void print(Path task) throws IOException {
            try {
                String name = Files.readString(task.resolve("comm")).trim();
                System.out.println(name + " " + allowedCpus("self/task/" + task.getFileName()));
            } catch (IOException e) {
                if (Files.exists(task)) throw e; // otherwise the thread has just ended
            }
        }
    }

    /** Returns the processors on which a thread may run, like sched_getaffinity. */
    private static String allowedCpus(String thread) throws IOException {
        return Files.readAllLines(Path.of("/proc/" + thread + "/status")).stream()
                .filter(line -> line.startsWith(ALLOWED_CPUS))
                .map(line -> line.substring(ALLOWED_CPUS.length()))
                .findFirst()
                .orElseThrow();
    }

    /** Parses a list like {@code 0-3,8}. */
    private static List<Integer> parseCpuList(String list) {
        List<Integer> numbers = new ArrayList<>();
        for (String range : list.split(",", -1)) {
            String[] ends = range.split("-", -1);
            for (int i = Integer.parseInt(ends[0]); i <= Integer.parseInt(ends[ends.length - 1]); i++) numbers.add(i);
        }
        return numbers;
    }
}
