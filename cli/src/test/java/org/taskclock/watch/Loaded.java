// SPDX-License-Identifier: Apache-2.0
// Copyright the TaskClock authors
package org.taskclock.watch;

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

/** A child JVM that runs {@link Load}. */
public final class Loaded implements AutoCloseable {
    /** What a thread, or the process, used so far, and when that was so: somewhere between two points in time. */
    record Truth(Map<String, long[]> used, long before, long after) {
        /** Of the difference to another: how much is uncertain, because time passed. */
        long cpuSince(Truth earlier, String name) {
            return used.get(name)[0] - earlier.used.get(name)[0];
        }

        long userSince(Truth earlier, String name) {
            return used.get(name)[1] - earlier.used.get(name)[1];
        }
    }

    private final Process process;
    private final ProcessHandle jvm;
    private final BufferedReader out;

    private Loaded(Process process) throws IOException {
        this.process = process;
        out = new BufferedReader(new InputStreamReader(process.getInputStream(), StandardCharsets.UTF_8));
        answer();
        // What is before it may have started it as its child.
        jvm = process.descendants().findFirst().orElse(process.toHandle());
    }

    /** Words that start with - are the JVM's. */
    public static Loaded with(String... words) throws IOException {
        return as(List.of(), words);
    }

    /** Behind another command, as setpriv. */
    public static Loaded as(List<String> prefix, String... words) throws IOException {
        List<String> command = new ArrayList<>(prefix);
        command.add(Path.of(System.getProperty("java.home"), "bin", "java").toString());
        command.add("-Xmx128m");
        // 2,000 stacks, and signals that a thread dump needs room for.
        command.add("-Xss256k");
        for (String word : words) if (word.startsWith("-")) command.add(word);
        String classes = new File(Load.class
                        .getProtectionDomain()
                        .getCodeSource()
                        .getLocation()
                        .getPath())
                .getPath();
        command.addAll(List.of("-cp", classes, Load.class.getName()));
        for (String word : words) if (!word.startsWith("-")) command.add(word);
        return new Loaded(new ProcessBuilder(command)
                .redirectError(ProcessBuilder.Redirect.DISCARD)
                .start());
    }

    /** Of the JVM, as we see it. */
    public long pid() {
        return jvm.pid();
    }

    public boolean isAlive() {
        return process.isAlive();
    }

    private List<String> answer() throws IOException {
        List<String> lines = new ArrayList<>();
        for (String line; (line = out.readLine()) != null; ) {
            if (line.equals("done")) return lines;
            lines.add(line);
        }
        throw new IOException("the child ended, having said " + lines);
    }

    List<String> tell(String command) throws IOException {
        process.getOutputStream().write((command + "\n").getBytes(StandardCharsets.UTF_8));
        process.getOutputStream().flush();
        return answer();
    }

    Truth truth() throws IOException {
        Map<String, long[]> used = new HashMap<>();
        for (String line : tell("truth")) {
            String[] parts = line.split("\t", 3);
            used.put(parts[0], new long[] {Long.parseLong(parts[1]), Long.parseLong(parts[2])});
        }
        long[] time = used.remove("(time)");
        return new Truth(used, time[0], time[1]);
    }

    public void signal(String name) throws IOException, InterruptedException {
        int exit = new ProcessBuilder("kill", "-" + name, Long.toString(pid()))
                .start()
                .waitFor();
        if (exit != 0) throw new IOException("kill -" + name + ": " + exit);
    }

    /** What it printed after it was ended. */
    List<String> end() throws IOException, InterruptedException {
        // Not by destroyForcibly, which closes what is read from.
        signal("KILL");
        if (!process.waitFor(20, TimeUnit.SECONDS)) throw new IOException("it does not end");
        return out.lines().toList();
    }

    @Override
    public void close() {
        process.destroyForcibly();
    }
}
