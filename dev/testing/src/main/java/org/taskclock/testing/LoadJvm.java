// SPDX-License-Identifier: Apache-2.0
// Copyright the TaskClock authors
package org.taskclock.testing;

import java.io.BufferedReader;
import java.io.File;
import java.io.IOException;
import java.io.InputStreamReader;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;

/** A child JVM that runs {@link LoadProgram}. */
public final class LoadJvm implements AutoCloseable {
    /**
     * CPU times of the program's threads and of its process, as its own ThreadMXBean reports them.
     *
     * @param nanos CPU time and user time by thread name; "(process)" is the whole process, without user time
     * @param before {@code System.nanoTime()} in the child before the reading
     * @param after {@code System.nanoTime()} in the child after the reading
     */
    public record Reference(Map<String, long[]> nanos, long before, long after) {
        public long cpuSince(Reference earlier, String name) {
            return nanos.get(name)[0] - earlier.nanos.get(name)[0];
        }

        public long userSince(Reference earlier, String name) {
            return nanos.get(name)[1] - earlier.nanos.get(name)[1];
        }
    }

    private final Process process;
    private final ProcessHandle jvm;
    private final BufferedReader out;

    private LoadJvm(Process process) throws IOException {
        this.process = process;
        out = new BufferedReader(new InputStreamReader(process.getInputStream(), StandardCharsets.UTF_8));
        readReply();
        // The prefix command may have started the JVM as its child.
        jvm = process.descendants().findFirst().orElse(process.toHandle());
    }

    /** Starts a JVM and waits until its loads are running. Arguments that start with - are options of the JVM. */
    public static LoadJvm start(String... arguments) throws IOException {
        return startWithPrefix(List.of(), arguments);
    }

    /** Starts a JVM through another command, such as setpriv. */
    public static LoadJvm startWithPrefix(List<String> prefix, String... arguments) throws IOException {
        String classes = new File(LoadProgram.class
                        .getProtectionDomain()
                        .getCodeSource()
                        .getLocation()
                        .getPath())
                .getPath();
        return start(prefix, classes, LoadProgram.class, arguments);
    }

    /** Starts another program, on the class path of this JVM. It prints "done" as {@link LoadProgram} does. */
    public static LoadJvm startProgram(Class<?> main, String... arguments) throws IOException {
        return start(List.of(), System.getProperty("java.class.path"), main, arguments);
    }

    private static LoadJvm start(List<String> prefix, String classes, Class<?> main, String... arguments)
            throws IOException {
        List<String> command = new ArrayList<>(prefix);
        command.add(Path.of(System.getProperty("java.home"), "bin", "java").toString());
        command.add("-Xmx128m");
        // Small enough for thousands of threads, with room for the signals of a thread dump.
        command.add("-Xss256k");
        for (String argument : arguments) if (argument.startsWith("-")) command.add(argument);
        command.addAll(List.of("-cp", classes, main.getName()));
        for (String argument : arguments) if (!argument.startsWith("-")) command.add(argument);
        return new LoadJvm(new ProcessBuilder(command)
                .redirectError(ProcessBuilder.Redirect.DISCARD)
                .start());
    }

    /** Returns the JVM's process id in our pid namespace. */
    public long pid() {
        return jvm.pid();
    }

    public boolean isAlive() {
        return process.isAlive();
    }

    private List<String> readReply() throws IOException {
        List<String> lines = new ArrayList<>();
        for (String line; (line = out.readLine()) != null; ) {
            if (line.equals("done")) return lines;
            lines.add(line);
        }
        throw new IOException("the child ended after printing " + lines);
    }

    /** Sends a command of {@link LoadProgram} and returns the reply. */
    public List<String> send(String command) throws IOException {
        process.getOutputStream().write((command + "\n").getBytes(StandardCharsets.UTF_8));
        process.getOutputStream().flush();
        return readReply();
    }

    public Reference reference() throws IOException {
        Map<String, long[]> nanos = new HashMap<>();
        for (String line : send("reference")) {
            String[] parts = line.split("\t", 3);
            nanos.put(parts[0], new long[] {Long.parseLong(parts[1]), Long.parseLong(parts[2])});
        }
        long[] time = nanos.remove("(time)");
        return new Reference(nanos, time[0], time[1]);
    }

    /** Sends a signal to the JVM, such as STOP. */
    public void signal(String name) throws IOException, InterruptedException {
        int exit = new ProcessBuilder("kill", "-" + name, Long.toString(pid()))
                .start()
                .waitFor();
        if (exit != 0) throw new IOException("kill -" + name + ": " + exit);
    }

    /** Kills the JVM and returns its output that has not been read yet. */
    public List<String> end() throws IOException, InterruptedException {
        // Do not use destroyForcibly, which closes the output.
        signal("KILL");
        if (!process.waitFor(20, TimeUnit.SECONDS)) throw new IOException("the child did not end");
        return out.lines().toList();
    }

    @Override
    public void close() {
        process.destroyForcibly();
    }
}
