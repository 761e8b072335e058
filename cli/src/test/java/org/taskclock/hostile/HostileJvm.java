// SPDX-License-Identifier: Apache-2.0
// Copyright the TaskClock authors
package org.taskclock.hostile;

import java.io.File;
import java.io.IOException;
import java.io.RandomAccessFile;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.nio.file.attribute.FileTime;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;

/** A JVM that runs {@link HostileProgram}, in surroundings that fit its {@link Scenario}. */
public final class HostileJvm implements AutoCloseable {
    private static final long TIMEOUT_MILLIS = 60_000;
    private static final int HUGE = 120_000;

    /** The file behind the link of {@link Scenario#LINKED_HSPERFDATA}, and its time of access unless it was read. */
    static final Path LINKED = Path.of("/tmp/linked");

    static final FileTime NEVER = FileTime.fromMillis(0);

    /** Keeps a JVM stopped, and kills it when its own input ends, because a stopped process cannot notice that. */
    private static final String STOP = """
            exec 3<&0
            "$@" <&3 &
            jvm=$!
            sleep 2
            kill -STOP $jvm
            read -r <&3
            kill -KILL $jvm
            """;

    /** Replaces a JVM by one with the same id every few seconds, until its input ends. */
    private static final String REUSE = """
            exec 3<&0
            "$@" <&3 &
            jvm=$!
            reused=0
            while kill -0 $jvm 2>/dev/null; do
              sleep 4
              kill -KILL $jvm 2>/dev/null || break
              wait $jvm
              next=0
              # Another process may take the id first, above all beside a storm of threads.
              until [[ $next == "$jvm" ]]; do
                [[ $next == 0 ]] || { kill -KILL $next; wait $next; }
                echo $((jvm - 1)) >/proc/sys/kernel/ns_last_pid || exit 1
                "$@" <&3 &
                next=$!
              done
              echo "rate $((++reused))"
            done
            """;

    /** Runs a command where /tmp is a link to its directory $2, which is another directory inside and outside. */
    private static final String LINK_TMP = """
            set -e
            root=$1 target=$2
            shift 2
            mkdir -p "$root" "$target"
            mount -t tmpfs none "$root"
            for entry in /*; do
              if [[ -L $entry ]]; then
                cp -P "$entry" "$root$entry"
              elif [[ -d $entry && $entry != /tmp ]]; then
                mkdir "$root$entry"
                mount --rbind "$entry" "$root$entry"
              fi
            done
            mount -t tmpfs none "$root$target"
            ln -s "$target" "$root/tmp"
            exec chroot "$root" "$@"
            """;

    private final Scenario scenario;
    private final Path directory;
    private final Path out;
    private final Process process;
    private final long pid;
    private final FileTime trapTime;

    private HostileJvm(Scenario scenario, Path directory, Process process) throws IOException, InterruptedException {
        this.scenario = scenario;
        this.directory = directory;
        this.process = process;
        out = directory.resolve("out");
        pid = Long.parseLong(await("ready "));
        trapTime = scenario == Scenario.LINKS ? Files.getLastModifiedTime(directory.resolve("trap")) : null;
    }

    /** Returns why a scenario cannot be run here; null if it can. */
    public static String obstacle(Scenario scenario) {
        if (scenario.needsRoot() && !"root".equals(System.getProperty("user.name"))) return scenario + " needs root";
        boolean hidesTmp = scenario == Scenario.LINKS || scenario.replacesPerformanceData();
        if (hidesTmp && classes().startsWith("/tmp")) return scenario + ": the build is in /tmp, which it hides";
        return null;
    }

    /** Starts a JVM, and waits until it is hostile. The directory is its own and is deleted when it is closed. */
    public static HostileJvm start(Scenario scenario, int number, Path directory)
            throws IOException, InterruptedException {
        Files.createDirectories(directory);
        List<String> command = new ArrayList<>(prefix(scenario, directory));
        command.add(launcher(scenario, directory).toString());
        command.addAll(List.of("-Xmx48m", "-Xss256k", "-XX:+UseSerialGC", "-XX:TieredStopAtLevel=1"));
        if (scenario == Scenario.HUGE_NAMES) command.add("-Dhuge=" + "p".repeat(HUGE));
        command.addAll(List.of("-cp", classes(), HostileProgram.class.getName(), scenario.toString()));
        command.add(scenario == Scenario.HUGE_NAMES ? "a".repeat(HUGE) : Integer.toString(number));
        ProcessBuilder builder = new ProcessBuilder(command).redirectErrorStream(true);
        if (scenario == Scenario.HUGE_NAMES) builder.environment().put("OTEL_SERVICE_NAME", "s".repeat(HUGE));
        return new HostileJvm(
                scenario,
                directory,
                builder.redirectOutput(directory.resolve("out").toFile()).start());
    }

    private static List<String> prefix(Scenario scenario, Path directory) {
        return switch (scenario) {
            case STOPPED -> List.of("bash", "-c", STOP, "bash");
            case PID_REUSE -> List.of("bash", "-c", REUSE, "bash");
            case LINKS ->
                List.of(
                        "unshare",
                        "--mount",
                        "bash",
                        "-c",
                        LINK_TMP,
                        "bash",
                        directory.resolve("root").toString(),
                        directory.resolve("trap").toString());
            case FIFO_HSPERFDATA, LINKED_HSPERFDATA, RANDOM_HSPERFDATA ->
                List.of(
                        "unshare",
                        "--mount",
                        "sh",
                        "-c",
                        "mount -t tmpfs -o strictatime none /tmp && exec \"$@\"",
                        "sh");
            default -> List.of();
        };
    }

    private static String classes() {
        return new File(HostileProgram.class
                        .getProtectionDomain()
                        .getCodeSource()
                        .getLocation()
                        .getPath())
                .getPath();
    }

    /** Returns the launcher of the JDK, or a copy of it in a directory that looks like a JDK. */
    private static Path launcher(Scenario scenario, Path directory) throws IOException {
        Path home = Path.of(System.getProperty("java.home"));
        Path launcher = home.resolve("bin/java");
        Path copy = directory.resolve("jdk");
        Path release = copy.resolve("release");
        if (!scenario.name().endsWith("_RELEASE")) return launcher;
        Files.createDirectories(copy.resolve("bin"));
        Files.createSymbolicLink(copy.resolve("lib"), home.resolve("lib"));
        switch (scenario) {
            case FIFO_RELEASE -> makeFifo(release);
            case ENDLESS_RELEASE -> Files.createSymbolicLink(release, Path.of("/dev/zero"));
            default -> {
                try (RandomAccessFile file = new RandomAccessFile(release.toFile(), "rw")) {
                    file.setLength(1L << 40); // sparse
                }
            }
        }
        return Files.copy(launcher, copy.resolve("bin/java"), StandardCopyOption.COPY_ATTRIBUTES);
    }

    static void makeFifo(Path path) throws IOException {
        try {
            if (new ProcessBuilder("mkfifo", path.toString()).start().waitFor() != 0)
                throw new IOException("mkfifo " + path + " failed");
        } catch (InterruptedException e) {
            throw new IOException(e);
        }
    }

    /** Waits for a line that starts with a text, and returns the rest of it. */
    private String await(String start) throws IOException, InterruptedException {
        for (long end = System.currentTimeMillis() + TIMEOUT_MILLIS; System.currentTimeMillis() < end; ) {
            String found = last(start);
            if (found != null) return found;
            if (!process.isAlive()) break;
            Thread.sleep(20);
        }
        close();
        throw new IOException(scenario + " did not start: " + (Files.exists(out) ? Files.readString(out) : ""));
    }

    private String last(String start) throws IOException {
        try (Stream<String> lines = Files.lines(out)) {
            return lines.filter(line -> line.startsWith(start))
                    .map(line -> line.substring(start.length()))
                    .reduce((first, second) -> second)
                    .orElse(null);
        }
    }

    /** Returns the process id of the JVM in our namespace. */
    public long pid() {
        return pid;
    }

    public Scenario scenario() {
        return scenario;
    }

    public boolean isAlive() {
        return process.isAlive();
    }

    /** Returns how many threads started in each second, or how often the process id was reused, since the start. */
    public List<Integer> rates() throws IOException {
        try (Stream<String> lines = Files.lines(out)) {
            return lines.filter(line -> line.startsWith("rate "))
                    .map(line -> Integer.valueOf(line.substring("rate ".length())))
                    .toList();
        }
    }

    /**
     * Returns whether a file was created or deleted in the directory to which the link /tmp of {@link Scenario#LINKS}
     * leads outside of its namespace.
     */
    boolean wasTrapTouched() throws IOException {
        return !Files.getLastModifiedTime(directory.resolve("trap")).equals(trapTime);
    }

    /** Returns whether the file behind the link of {@link Scenario#LINKED_HSPERFDATA} was read. */
    boolean wasLinkFollowed() throws IOException {
        Path linked = Path.of("/proc/" + pid + "/root" + LINKED);
        return !Files.getAttribute(linked, "lastAccessTime").equals(NEVER);
    }

    /** Returns whether the JVM has printed a thread dump, which it does on SIGQUIT. */
    boolean wasSignalled() throws IOException {
        try (Stream<String> lines = Files.lines(out)) {
            return lines.anyMatch(line -> line.startsWith("Full thread dump"));
        }
    }

    @Override
    public void close() throws IOException {
        process.descendants().forEach(ProcessHandle::destroyForcibly);
        process.destroyForcibly();
        try {
            process.waitFor(10, TimeUnit.SECONDS);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
        for (String file : List.of(".java_pid", ".attach_pid")) Files.deleteIfExists(Path.of("/tmp", file + pid));
        delete(directory);
    }

    private static void delete(Path directory) throws IOException {
        List<Path> found;
        try (Stream<Path> files = Files.walk(directory)) {
            found = new ArrayList<>(files.toList());
        }
        for (int i = found.size() - 1; i >= 0; i--) Files.delete(found.get(i));
    }
}
