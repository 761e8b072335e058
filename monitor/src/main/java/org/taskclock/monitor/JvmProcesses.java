// SPDX-License-Identifier: Apache-2.0
// Copyright the TaskClock authors
package org.taskclock.monitor;

import java.io.File;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.AccessDeniedException;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Set;
import org.taskclock.ProcStat;
import org.taskclock.ProcessClock;

/** Finds the JVMs of this machine, including those of other users and in containers, if they are visible. */
public final class JvmProcesses {
    /**
     * A running JVM.
     *
     * @param name its main class or jar
     * @param cpuNanos its CPU time since it started
     */
    public record Jvm(long pid, String name, String user, long cpuNanos) {}

    /** The launcher's options that take the next argument as their value. */
    private static final Set<String> OPTIONS_WITH_VALUE = Set.of(
            "-cp",
            "-classpath",
            "--class-path",
            "-p",
            "--module-path",
            "--upgrade-module-path",
            "--add-modules",
            "--add-exports",
            "--add-opens",
            "--add-reads",
            "--patch-module",
            "--limit-modules",
            "--source",
            "--enable-native-access",
            "--illegal-native-access",
            "--finalization",
            "--sun-misc-unsafe-memory-access");

    /** A program with one of these options, such as jsvc, takes the same arguments as the launcher. */
    private static final Set<String> LAUNCHER_OPTIONS =
            Set.of("-jar", "-cp", "-classpath", "--class-path", "-m", "--module");

    /** PID_MAX_LIMIT: no process has a higher id. */
    private static final int MAX_PID = 1 << 22;

    /** No JVM has fewer threads. */
    private static final int MIN_THREADS = 4;

    private static final String VERSION = "JAVA_VERSION=\"";

    private static final byte[] LIBJVM = "libjvm.so".getBytes(StandardCharsets.US_ASCII);

    private JvmProcesses() {}

    /** Returns all JVMs except this one, most CPU time first. */
    public static List<Jvm> all() {
        List<Jvm> found = new ArrayList<>();
        String[] pids = new File("/proc").list((folder, name) -> Character.isDigit(name.charAt(0)));
        if (pids == null) return found;
        long self = ProcessHandle.current().pid();
        for (String text : pids) {
            long pid = Long.parseLong(text);
            if (pid == self || !isJvm(pid)) continue;
            ProcStat stat = ProcStat.read("/proc/" + pid + "/stat");
            if (stat == null || stat.state() == 'Z') continue;
            found.add(new Jvm(pid, nameOf(pid), userOf(pid), stat.userNanos() + stat.systemNanos()));
        }
        found.sort(Comparator.comparingLong(Jvm::cpuNanos).reversed());
        return found;
    }

    /** Returns the JVMs whose name contains {@code part}. */
    public static List<Jvm> named(String part) {
        return all().stream().filter(jvm -> jvm.name().contains(part)).toList();
    }

    /** Returns the JVM that uses the most CPU over a sample of {@code sampleMillis}, or null if there is none. */
    public static Jvm busiest(List<Jvm> jvms, long sampleMillis) throws InterruptedException {
        if (jvms.size() <= 1) return jvms.isEmpty() ? null : jvms.get(0);
        long[] before = new long[jvms.size()];
        for (int i = 0; i < before.length; i++) before[i] = cpuNanos(jvms.get(i));
        Thread.sleep(sampleMillis);
        int busiest = 0;
        long maxNanos = -1;
        for (int i = 0; i < before.length; i++) {
            long nanos = cpuNanos(jvms.get(i)) - before[i];
            if (nanos <= maxNanos) continue;
            busiest = i;
            maxNanos = nanos;
        }
        return jvms.get(busiest);
    }

    private static long cpuNanos(Jvm jvm) {
        return ProcessClock.of(jvm.pid()).cpuNanos();
    }

    /** Checks that a process exists, is visible, and is a JVM. */
    public static void check(long pid) throws MonitorException {
        if (pid <= 0 || pid > Integer.MAX_VALUE) throw noProcess(pid);
        if (!Files.exists(Path.of("/proc/" + pid + "/stat"))) {
            if (!isHidden(pid)) throw noProcess(pid);
            throw new MonitorException(MonitorException.Reason.NOT_PERMITTED, hiddenMessage(pid));
        }
        if (!isJvm(pid))
            throw new MonitorException(MonitorException.Reason.NOT_A_JVM, "process " + pid + " is not a JVM");
    }

    private static MonitorException noProcess(long pid) {
        return new MonitorException(MonitorException.Reason.GONE, "there is no process " + pid);
    }

    /** Returns whether a process exists but /proc lacks it: a mount option can hide the processes of other users. */
    public static boolean isHidden(long pid) {
        return pid <= MAX_PID
                && !Files.exists(Path.of("/proc/" + pid))
                && ProcessClock.of(pid).cpuNanos() >= 0;
    }

    /** Returns the error message for a hidden process. */
    public static String hiddenMessage(long pid) {
        return "process " + pid + " is hidden: /proc does not show other users' processes (hidepid): "
                + "run this as that user or root";
    }

    /**
     * Returns whether a process is a JVM; false if it has ended. For another user's process, this is a guess based on
     * names.
     */
    public static boolean isJvm(long pid) {
        ProcStat stat = ProcStat.read("/proc/" + pid + "/stat");
        // The threads are counted first, because reading the maps is slow.
        String[] threads = new File("/proc/" + pid + "/task").list();
        if (stat == null || threads == null || threads.length < MIN_THREADS) return false;
        try {
            return hasLibjvm(pid);
        } catch (NoSuchFileException e) {
            return false;
        } catch (AccessDeniedException e) {
            // Another user's process: its maps cannot be read, but other files can.
            return stat.name().equals("java") || launcherOf(pid).equals("java") || hasPerformanceData(pid);
        } catch (IOException e) {
            return "Permission denied".equals(e.getMessage()) && stat.name().equals("java");
        }
    }

    /** Returns whether a process has mapped HotSpot's library. Throws if the caller may not read its maps. */
    public static boolean hasLibjvm(long pid) throws IOException {
        return ProcText.contains(Files.readAllBytes(Path.of("/proc/" + pid + "/maps")), LIBJVM);
    }

    private static String launcherOf(long pid) {
        List<String> command = commandOf(pid);
        return command.isEmpty() ? "" : fileName(command.get(0));
    }

    private static boolean hasPerformanceData(long pid) {
        String[] folders = new File("/tmp").list((folder, name) -> name.startsWith("hsperfdata_"));
        if (folders == null) return false;
        for (String folder : folders) if (new File("/tmp/" + folder, Long.toString(pid)).exists()) return true;
        return false;
    }

    /** Returns the main class or jar on the command line, or else the name of the executable. */
    public static String nameOf(long pid) {
        String name = nameIn(commandOf(pid));
        if (!name.isEmpty()) return name;
        ProcStat stat = ProcStat.read("/proc/" + pid + "/stat");
        return stat == null ? "?" : stat.name();
    }

    /** Returns the JVM's feature version from the file "release" of its JDK; 0 if unknown. */
    static int featureOf(long pid) {
        try {
            Path home = Files.readSymbolicLink(Path.of("/proc/" + pid + "/exe"))
                    .getParent()
                    .getParent();
            for (String line : Files.readAllLines(Path.of("/proc/" + pid + "/root" + home, "release"))) {
                if (line.startsWith(VERSION))
                    return Runtime.Version.parse(line.substring(VERSION.length(), line.length() - 1))
                            .feature();
            }
        } catch (IOException | RuntimeException e) {
            return 0;
        }
        return 0;
    }

    /** Returns the program's name in a command, like {@link #nameOf}; empty if the command is empty. */
    static String nameIn(List<String> command) {
        if (command.isEmpty()) return "";
        String launcher = fileName(command.get(0));
        // Tools of the JDK and programs that embed a JVM have arguments of their own.
        if (!launcher.equals("java") && command.stream().noneMatch(LAUNCHER_OPTIONS::contains)) return launcher;
        for (int i = 1; i < command.size(); i++) {
            String argument = command.get(i);
            if (argument.equals("-jar") || argument.equals("-m") || argument.equals("--module")) {
                return i + 1 < command.size() ? fileName(command.get(i + 1)) : argument;
            }
            if (argument.startsWith("--module=")) return fileName(argument.substring("--module=".length()));
            if (OPTIONS_WITH_VALUE.contains(argument)) i++;
            else if (!argument.startsWith("-") && !argument.startsWith("@")) return fileName(argument);
        }
        return launcher;
    }

    private static List<String> commandOf(long pid) {
        try {
            String text = Files.readString(Path.of("/proc/" + pid + "/cmdline"), StandardCharsets.ISO_8859_1);
            return text.isEmpty() ? List.of() : List.of(text.split("\0"));
        } catch (IOException e) {
            return List.of();
        }
    }

    private static String fileName(String path) {
        return path.substring(path.lastIndexOf('/') + 1);
    }

    private static String userOf(long pid) {
        try {
            return Files.getOwner(Path.of("/proc/" + pid)).getName();
        } catch (IOException | UnsupportedOperationException e) {
            return "?";
        }
    }
}
