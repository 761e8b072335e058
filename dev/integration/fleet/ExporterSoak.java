// SPDX-License-Identifier: Apache-2.0
// Copyright the TaskClock authors

import java.io.IOException;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse.BodyHandlers;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Random;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import javax.tools.ToolProvider;

/**
 * Runs the exporter beside JVMs that start and end, all with virtual threads. Every third JVM starts with the agent,
 * another third gets it later, and the rest do without. Each scrape is checked: the pools of a JVM add up to its
 * process within 1 %, no counter falls, and no JVM is missing.
 *
 * <pre>
 * java ExporterSoak.java SECONDS JVMS REPORT   requires JDK 21 or later, and ./taskclock in the current directory
 * </pre>
 *
 * <p>The exit code is 1 if a check failed.
 */
public final class ExporterSoak {
    private static final Pattern SAMPLE = Pattern.compile(
            "(taskclock_(?:thread|process)_cpu_time_seconds_total)(\\{.*jvm=\"[^\"]*-([0-9]+)\".*\\}) (\\S+)");
    private static final int PORT = 19_465;
    private static final long SCRAPE_SECONDS = 15;

    /** A JVM is listed once its threads' names are known. */
    private static final long LISTED_NANOS = TimeUnit.SECONDS.toNanos(15);

    /** The pools and the process are read one after the other, so a JVM must have used this much to be compared. */
    private static final double MIN_SECONDS = 2;

    private record Jvm(Process process, int number, long startedAt, long endsAt) {}

    private static final class Totals {
        double pools;
        double process;
    }

    private final Random random = new Random(1);
    private final List<Jvm> jvms = new ArrayList<>();
    private final Map<String, Double> last = new HashMap<>();
    private final Map<Long, Double> differences = new HashMap<>();
    private final List<String> failures = new ArrayList<>();
    private final List<Double> scrapeSeconds = new ArrayList<>();
    private final Path classes;
    private int started;

    private ExporterSoak(Path classes) {
        this.classes = classes;
    }

    public static void main(String[] args) throws Exception {
        if (args.length == 1 && args[0].equals("load")) {
            load();
            return;
        }
        Path classes = Files.createTempDirectory("soak");
        int compiled = ToolProvider.getSystemJavaCompiler()
                .run(null, null, null, "-d", classes.toString(), "dev/integration/fleet/ExporterSoak.java");
        if (compiled != 0) throw new IOException("cannot compile");
        new ExporterSoak(classes).run(Integer.parseInt(args[0]), Integer.parseInt(args[1]), Path.of(args[2]));
    }

    /** Three virtual threads with 3 %, and three platform threads with 1 % of a processor each. */
    private static void load() throws InterruptedException {
        for (int i = 0; i < 3; i++) {
            Thread.ofVirtual().name("request-" + i).start(() -> burn(3));
            Thread.ofPlatform().name("worker-" + i).start(() -> burn(1));
        }
        Thread.sleep(Long.MAX_VALUE);
    }

    private static void burn(int millis) {
        while (true) {
            long end = System.nanoTime() + millis * 1_000_000L;
            while (System.nanoTime() < end) Thread.onSpinWait();
            LockSupport.parkNanos((100 - millis) * 1_000_000L);
        }
    }

    private void run(int seconds, int count, Path report) throws Exception {
        Process exporter = new ProcessBuilder(
                        "./taskclock", "exporter", "--web.listen-address", "127.0.0.1:" + PORT)
                .redirectOutput(ProcessBuilder.Redirect.INHERIT)
                .redirectError(ProcessBuilder.Redirect.INHERIT)
                .start();
        try {
            HttpClient client = HttpClient.newHttpClient();
            long end = System.nanoTime() + TimeUnit.SECONDS.toNanos(seconds);
            long nextScrape = System.nanoTime() + TimeUnit.SECONDS.toNanos(SCRAPE_SECONDS);
            while (System.nanoTime() < end) {
                replace(count);
                if (System.nanoTime() >= nextScrape) {
                    nextScrape += TimeUnit.SECONDS.toNanos(SCRAPE_SECONDS);
                    scrape(client);
                }
                Thread.sleep(500);
            }
        } finally {
            exporter.descendants().forEach(ProcessHandle::destroy);
            exporter.destroy();
            jvms.forEach(jvm -> jvm.process.destroyForcibly());
        }
        report(seconds, count, report);
        if (!failures.isEmpty()) System.exit(1);
    }

    /** Ends JVMs whose time has come, and starts others. At most one starts in each call. */
    private void replace(int count) throws IOException {
        for (Jvm jvm : List.copyOf(jvms)) {
            if (System.nanoTime() < jvm.endsAt) continue;
            jvms.remove(jvm);
            jvm.process.destroy();
        }
        if (jvms.size() >= count) return;
        int number = started++;
        List<String> command = new ArrayList<>(List.of(System.getProperty("java.home") + "/bin/java", "-Xmx64m"));
        if (number % 3 == 0) command.add("-javaagent:agent/target/taskclock-agent.jar");
        command.addAll(List.of("-cp", classes.toString(), "ExporterSoak", "load"));
        Process process = new ProcessBuilder(command)
                .redirectOutput(ProcessBuilder.Redirect.DISCARD)
                .redirectError(ProcessBuilder.Redirect.DISCARD)
                .start();
        long now = System.nanoTime();
        jvms.add(new Jvm(process, number, now, now + TimeUnit.SECONDS.toNanos(60 + random.nextInt(240))));
        if (number % 3 == 1) attachLater(process);
    }

    private void attachLater(Process process) {
        long delay = 10_000 + random.nextInt(40_000);
        Thread.ofVirtual().start(() -> {
            try {
                Thread.sleep(delay);
                new ProcessBuilder("./taskclock", "attach", Long.toString(process.pid()))
                        .redirectOutput(ProcessBuilder.Redirect.DISCARD)
                        .redirectError(ProcessBuilder.Redirect.DISCARD)
                        .start()
                        .waitFor();
            } catch (IOException | InterruptedException e) {
                throw new IllegalStateException(e);
            }
        });
    }

    private void scrape(HttpClient client) throws IOException, InterruptedException {
        HttpRequest request = HttpRequest.newBuilder(URI.create("http://127.0.0.1:" + PORT + "/metrics"))
                .timeout(Duration.ofSeconds(30))
                .build();
        long start = System.nanoTime();
        String body = client.send(request, BodyHandlers.ofString()).body();
        scrapeSeconds.add((System.nanoTime() - start) / 1e9);
        Map<Long, Totals> totals = new HashMap<>();
        for (String line : body.split("\n", -1)) {
            Matcher sample = SAMPLE.matcher(line);
            if (!sample.matches()) continue;
            double value = Double.parseDouble(sample.group(4));
            String series = sample.group(1) + sample.group(2);
            Double earlier = last.put(series, value);
            if (earlier != null && value < earlier) failures.add(series + " fell from " + earlier + " to " + value);
            Totals jvm = totals.computeIfAbsent(Long.parseLong(sample.group(3)), pid -> new Totals());
            if (sample.group(1).startsWith("taskclock_thread")) jvm.pools += value;
            else jvm.process += value;
        }
        totals.forEach(this::compare);
        for (Jvm jvm : jvms)
            if (start - jvm.startedAt > LISTED_NANOS && !totals.containsKey(jvm.process.pid()))
                failures.add("JVM " + jvm.number + " is missing");
        System.out.printf(Locale.ROOT, "%d JVMs, %d series, %.3f s%n", totals.size(), last.size(), scrapeSeconds.getLast());
    }

    private void compare(long pid, Totals totals) {
        if (totals.process < MIN_SECONDS) return;
        double percent = 100 * (totals.pools - totals.process) / totals.process;
        differences.merge(pid, percent, (a, b) -> Math.abs(a) > Math.abs(b) ? a : b);
        if (Math.abs(percent) > 1)
            failures.add(String.format(
                    Locale.ROOT, "pid %d: pools %.3f s, process %.3f s", pid, totals.pools, totals.process));
    }

    private void report(int seconds, int count, Path file) throws IOException {
        List<Double> worst = differences.values().stream().map(Math::abs).sorted().toList();
        List<Double> scrapes = scrapeSeconds.stream().sorted().toList();
        String text = String.format(
                Locale.ROOT,
                """
                # Exporter beside JVMs that start and end

                %d s on JDK %s, %d JVMs at a time, each for 1 to 5 minutes, a third with the agent from the start and
                a third with the agent later; %d JVMs compared in %d scrapes.

                | | median | maximum |
                |---|--:|--:|
                | largest difference between the pools of a JVM and its process | %.2f %% | %.2f %% |
                | scrape | %.3f s | %.3f s |

                Failures: %d
                """,
                seconds,
                Runtime.version().feature(),
                count,
                worst.size(),
                scrapes.size(),
                worst.get(worst.size() / 2),
                worst.getLast(),
                scrapes.get(scrapes.size() / 2),
                scrapes.getLast(),
                failures.size());
        Files.writeString(file, text);
        System.out.print(text);
        failures.stream().limit(50).forEach(System.out::println);
    }
}
