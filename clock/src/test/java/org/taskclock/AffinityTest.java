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
 * Using the clock does not change where the threads of a program may run. Since Linux 6.2 it is not enough to restore
 * an affinity: the kernel remembers a mask that a thread asked for, for it and the threads that it starts, and
 * restricts them to it when their container gets more processors later.
 */
class AffinityTest {
    private static final String ALLOWED = "Cpus_allowed_list:\t";

    @BeforeAll
    static void isWhereALibraryExists() {
        assumeTrue(Expected.isNative(), "no native library for this system");
    }

    @Test
    void shouldLeaveTheAffinityOfEachThreadAlone() throws IOException {
        String allowed = allowed("thread-self");
        ChildJvm child = ChildJvm.run(Affinity.class).succeeded();
        assertThat(child.out().lines()).isNotEmpty().allMatch(line -> line.endsWith(" " + allowed));
    }

    /** Without the clock, the test shows that the machine behaves as expected. */
    @ParameterizedTest
    @ValueSource(strings = {"clock", "no clock"})
    void shouldRunWhereAGrowingContainerLetsIt(String what) throws Exception {
        List<Integer> processors = numbers(allowed("thread-self"));
        assumeTrue(processors.size() > 1, "there is one processor only");
        String first = processors.get(0).toString();
        String both = first + "," + processors.get(1);
        try (Cpuset cpuset = Cpuset.create(first)) {
            List<String> command = new ArrayList<>(cpuset.launcher());
            command.addAll(ChildJvm.command(List.of(), Affinity.class, what));
            Process child = new ProcessBuilder(command)
                    .redirectError(ProcessBuilder.Redirect.INHERIT)
                    .start();
            try (BufferedReader out = child.inputReader();
                    Writer in = child.outputWriter()) {
                assertThat(out.readLine()).isEqualTo("read on " + first);
                cpuset.allow(both);
                in.write("grown\n");
                in.flush();
                List<String> threads = out.lines().toList();
                assertThat(threads).anyMatch(line -> line.startsWith("later "));
                assertThat(threads).allMatch(line -> numbers(line.substring(line.lastIndexOf(' ') + 1))
                        .equals(processors.subList(0, 2)));
            } finally {
                child.destroyForcibly().waitFor();
            }
        }
    }

    /** Reads the clock, waits for the container to grow if told to, and prints where each thread may run. */
    static final class Affinity {
        private Affinity() {}

        public static void main(String[] arguments) throws Exception {
            if (arguments.length == 0 || arguments[0].equals("clock")) {
                for (int i = 0; i < 1_000; i++) Work.sink = TaskClock.cpuNanos();
                // Waits until the rung is decided.
                Work.sink = TaskClock.status().rungs().size();
            }
            if (arguments.length > 0) {
                System.out.println("read on " + allowed("thread-self"));
                if (System.in.read() < 0) throw new IOException("nobody answers");
            }
            Thread later = new Thread(Affinity::print, "later");
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
                System.out.println(name + " " + allowed("self/task/" + task.getFileName()));
            } catch (IOException e) {
                if (Files.exists(task)) throw e; // else it has just ended
            }
        }
    }

    /** Where a thread may run, as sched_getaffinity tells. */
    private static String allowed(String thread) throws IOException {
        return Files.readAllLines(Path.of("/proc/" + thread + "/status")).stream()
                .filter(line -> line.startsWith(ALLOWED))
                .map(line -> line.substring(ALLOWED.length()))
                .findFirst()
                .orElseThrow();
    }

    /** Of a list like {@code 0-3,8}. */
    private static List<Integer> numbers(String list) {
        List<Integer> numbers = new ArrayList<>();
        for (String range : list.split(",", -1)) {
            String[] ends = range.split("-", -1);
            for (int i = Integer.parseInt(ends[0]); i <= Integer.parseInt(ends[ends.length - 1]); i++) numbers.add(i);
        }
        return numbers;
    }
}
