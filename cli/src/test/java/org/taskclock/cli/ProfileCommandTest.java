// SPDX-License-Identifier: Apache-2.0
// Copyright the TaskClock authors
package org.taskclock.cli;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import com.google.gson.JsonElement;
import com.google.gson.JsonObject;
import com.google.gson.JsonParser;
import java.io.File;
import java.io.IOException;
import java.io.InputStream;
import java.nio.file.DirectoryStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.function.Predicate;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.StreamSupport;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.api.parallel.Isolated;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import org.taskclock.internal.JdkVersions;

/** {@code taskclock profile} on a JVM whose hot methods are known. */
@Isolated("other tests would affect its measurements and leave files in the temporary directory")
@Tag("slow")
class ProfileCommandTest {
    private static final long TIMEOUT_MILLIS = 20_000;
    private static final Pattern PROFILE = Pattern.compile(".*taskclock_profile_([0-9]+)_.*");
    private static final long CAP_SYS_ADMIN = 1L << 21;
    private static final long CAP_PERFMON = 1L << 38;

    @TempDir
    private static Path libraryFolder;

    private static List<String> leftBefore;

    @BeforeAll
    static void extractAsyncProfiler() throws IOException {
        String name = "libasyncProfiler.so";
        try (InputStream library = ProfileCommandTest.class.getResourceAsStream("/linux-x64/" + name)) {
            Files.copy(library, libraryFolder.resolve(name), StandardCopyOption.REPLACE_EXISTING);
        }
        leftBefore = List.of(new File("/tmp").list());
    }

    /** A profile that was killed with kill -9, as after a timeout of a test, leaves its file. */
    private static boolean isNewProfile(String name) {
        Matcher profile = PROFILE.matcher(name);
        return profile.matches() && !leftBefore.contains(name) && !isOfAnotherProfiler(profile.group(1));
    }

    /** Others may use this machine. Our commands have ended. */
    private static boolean isOfAnotherProfiler(String pid) {
        return ProcessHandle.of(Long.parseLong(pid)).isPresent()
                && Long.parseLong(pid) != ProcessHandle.current().pid();
    }

    /** Returns the names of the target's files and folders in the temporary directory that profiles create. */
    private static List<String> temporaryFiles(HotJvm target) {
        String[] files = new File("/tmp")
                .list((folder, name) -> isNewProfile(name) || name.matches("\\d{4}(_\\d{2}){5}_" + target.pid));
        return List.of(files);
    }

    private static CliResult profile(HotJvm target, String source, String... options)
            throws IOException, InterruptedException {
        List<String> arguments = new ArrayList<>(List.of("profile", target.pid, "--source", source));
        if (source.equals("async-profiler") || source.equals("auto"))
            arguments.addAll(List.of("--async-profiler", libraryFolder.toString()));
        arguments.addAll(List.of(options));
        return CliResult.run(arguments.toArray(String[]::new));
    }

    private static JsonObject json(CliResult result) {
        assertThat(result.exitCode()).as(result.err()).isEqualTo(Main.OK);
        JsonObject profile = JsonParser.parseString(result.out()).getAsJsonObject();
        assertThat(nanos(profile, stack -> true))
                .as("the stacks add up to the measured CPU time")
                .isEqualTo(profile.get("cpuNanos").getAsLong());
        return profile;
    }

    /** Returns the CPU time of some of the stacks. */
    private static long nanos(JsonObject profile, Predicate<JsonObject> which) {
        return StreamSupport.stream(profile.getAsJsonArray("stacks").spliterator(), false)
                .map(JsonElement::getAsJsonObject)
                .filter(which)
                .mapToLong(stack -> stack.get("cpuNanos").getAsLong())
                .sum();
    }

    private static Predicate<JsonObject> member(String name, String value) {
        return stack -> stack.has(name) && stack.get(name).getAsString().equals(value);
    }

    /** Returns whether the kernel permits that a JVM of this user is sampled with perf_events. */
    private static boolean hasPerfEvents() throws IOException {
        int paranoid = Integer.parseInt(Files.readString(Path.of("/proc/sys/kernel/perf_event_paranoid"))
                .strip());
        long capabilities = Files.readAllLines(Path.of("/proc/self/status")).stream()
                .filter(line -> line.startsWith("CapEff:"))
                .mapToLong(line -> Long.parseUnsignedLong(
                        line.substring("CapEff:".length()).strip(), 16))
                .findFirst()
                .orElse(0);
        return paranoid <= 1 || (capabilities & (CAP_PERFMON | CAP_SYS_ADMIN)) != 0;
    }

    private static String asyncProfiler() throws IOException {
        return hasPerfEvents() ? "async-profiler (perf_events)" : "async-profiler (ctimer)";
    }

    /** Returns a method's share of the samples, in percent. */
    private static double total(JsonObject profile, String method) {
        return StreamSupport.stream(profile.getAsJsonArray("methods").spliterator(), false)
                .map(JsonElement::getAsJsonObject)
                .filter(m -> m.get("method").getAsString().endsWith("Program." + method))
                .mapToDouble(m -> m.get("totalPercent").getAsDouble())
                .sum();
    }

    @ParameterizedTest
    @ValueSource(strings = {"async-profiler", "jfr", "stacks"})
    void shouldFindTheHotMethodOfAThread(String source) throws Exception {
        try (HotJvm target = new HotJvm()) {
            JsonObject profile = json(profile(target, source, "--thread", "worker-1", "--for", "4s", "--json"));
            assertThat(total(profile, "work")).isBetween(98.0, 100.0);
            // Thread dumps are few, at most 40, and taken at safepoints: on a busy machine 31 % was seen.
            assertThat(total(profile, "hot")).isBetween(source.equals("stacks") ? 20.0 : 60.0, 95.0);
            assertThat(total(profile, "unrelated")).isZero();
            String description = profile.get("source").getAsString();
            switch (source) {
                case "async-profiler" -> assertThat(description).isEqualTo(asyncProfiler());
                case "jfr" -> {
                    boolean cpuTime = Runtime.version().feature() >= JdkVersions.CPU_TIME_SAMPLES;
                    assertThat(description)
                            .isEqualTo(cpuTime ? "JFR (jdk.CPUTimeSample)" : "JFR (jdk.ExecutionSample)");
                    assertThat(target.execute("jcmd", "JFR.check")).contains("No available recordings");
                }
                default -> {
                    assertThat(description).isEqualTo("thread dumps");
                    assertThat(profile.get("notes").toString()).contains("safepoint bias");
                }
            }
            double seconds = profile.get("intervalNanos").getAsLong() / 1e9;
            assertThat(seconds).isBetween(3.9, 5.0);
            long cpu = profile.get("cpuNanos").getAsLong();
            assertThat(cpu)
                    .isEqualTo(profile.get("userNanos").getAsLong()
                            + profile.get("systemNanos").getAsLong());
            assertThat(cpu / 1e9).isBetween(0.2 * seconds, seconds);
            // The execution sampler also counts the time in which a thread waits for a processor.
            assertThat(profile.get("coveredPercent").getAsDouble()).isBetween(50.0, 200.0);
            assertThat(temporaryFiles(target)).isEmpty();
        }
    }

    @ParameterizedTest
    @ValueSource(strings = {"async-profiler", "jfr", "stacks"})
    void shouldShowLines(String source) throws Exception {
        try (HotJvm target = new HotJvm("kernel")) {
            JsonObject profile = json(profile(target, source, "--for", "3s", "--lines", "--json"));
            List<String> methods = StreamSupport.stream(
                            profile.getAsJsonArray("methods").spliterator(), false)
                    .map(each -> each.getAsJsonObject().get("method").getAsString())
                    .toList();
            assertThat(methods)
                    .anyMatch(method -> method.matches(".*Program\\.work:[1-9][0-9]*"))
                    .anyMatch(method -> method.matches(".*Program\\.(hot|spin):[1-9][0-9]*"))
                    .noneMatch(method -> method.matches(".*Program\\.(work|hot)"));
            assertThat(nanos(profile, member("thread", "worker-1"))).isGreaterThan(100_000_000);
            if (source.equals("async-profiler") && hasPerfEvents())
                assertThat(nanos(profile, member("mode", "kernel"))).isPositive();
            assertThat(temporaryFiles(target)).isEmpty();
        }
    }

    @Test
    void shouldProfileAPoolAndAllThreads() throws Exception {
        try (HotJvm target = new HotJvm()) {
            JsonObject pool = json(profile(target, "auto", "--pool", "other", "--for", "2s", "--json"));
            assertThat(pool.get("threads").getAsString()).isEqualTo("pool \"other-#\" (1 threads)");
            assertThat(total(pool, "unrelated")).isGreaterThan(90);
            JsonObject all = json(profile(target, "auto", "--for", "2s", "--json"));
            assertThat(all.get("threads").getAsString()).isEqualTo("all threads");
            assertThat(total(all, "unrelated")).isBetween(1.0, 50.0);
            assertThat(total(all, "work")).isGreaterThan(40);
            assertThat(nanos(all, member("thread", "worker-1"))).isGreaterThan(100_000_000);
            assertThat(nanos(all, member("pool", "other-#"))).isPositive();
        }
    }

    @ParameterizedTest
    @ValueSource(strings = {"async-profiler", "jfr", "stacks"})
    void shouldReportVirtualThreadsOnTheirCarriers(String source) throws Exception {
        assumeTrue(
                Runtime.version().feature() >= JdkVersions.VIRTUAL_THREADS, "NOT RUN: this JDK has no virtual threads");
        try (HotJvm target = new HotJvm("virtual")) {
            JsonObject profile =
                    json(profile(target, source, "--pool", "ForkJoinPool-#-worker-#", "--for", "3s", "--json"));
            assertThat(profile.get("notes").toString()).contains("virtual threads are sampled on their carriers");
            assertThat(profile.get("cpuNanos").getAsLong()).isGreaterThan(200_000_000);
            assertThat(total(profile, "workVirtually")).isGreaterThan(90);
        }
    }

    @Test
    void shouldPrintATableAFlameGraphAndAPage(@TempDir Path directory) throws Exception {
        try (HotJvm target = new HotJvm()) {
            CliResult table = profile(target, "auto", "--thread", "worker-1", "--for", "1s", "--limit", "3");
            assertThat(table.exitCode()).as(table.err()).isEqualTo(Main.OK);
            assertThat(table.out())
                    .startsWith("process " + target.pid + " ")
                    .containsPattern("CPU [0-9.]+ % of a core: user [0-9.]+, system [0-9.]+\n")
                    .containsPattern("source: async-profiler \\(.*\\), [0-9]+ samples, one per 10 ms, which stand for"
                            + " [0-9.]+ % of this CPU time\n")
                    .containsPattern("  self %  total %  method\n(.*\n){3}$");
            Path page = directory.resolve("flame.html");
            CliResult flame =
                    profile(target, "auto", "--thread", "worker-1", "--for", "1s", "--flame", "-o", page.toString());
            assertThat(flame.exitCode()).as(flame.err()).isEqualTo(Main.OK);
            assertThat(flame.out())
                    .containsPattern("100\\.0 +0\\.0  \\|{40,} all\n")
                    .contains("- ", "Program.hot");
            assertThat(Files.readString(page)).contains("Program.hot", "<iframe", "stand for");
            String missing = directory.resolve("missing").resolve("flame.html").toString();
            CliResult unwritable = profile(target, "auto", "--thread", "worker-1", "--for", "500ms", "-o", missing);
            assertThat(unwritable.exitCode()).isEqualTo(Main.FAILED);
            assertThat(unwritable.err()).startsWith("taskclock: " + missing).hasLineCount(1);
            assertThat(unwritable.out()).contains("  self %  total %  method\n"); // not lost
        }
    }

    @Test
    void shouldTellTheKernelFromTheProgram() throws Exception {
        try (HotJvm target = new HotJvm("kernel")) {
            JsonObject profile =
                    json(profile(target, "async-profiler", "--thread", "reader-1", "--for", "4s", "--json"));
            long system = profile.get("systemNanos").getAsLong();
            assertThat(system).as("time in read(2)").isGreaterThan(30_000_000);
            if (hasPerfEvents()) {
                assertThat(nanos(profile, member("mode", "kernel"))).isEqualTo(system);
                assertThat(nanos(profile, member("mode", "user")))
                        .isEqualTo(profile.get("userNanos").getAsLong());
                assertThat(profile.get("notes").toString()).doesNotContain("in the kernel");
            } else {
                assertThat(profile.get("notes").toString()).contains("no sample was taken in the kernel");
            }
            assertThat(json(profile(target, "jfr", "--thread", "reader-1", "--for", "1s", "--json"))
                            .get("notes")
                            .toString())
                    .contains("no sample was taken in the kernel: system time, ");
            assertThat(openFiles(target)).as("files of perf_events").noneMatch(file -> file.contains("perf_event"));
        }
    }

    private static List<String> openFiles(HotJvm target) throws IOException {
        List<String> files = new ArrayList<>();
        try (DirectoryStream<Path> links = Files.newDirectoryStream(Path.of("/proc", target.pid, "fd"))) {
            for (Path link : links) files.add(Files.readSymbolicLink(link).toString());
        }
        return files;
    }

    /** The limit of open files belongs to the program. */
    @Test
    void shouldUseATimerIfFilesAreFew() throws Exception {
        try (HotJvm target = new HotJvm()) {
            new ProcessBuilder("prlimit", "--pid", target.pid, "--nofile=40:40")
                    .start()
                    .waitFor();
            assertThat(json(profile(target, "async-profiler", "--for", "1s", "--json"))
                            .get("source")
                            .getAsString())
                    .isEqualTo("async-profiler (ctimer)");
        }
    }

    @Test
    void shouldRefuseWhileAsyncProfilerIsRunning() throws Exception {
        String library = libraryFolder.resolve("libasyncProfiler.so").toString();
        try (HotJvm target = new HotJvm()) {
            Path file = libraryFolder.resolve("users");
            target.execute("load", library, "true", "start,event=ctimer,loglevel=none,file=" + file);
            CliResult refused = profile(target, "auto", "--for", "1s");
            assertThat(refused.exitCode()).isEqualTo(Main.FAILED);
            assertThat(refused.err())
                    .startsWith("taskclock: process " + target.pid + ": async-profiler is already profiling this JVM: ")
                    .hasLineCount(1);
            assertThat(refused.out()).isEmpty();
            target.execute("load", library, "true", "status,loglevel=none,file=" + file);
            assertThat(file).content().contains("is running");
            // The other sources do not disturb it.
            assertThat(json(profile(target, "jfr", "--for", "1s", "--json"))
                            .get("samples")
                            .getAsLong())
                    .isPositive();
            target.execute("load", library, "true", "status,loglevel=none,file=" + file);
            assertThat(file).content().contains("is running");
            target.execute("load", library, "true", "stop,loglevel=none,file=" + file);
        }
    }

    @ParameterizedTest
    @ValueSource(strings = {"async-profiler", "jfr"})
    void shouldLeaveTheUsersRecordingAlone(String source) throws Exception {
        try (HotJvm target = new HotJvm()) {
            target.execute("jcmd", "JFR.start name=users");
            List<String> files = temporaryFiles(target);
            assertThat(json(profile(target, source, "--for", "1s", "--json"))
                            .get("samples")
                            .getAsLong())
                    .isPositive();
            assertThat(target.execute("jcmd", "JFR.check"))
                    .contains("name=users")
                    .doesNotContain("taskclock");
            assertThat(temporaryFiles(target)).isEqualTo(files).hasSize(1);
            Path recording = libraryFolder.resolve("users.jfr");
            target.execute("jcmd", "JFR.stop name=users filename=" + recording);
            assertThat(recording).isNotEmptyFile();
            target.process.toHandle().destroy(); // so that the JVM removes its files
            target.process.waitFor();
        }
    }

    /** Starts a profile that only ends early, and waits until it samples. */
    private static Process startLongProfile(HotJvm target, Path errors) throws Exception {
        ProcessBuilder builder = CliResult.builder("profile", target.pid, "--source", "jfr", "--for", "1h");
        // A shell starts background jobs, such as this test, so that they and their children ignore SIGINT.
        builder.command().addAll(0, List.of("env", "--default-signal=INT"));
        Process profile = builder.redirectError(errors.toFile()).start();
        long deadline = System.nanoTime() + TimeUnit.MILLISECONDS.toNanos(TIMEOUT_MILLIS);
        while (!target.execute("jcmd", "JFR.check").contains("taskclock_profile")) {
            assertThat(System.nanoTime()).isLessThan(deadline);
            Thread.sleep(50);
        }
        return profile;
    }

    @Test
    void shouldStopSamplingAndPrintTheResultOnCtrlC(@TempDir Path directory) throws Exception {
        try (HotJvm target = new HotJvm()) {
            Process profile = startLongProfile(target, directory.resolve("errors"));
            new ProcessBuilder("kill", "-INT", Long.toString(profile.pid()))
                    .start()
                    .waitFor();
            assertThat(CliResult.exitCode(profile)).isEqualTo(Main.OK);
            assertThat(profile.inputReader().lines()).contains("  self %  total %  method");
            assertThat(target.execute("jcmd", "JFR.check")).contains("No available recordings");
            assertThat(temporaryFiles(target)).isEmpty();
        }
    }

    @Test
    void shouldEndWithTheJvm(@TempDir Path directory) throws Exception {
        Path errors = directory.resolve("errors");
        try (HotJvm target = new HotJvm()) {
            Process profile = startLongProfile(target, errors);
            target.process.toHandle().destroy();
            assertThat(CliResult.exitCode(profile)).isEqualTo(Main.NO_PROCESS);
            assertThat(errors)
                    .content()
                    .startsWith("taskclock: process " + target.pid + " has ")
                    .hasLineCount(1);
            assertThat(temporaryFiles(target)).isEmpty();
        }
    }

    @Test
    void shouldBeInHelpManPageAndCompletion() throws Exception {
        assertThat(CliResult.run("--help").out()).contains("  profile  ");
        assertThat(CliResult.run("profile", "--help").out())
                .contains("auto, async-profiler, jfr, stacks", "--flame", "--every=TIME");
        assertThat(CliResult.run("completion", "bash").out()).contains("\"async-profiler\" \"jfr\" \"stacks\"");
        assertThat(Files.readString(Path.of(System.getProperty("cli.jar")).resolveSibling("taskclock.1")))
                .contains(".SH taskclock profile", "\\-\\-async\\-profiler");
    }

    @Test
    void shouldNameWhatIsWrong() throws Exception {
        try (HotJvm target = new HotJvm("-XX:+DisableAttachMechanism")) {
            CliResult refused = profile(target, "auto", "--for", "1s");
            assertThat(refused.exitCode()).isEqualTo(Main.FAILED);
            assertThat(refused.err())
                    .contains("-XX:+DisableAttachMechanism forbids it")
                    .hasLineCount(1);
        }
        try (HotJvm target = new HotJvm()) {
            CliResult none = profile(target, "jfr", "--thread", "nobody", "--for", "1s");
            assertThat(none.exitCode()).isEqualTo(Main.FAILED);
            assertThat(none.err())
                    .contains("no thread has \"nobody\" in its name")
                    .hasLineCount(1);
            CliResult jvm = profile(target, "jfr", "--thread", "VM Thread", "--for", "1s");
            assertThat(jvm.err()).contains("only async-profiler samples others").hasLineCount(1);
            CliResult missing = CliResult.run("profile", target.pid, "--async-profiler", "/nowhere", "--for", "1s");
            assertThat(missing.exitCode()).isEqualTo(Main.FAILED);
            assertThat(missing.err())
                    .contains("--async-profiler /nowhere: there is no libasyncProfiler.so")
                    .hasLineCount(1);
        }
        assertThat(CliResult.run("profile", "999999999").exitCode()).isEqualTo(Main.NO_PROCESS);
        for (String wrong : List.of(
                "--limit -1",
                "--for 2h",
                "--every 1us",
                "--flame --json",
                "--source perf",
                "-o x.svg",
                "--otlp x",
                "--lines --from 1h")) {
            CliResult usage = CliResult.run(("profile 1 " + wrong).split(" "));
            assertThat(usage.exitCode()).as(wrong).isEqualTo(Main.USAGE);
            assertThat(usage.err()).hasLineCount(1);
        }
    }

    @Test
    void shouldShowHotMethodsInTop() throws Exception {
        try (HotJvm target = new HotJvm();
                Tmux tmux = new Tmux(100, 30)) {
            tmux.type("ASPROF_LIB=" + libraryFolder + " "
                    + Path.of(System.getProperty("java.home"), "bin", "java") + " -jar " + System.getProperty("cli.jar")
                    + " top " + target.pid);
            tmux.await("worker-1\n");
            tmux.press("/", "w", "o", "r", "k", "e", "r", "-", "1", "Enter", "m");
            tmux.await("Profiling worker-1 for 5 s");
            tmux.await("Program.hot\n");
            assertThat(tmux.screen()).contains("source: " + asyncProfiler(), "self %  total %  method");
            tmux.press("f");
            tmux.await("|||| all\n");
            tmux.press("Escape");
            tmux.await("F1 Help");
            tmux.press("m");
            tmux.await("Profiling worker-1 for 5 s");
            tmux.press("q"); // back to the table, which cancels the profile
            tmux.press("q");
            tmux.await("ready>");
            Path status = libraryFolder.resolve("status");
            String library = libraryFolder.resolve("libasyncProfiler.so").toString();
            target.execute("load", library, "true", "status,loglevel=none,file=" + status);
            assertThat(status).content().contains("not active");
        }
    }
}
