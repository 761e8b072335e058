// SPDX-License-Identifier: Apache-2.0
// Copyright the TaskClock authors
package org.taskclock.monitor;

import java.io.File;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Locale;
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

    static final String LIBJVM = "libjvm.so";
    private static final String LIBTASKCLOCK = "/libtaskclock-";

    /** The name of a thread that every HotSpot JVM has. */
    private static final String VM_THREAD = "VM Thread";

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

    /** Returns the JVMs whose name contains {@code part}, ignoring case. */
    public static List<Jvm> named(String part) {
        return all().stream().filter(jvm -> contains(jvm.name(), part)).toList();
    }

    /**
     * Returns the JVMs whose command line contains {@code part}, ignoring case. Omits other runs of the program that
     * calls this, because their command lines contain the text that they look for.
     */
    public static List<Jvm> withCommand(String part) {
        String self = nameOf(ProcessHandle.current().pid());
        return all().stream()
                .filter(jvm -> !jvm.name().equals(self) && contains(String.join(" ", command(jvm.pid())), part))
                .toList();
    }

    private static boolean contains(String text, String part) {
        return text.toLowerCase(Locale.ROOT).contains(part.toLowerCase(Locale.ROOT));
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
        if (!isJvm(pid)) throw new MonitorException(MonitorException.Reason.NOT_A_JVM, notAJvmMessage(pid));
    }

    /** Returns the error message for a process that is not a JVM, and what that conclusion is based on. */
    public static String notAJvmMessage(long pid) {
        String conclusion = "process " + pid + " is not a JVM: ";
        try {
            hasLibjvm(pid);
        } catch (IOException e) {
            conclusion += "it has no thread named \"" + VM_THREAD + "\" (its memory maps cannot be read): ";
        }
        return conclusion + "taskclock list shows the running JVMs";
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
     * Returns whether a process is a JVM; false if it has exited. If its memory maps cannot be read, as for another
     * user's process, the names of its threads decide. Files in /tmp/hsperfdata_* do not count: a JVM that was killed
     * leaves its file behind, and a JVM in a container that shares /tmp has another process id there.
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
        } catch (IOException e) {
            return hasVmThread(pid, threads);
        }
    }

    /** Returns whether one of a process's threads has the name that HotSpot gives its VM thread. */
    private static boolean hasVmThread(long pid, String... tids) {
        for (String tid : tids) {
            ProcStat thread = ProcStat.read("/proc/" + pid + "/task/" + tid + "/stat");
            if (thread != null && thread.name().equals(VM_THREAD)) return true;
        }
        return false;
    }

    /** Returns whether a process has mapped HotSpot's library. Throws if the caller may not read its maps. */
    public static boolean hasLibjvm(long pid) throws IOException {
        return TargetMemory.mappedFile(pid, LIBJVM) != null;
    }

    /** Returns the main class or jar on the command line, or else the name of the executable. */
    public static String nameOf(long pid) {
        String name = nameIn(command(pid));
        if (!name.isEmpty()) return TargetText.limit(name);
        ProcStat stat = ProcStat.read("/proc/" + pid + "/stat");
        return stat == null ? "?" : stat.name();
    }

    /** Returns the JVM's feature version; 0 if unknown. */
    public static int featureOf(long pid) {
        String version = JdkVersion.of(pid);
        try {
            return version == null ? 0 : Runtime.Version.parse(version).feature();
        } catch (IllegalArgumentException e) {
            return 0;
        }
    }

    /** Returns whether a process has mapped TaskClock's library, as the agent does. */
    public static boolean hasLibtaskclock(long pid) throws IOException {
        return TargetMemory.mappedFile(pid, LIBTASKCLOCK) != null;
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

    /** Returns a process's command line; empty if it cannot be read. */
    public static List<String> command(long pid) {
        try {
            return TargetMemory.commandLine(pid);
        } catch (IOException e) {
            return List.of();
        }
    }

    /** Returns a variable of the environment with which a process was started; empty if it is unknown. */
    public static String environmentVariable(long pid, String name) {
        try {
            return TargetMemory.variable(pid, name);
        } catch (IOException e) {
            return ""; // the environment of another user's process is private
        }
    }

    private static String fileName(String path) {
        return path.substring(path.lastIndexOf('/') + 1);
    }

    /** Returns the user that a process runs as; "?" if unknown. */
    public static String userOf(long pid) {
        try {
            return Files.getOwner(Path.of("/proc/" + pid)).getName();
        } catch (IOException | UnsupportedOperationException e) {
            return "?";
        }
    }
}
