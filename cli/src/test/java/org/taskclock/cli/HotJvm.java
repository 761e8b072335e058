// SPDX-License-Identifier: Apache-2.0
// Copyright the TaskClock authors
package org.taskclock.cli;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import org.taskclock.monitor.attach.AttachClient;

/** A JVM with a program whose hot methods are known, in a directory of its own. */
final class HotJvm implements AutoCloseable {
    private static final long TIMEOUT_MILLIS = 20_000;

    /**
     * A thread that spends three quarters of its time in one method, another thread, and if asked, a virtual one or one
     * that makes system calls.
     */
    static final class Program {
        static volatile long sink;

        private Program() {}

        public static void main(String[] args) throws IOException, ReflectiveOperationException {
            start("worker-1", Program::work);
            start("other-1", Program::unrelated);
            if (List.of(args).contains("kernel")) start("reader-1", Program::read);
            if (List.of(args).contains("virtual")) {
                Object builder = Thread.class.getMethod("ofVirtual").invoke(null);
                Class.forName("java.lang.Thread$Builder")
                        .getMethod("start", Runnable.class)
                        .invoke(builder, (Runnable) Program::workVirtually);
            }
            System.out.println("ready");
            System.in.read(); // until killed
        }

        private static void start(String name, Runnable load) {
            Thread thread = new Thread(load, name);
            thread.setDaemon(true);
            thread.start();
        }

        static void work() {
            while (true) {
                hot();
                warm();
            }
        }

        static void hot() {
            spin(3_000);
        }

        static void warm() {
            spin(1_000);
        }

        /** Spends half of its time in the kernel. */
        static void read() {
            byte[] zeros = new byte[100_000];
            try (InputStream in = Files.newInputStream(Path.of("/dev/zero"))) {
                while (in.read(zeros) > 0) spin(10);
            } catch (IOException e) {
                throw new UncheckedIOException(e);
            }
        }

        static void workVirtually() {
            while (true) spin(10_000);
        }

        /** Uses a part of a processor. */
        static void unrelated() {
            try {
                while (true) {
                    spin(2_000);
                    Thread.sleep(8);
                }
            } catch (InterruptedException e) {
                throw new IllegalStateException(e);
            }
        }

        /** Does an amount of work, because the time that it takes depends on what else runs. */
        private static void spin(int thousands) {
            long sum = 0;
            for (int i = 0; i < thousands; i++) for (int j = 0; j < 1_000; j++) sum += j ^ sum;
            sink = sum;
        }
    }

    final Process process;
    final BufferedReader out;
    final String pid;
    final Path directory = Files.createTempDirectory("taskclock-profiled");

    HotJvm(String... arguments) throws IOException {
        List<String> command = new ArrayList<>();
        command.add(Path.of(System.getProperty("java.home"), "bin", "java").toString());
        for (String argument : arguments) if (argument.startsWith("-")) command.add(argument);
        command.addAll(List.of("-cp", classes(), Program.class.getName()));
        for (String argument : arguments) if (!argument.startsWith("-")) command.add(argument);
        process = new ProcessBuilder(command)
                .directory(directory.toFile())
                .redirectErrorStream(true)
                .start();
        out = process.inputReader();
        pid = Long.toString(process.pid());
        assertThat(out.readLine()).isEqualTo("ready");
    }

    private static String classes() {
        return Program.class.getProtectionDomain().getCodeSource().getLocation().getPath();
    }

    String execute(String... command) throws IOException {
        return AttachClient.of(process.pid()).execute(TIMEOUT_MILLIS, command);
    }

    @Override
    public void close() throws IOException {
        process.toHandle().destroyForcibly(); // Process.destroyForcibly would close the output
        assertThat(out.lines()).as("output of the program").isEmpty();
        assertThat(directory).isEmptyDirectory();
        Files.delete(directory);
    }
}
