// SPDX-License-Identifier: Apache-2.0
// Copyright the TaskClock authors
package org.taskclock.watch;

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

/** The JVMs of this machine, as far as they are visible: those of other users and in containers, too. */
public final class Jvms {
    /**
     * One of them.
     *
     * @param name its main class or jar
     * @param cpuNanos what it has used so far
     */
    public record Jvm(long pid, String name, String user, long cpuNanos) {}

    /** Options of the launcher that take the next word as their value. */
    private static final Set<String> WITH_VALUE = Set.of(
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

    /** Whoever has one of these takes what the launcher does, as jsvc. */
    private static final Set<String> JAVAS = Set.of("-jar", "-cp", "-classpath", "--class-path", "-m", "--module");

    /** PID_MAX_LIMIT: no process has a higher id. */
    private static final int MOST = 1 << 22;

    private static final String VERSION = "JAVA_VERSION=\"";

    private static final byte[] LIBRARY = "libjvm.so".getBytes(StandardCharsets.US_ASCII);

    private Jvms() {}

    /** All but this one, most CPU time first. */
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

    /** Those whose name contains this. */
    public static List<Jvm> named(String part) {
        return all().stream().filter(j -> j.name().contains(part)).toList();
    }

    /**
     * Which one used most CPU time during a moment from now; null if there is none.
     *
     * @param moment how long to look, in milliseconds
     */
    public static Jvm busiest(List<Jvm> of, long moment) throws InterruptedException {
        if (of.size() <= 1) return of.isEmpty() ? null : of.get(0);
        long[] before = new long[of.size()];
        for (int i = 0; i < before.length; i++) before[i] = used(of.get(i));
        Thread.sleep(moment);
        int most = 0;
        long mostNanos = -1;
        for (int i = 0; i < before.length; i++) {
            long used = used(of.get(i)) - before[i];
            if (used <= mostNanos) continue;
            most = i;
            mostNanos = used;
        }
        return of.get(most);
    }

    private static long used(Jvm jvm) {
        return ProcessClock.of(jvm.pid()).cpuNanos();
    }

    /** Makes sure that there is such a process, and that it is a JVM. */
    static void check(long pid) throws Unwatchable {
        if (pid <= 0 || pid > Integer.MAX_VALUE) throw none(pid);
        if (!Files.exists(Path.of("/proc/" + pid + "/stat"))) {
            if (!isHidden(pid)) throw none(pid);
            throw new Unwatchable(Unwatchable.Reason.NOT_PERMITTED, hidden(pid));
        }
        if (!isJvm(pid)) throw new Unwatchable(Unwatchable.Reason.NO_JVM, "process " + pid + " is not a JVM");
    }

    private static Unwatchable none(long pid) {
        return new Unwatchable(Unwatchable.Reason.GONE, "there is no process " + pid);
    }

    /** Whether it runs, though there is nothing of it in /proc: that can be mounted so that it does not show other users'. */
    public static boolean isHidden(long pid) {
        return pid <= MOST
                && !Files.exists(Path.of("/proc/" + pid))
                && ProcessClock.of(pid).cpuNanos() >= 0;
    }

    /** What to say of one that is. */
    public static String hidden(long pid) {
        return "process " + pid
                + " cannot be looked at, as /proc hides other users' processes (hidepid): run this as its user, or root";
    }

    private static boolean isJvm(long pid) {
        ProcStat stat = ProcStat.read("/proc/" + pid + "/stat");
        // Its maps take long to read, and no JVM has fewer.
        String[] threads = new File("/proc/" + pid + "/task").list();
        if (stat == null || threads == null || threads.length < 4) return false;
        try {
            return mapsHoldLibrary(pid);
        } catch (AccessDeniedException e) {
            // Another user's. Its other files tell.
            return stat.name().equals("java") || launcherOf(pid).equals("java") || hasPerformanceData(pid);
        } catch (IOException e) {
            return "Permission denied".equals(e.getMessage()) && stat.name().equals("java");
        }
    }

    private static boolean mapsHoldLibrary(long pid) throws IOException {
        byte[] maps;
        try {
            maps = Files.readAllBytes(Path.of("/proc/" + pid + "/maps"));
        } catch (NoSuchFileException e) {
            return false;
        }
        for (int i = 0; i + LIBRARY.length <= maps.length; i++) {
            int k = 0;
            while (k < LIBRARY.length && maps[i + k] == LIBRARY[k]) k++;
            if (k == LIBRARY.length) return true;
        }
        return false;
    }

    private static String launcherOf(long pid) {
        List<String> command = commandOf(pid);
        return command.isEmpty() ? "" : lastPart(command.get(0));
    }

    private static boolean hasPerformanceData(long pid) {
        String[] folders = new File("/tmp").list((folder, name) -> name.startsWith("hsperfdata_"));
        if (folders == null) return false;
        for (String folder : folders) if (new File("/tmp/" + folder, Long.toString(pid)).exists()) return true;
        return false;
    }

    /** Of the program: its main class or jar, as its command line has it; or the file that runs. */
    public static String nameOf(long pid) {
        String name = nameIn(commandOf(pid));
        if (!name.isEmpty()) return name;
        ProcStat stat = ProcStat.read("/proc/" + pid + "/stat");
        return stat == null ? "?" : stat.name();
    }

    /** The version of Java that it runs, as its JDK's file "release" has it; 0 where that cannot be told. */
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

    /** Empty where the command is. */
    static String nameIn(List<String> command) {
        if (command.isEmpty()) return "";
        String launcher = lastPart(command.get(0));
        // Tools of the JDK, and programs with a JVM in them, have other arguments.
        if (!launcher.equals("java") && command.stream().noneMatch(JAVAS::contains)) return launcher;
        for (int i = 1; i < command.size(); i++) {
            String word = command.get(i);
            if (word.equals("-jar") || word.equals("-m") || word.equals("--module")) {
                return i + 1 < command.size() ? lastPart(command.get(i + 1)) : word;
            }
            if (word.startsWith("--module=")) return lastPart(word.substring("--module=".length()));
            if (WITH_VALUE.contains(word)) i++;
            else if (!word.startsWith("-") && !word.startsWith("@")) return lastPart(word);
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

    private static String lastPart(String path) {
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
