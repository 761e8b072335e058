// SPDX-License-Identifier: Apache-2.0
// Copyright the TaskClock authors
package org.taskclock.cli;

import static org.assertj.core.api.Assertions.assertThat;

import com.google.gson.JsonArray;
import com.google.gson.JsonElement;
import com.google.gson.JsonObject;
import com.google.gson.JsonParser;
import java.io.BufferedReader;
import java.io.File;
import java.io.IOException;
import java.io.InputStreamReader;
import java.net.URI;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.concurrent.TimeUnit;
import java.util.function.Consumer;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.taskclock.internal.JdkVersions;

/**
 * Everything that shows the CPU time of pools shows the same of one JVM: top, the page of serve, its history, the
 * exporter, and inside the JVM Micrometer and OpenTelemetry. The JVM works only after all of them have been read, and
 * is idle when they are read again, so that all see the same interval.
 */
@Tag("slow17")
class SameFiguresTest {
    private static final Pattern URL = Pattern.compile("serving on (\\S+)/\n");
    private static final Pattern SERIES = Pattern.compile("(\\w+)=\"((?:[^\"\\\\]|\\\\.)*)\"");

    /** One tick of a thread's split. */
    private static final double USER_TOLERANCE = 0.03;

    /** What the JVM's own threads and those of the program use while the JVM is idle. */
    private static final double TOLERANCE = 0.02;

    /** Pools that use less are not compared. */
    private static final double MIN_SECONDS = 0.1;

    private static final long NAMES_SECONDS = 200;
    private static final long FIGURES_SECONDS = 40;
    private static final int ATTEMPTS = 4;

    @TempDir
    private Path directory;

    private final List<Process> processes = new ArrayList<>();

    private record Pool(String name, String kind) {}

    /** CPU and user time in seconds, by pool. Thread-safe. */
    private static final class Times {
        private final Map<Pool, double[]> seconds = new HashMap<>();

        synchronized void add(String pool, String kind, double user, double system) {
            double[] sum = seconds.computeIfAbsent(new Pool(pool, kind), p -> new double[2]);
            sum[0] += user + system;
            sum[1] += user;
        }

        synchronized void add(String pool, String kind, String mode, double value) {
            add(pool, kind, mode.equals("user") ? value : 0, mode.equals("user") ? 0 : value);
        }

        synchronized Map<Pool, double[]> copy() {
            Map<Pool, double[]> copy = new HashMap<>();
            seconds.forEach((pool, sum) -> copy.put(pool, sum.clone()));
            return copy;
        }
    }

    private final Times top = new Times();
    private final Times page = new Times();
    private Process program;
    private BufferedReader programOut;
    private ExporterProcess exporter;
    private String serveUrl;
    private long startMillis;

    @AfterEach
    void end() throws Exception {
        if (exporter != null) exporter.close();
        for (Process process : processes) process.destroyForcibly().waitFor();
    }

    private Process start(ProcessBuilder builder) throws IOException {
        Process process = builder.start();
        processes.add(process);
        return process;
    }

    private List<String> send(String command) throws IOException {
        if (command != null) {
            program.getOutputStream().write((command + "\n").getBytes(StandardCharsets.UTF_8));
            program.getOutputStream().flush();
        }
        List<String> lines = new ArrayList<>();
        for (String line = programOut.readLine(); !line.equals("done"); line = programOut.readLine()) lines.add(line);
        return lines;
    }

    private static JsonObject json(String url) throws IOException {
        try (var in = URI.create(url).toURL().openStream()) {
            return JsonParser.parseString(new String(in.readAllBytes(), StandardCharsets.UTF_8))
                    .getAsJsonObject();
        }
    }

    private static void readLines(java.io.InputStream in, Consumer<String> consumer) {
        Thread thread = new Thread(() -> {
            try (var lines = new BufferedReader(new InputStreamReader(in, StandardCharsets.UTF_8))) {
                for (String line; (line = lines.readLine()) != null; ) consumer.accept(line);
            } catch (IOException e) {
                // The test has ended.
            }
        });
        thread.setDaemon(true);
        thread.start();
    }

    private void startProgram() throws IOException {
        program = start(new ProcessBuilder(
                        Path.of(System.getProperty("java.home"), "bin", "java").toString(),
                        // It has no thread of its own that could have the name of a collector's.
                        "-XX:+UseSerialGC",
                        "-Xmx128m",
                        "-javaagent:" + System.getProperty("agent.jar"),
                        "--add-opens=java.base/java.lang=ALL-UNNAMED",
                        "-cp",
                        System.getProperty("java.class.path"),
                        MeteredProgram.class.getName())
                .redirectError(ProcessBuilder.Redirect.DISCARD));
        programOut = new BufferedReader(new InputStreamReader(program.getInputStream(), StandardCharsets.UTF_8));
        send(null);
    }

    private void startServer() throws Exception {
        File err = directory.resolve("err").toFile();
        start(CliResult.builder(
                        "serve",
                        "--data",
                        directory.resolve("data").toString(),
                        "--listen",
                        "127.0.0.1:0",
                        "--match",
                        "MeteredProgram")
                .redirectError(err));
        await(() -> {
            Matcher found = URL.matcher(Files.readString(err.toPath()));
            if (!found.find()) return "not started: " + Files.readString(err.toPath());
            serveUrl = found.group(1);
            return "";
        });
    }

    private interface Check {
        /** Returns why to wait; empty if all is well. */
        String problem() throws Exception;
    }

    private static void await(Check check) throws Exception {
        assertThat(await(check, NAMES_SECONDS)).isEmpty();
    }

    /** Waits until all is well. Returns the last problem if it never is. */
    private static String await(Check check, long seconds) throws Exception {
        long end = System.nanoTime() + TimeUnit.SECONDS.toNanos(seconds);
        String problem = check.problem();
        while (!problem.isEmpty() && System.nanoTime() < end) {
            Thread.sleep(500);
            problem = check.problem();
        }
        return problem;
    }

    private String jvmId() throws IOException {
        for (JsonElement jvm : json(serveUrl + "/api/jvms").getAsJsonArray("jvms"))
            if (jvm.getAsJsonObject().get("pid").getAsLong() == program.pid())
                return jvm.getAsJsonObject().get("id").getAsString();
        return null;
    }

    private static double number(JsonObject json, String name) {
        JsonElement value = json.get(name);
        return value == null || value.isJsonNull() ? 0 : value.getAsDouble();
    }

    private static void addThread(Times times, JsonObject thread, String user, String system, double unit) {
        String pool = thread.get("pool").getAsString();
        // Part of the time of the carriers.
        if (pool.equals("(scheduling of virtual threads)")) return;
        times.add(pool, thread.get("kind").getAsString(), number(thread, user) * unit, number(thread, system) * unit);
    }

    private void startViews() throws Exception {
        Process process = start(CliResult.builder("top", "-b", "--json", "-a", "-d", "1", Long.toString(program.pid()))
                .redirectError(ProcessBuilder.Redirect.DISCARD));
        readLines(
                process.getInputStream(),
                line -> addThread(
                        top, JsonParser.parseString(line).getAsJsonObject(), "userNanos", "systemNanos", 1e-9));
        await(() -> jvmId() == null ? "the server has not found the JVM" : "");
        String live = serveUrl + "/api/jvms/" + jvmId() + "/live";
        readLines(URI.create(live).toURL().openStream(), line -> {
            if (!line.startsWith("data: {")) return;
            JsonObject interval =
                    JsonParser.parseString(line.substring("data: ".length())).getAsJsonObject();
            if (!interval.has("intervalNanos")) return;
            double percent = number(interval, "intervalNanos") / 1e11;
            for (JsonElement thread : interval.getAsJsonArray("threads"))
                addThread(page, thread.getAsJsonObject(), "user", "system", percent);
        });
    }

    private static double sum(JsonArray column) {
        double sum = 0;
        for (JsonElement value : column) sum += value.isJsonNull() ? 0 : value.getAsDouble();
        return sum;
    }

    private Times history() throws IOException {
        Times times = new Times();
        long from = startMillis - 5_000;
        JsonObject series =
                json(serveUrl + "/api/jvms/" + jvmId() + "/pools?points=1000&from=" + from + "&to=" + (from + 900_000));
        double percent = number(series, "step") / 1e5;
        for (JsonElement element : series.getAsJsonArray("pools")) {
            JsonObject pool = element.getAsJsonObject();
            times.add(
                    pool.get("pool").getAsString(),
                    pool.get("kind").getAsString(),
                    sum(pool.getAsJsonArray("user")) * percent,
                    sum(pool.getAsJsonArray("system")) * percent);
        }
        return times;
    }

    private Times exported() throws Exception {
        Times times = new Times();
        exporter.scrape().forEach((series, value) -> {
            if (!series.startsWith("taskclock_thread_cpu_time_seconds_total{")) return;
            Map<String, String> labels = new HashMap<>();
            for (Matcher label = SERIES.matcher(series); label.find(); ) labels.put(label.group(1), label.group(2));
            // The command lines of this test's tools contain the name of the program, too.
            if (!labels.get("jvm").endsWith("-" + program.pid())) return;
            times.add(
                    labels.get("taskclock_pool_name"),
                    labels.get("taskclock_pool_kind"),
                    labels.get("cpu_mode"),
                    value);
        });
        return times;
    }

    /** Returns what each of them has shown since it was started. */
    private Map<String, Map<Pool, double[]>> readAll() throws Exception {
        Map<String, Times> own = new TreeMap<>(Map.of("Micrometer", new Times(), "OpenTelemetry", new Times()));
        for (String line : send("read")) {
            String[] parts = line.split("\t", -1);
            own.get(parts[0]).add(parts[1], parts[2], parts[3], Double.parseDouble(parts[4]));
        }
        Map<String, Map<Pool, double[]>> all = new LinkedHashMap<>();
        all.put("top", top.copy());
        all.put("page", page.copy());
        all.put("history", history().copy());
        all.put("exporter", exported().copy());
        own.forEach((name, times) -> all.put(name, times.copy()));
        return all;
    }

    /** Returns the difference. The carriers' time includes that of virtual threads only in top and on the page. */
    private static Map<Pool, double[]> since(Map<Pool, double[]> before, Map<Pool, double[]> now, boolean subtracts) {
        Map<Pool, double[]> more = new HashMap<>();
        now.forEach((pool, times) -> {
            double[] last = before.getOrDefault(pool, new double[2]);
            more.put(pool, new double[] {times[0] - last[0], times[1] - last[1]});
        });
        if (!subtracts) return more;
        double[] virtual = new double[2];
        double[] carriers = new double[2];
        more.forEach((pool, times) -> {
            for (int i = 0; i < 2; i++) {
                if (pool.kind.equals("virtual")) virtual[i] += times[i];
                if (pool.kind.equals("carrier")) carriers[i] += times[i];
            }
        });
        more.forEach((pool, times) -> {
            if (!pool.kind.equals("carrier")) return;
            for (int i = 0; i < 2; i++)
                if (carriers[i] > 0) times[i] -= times[i] * Math.min(1, virtual[i] / carriers[i]);
        });
        return more;
    }

    private static String differences(
            Map<String, Map<Pool, double[]>> before, Map<String, Map<Pool, double[]>> now, String... expected) {
        Map<String, Map<Pool, double[]>> more = new LinkedHashMap<>();
        now.forEach((name, times) ->
                more.put(name, since(before.get(name), times, name.equals("top") || name.equals("page"))));
        TreeSet<String> busy = new TreeSet<>(List.of(expected));
        StringBuilder found = new StringBuilder();
        Map<Pool, double[]> reference = more.get("Micrometer");
        Stream<Pool> pools = more.values().stream()
                .flatMap(times -> times.entrySet().stream())
                .filter(entry -> entry.getValue()[0] >= MIN_SECONDS)
                .map(Map.Entry::getKey)
                // Which threads end between two readings depends on when these are.
                .filter(pool -> !pool.name.equals("(ended threads)"))
                .distinct();
        pools.forEach(pool -> {
            busy.remove(pool.kind + " " + pool.name);
            double[] own = reference.getOrDefault(pool, new double[2]);
            more.forEach((name, times) -> {
                double[] other = times.getOrDefault(pool, new double[2]);
                if (Math.abs(other[0] - own[0]) > TOLERANCE + 0.02 * own[0]
                        || Math.abs(other[1] - own[1]) > USER_TOLERANCE + 0.02 * own[0])
                    found.append(String.format(
                            "%n%s, %s: %.3f s (user %.3f s) in %s, %.3f s (user %.3f s) in Micrometer",
                            pool.name, pool.kind, other[0], other[1], name, own[0], own[1]));
            });
        });
        return busy.isEmpty() ? found.toString() : found + "\nmissing: " + busy;
    }

    @Test
    void shouldShowTheSamePoolsKindsAndTimesEverywhere() throws Exception {
        startMillis = System.currentTimeMillis();
        startProgram();
        startServer();
        exporter = ExporterProcess.start("--match", "MeteredProgram");
        startViews();
        await(() -> top.copy().isEmpty()
                        || page.copy().isEmpty()
                        || exported().copy().isEmpty()
                ? "no data yet"
                : "");
        send("start");
        String longPool = MeteredProgram.LONG_NAME.replace("17", "#").substring(0, 200) + "~";
        List<String> expected = new ArrayList<>(
                List.of("java GC Thread##", "java http-nio-#-exec-#", "java " + longPool, "java kernel-#"));
        boolean hasVirtual = Runtime.version().feature() >= JdkVersions.VIRTUAL_THREADS;
        if (hasVirtual) expected.addAll(List.of("virtual virtual-#", "virtual " + longPool, "virtual hosted-#"));
        List<String> known = new ArrayList<>(expected);
        // Only the agent knows that this is a carrier.
        if (hasVirtual) known.add("carrier event-loop-#");
        await(() -> {
            // Nobody is asked for the name of a thread before it runs, and the history keeps what it has counted until
            // then under the kernel's name.
            send("work");
            Map<String, Map<Pool, double[]>> now = readAll();
            for (var source : now.entrySet())
                for (String pool : known)
                    if (source.getValue().keySet().stream().noneMatch(p -> pool.equals(p.kind + " " + p.name)))
                        return source.getKey() + " does not know " + pool + ", but "
                                + source.getValue().keySet();
            return "";
        });
        for (int i = 0; i < 2; i++) {
            // The history is written within five seconds, and agents may answer later.
            Thread.sleep(9_000);
            // While an agent does not answer in time, the time of virtual threads stays with their carriers.
            String problem = "not compared";
            for (int attempt = 0; attempt < ATTEMPTS && !problem.isEmpty(); attempt++) {
                Map<String, Map<Pool, double[]>> before = readAll();
                send("work");
                problem = await(() -> differences(before, readAll(), expected.toArray(String[]::new)), FIGURES_SECONDS);
            }
            assertThat(problem).isEmpty();
        }
        readAll().forEach((name, times) -> assertThat(times.keySet())
                .as(name)
                .extracting(Pool::kind)
                // There was only one thread with the name of a collector's, and it was the program's.
                .doesNotContain("gc"));
    }
}
