// SPDX-License-Identifier: Apache-2.0
// Copyright the TaskClock authors
package org.taskclock.hostile;

import com.google.gson.JsonElement;
import com.google.gson.JsonParser;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.EnumSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.TimeUnit;

/**
 * Runs exporter and serve beside hostile and honest JVMs, and notes what exceeds its bounds. {@link #run} does not
 * throw because of what it observes, so that one failure does not hide the others.
 */
public final class HostileRun implements AutoCloseable {
    /**
     * What a run consists of, and its bounds.
     *
     * @param jar the packaged command line
     * @param directory for files of the run; must exist, and be outside of /tmp for {@link Scenario#LINKS}
     * @param seconds how long is measured
     * @param scrapeSeconds between two scrapes
     * @param threadsPerSecond of {@link Scenario#THREAD_STORM}
     * @param maxMillis of each answer
     * @param maxDifference in percent of the CPU time of an honest JVM
     * @param pidstat whether to compare with pidstat, instead of reading what it reads
     */
    public record Settings(
            Path jar,
            Path directory,
            List<Scenario> scenarios,
            int honestJvms,
            int seconds,
            int scrapeSeconds,
            int threadsPerSecond,
            long maxMillis,
            double maxDifference,
            boolean pidstat) {}

    /** As in the systemd unit of the exporter. */
    private static final long MAX_EXPORTER_MEGABYTES = 256;
    /** Heap, code, and database. */
    private static final long MAX_SERVE_MEGABYTES = 512;

    private static final long MAX_THREADS = 200;
    private static final long MAX_EXPORTER_FILES = 1_000;
    /** Up to 4,096 of them are files of threads. */
    private static final long MAX_SERVE_FILES = 4_500;

    private static final long END_MILLIS = 20_000;
    private static final long COMMAND_SECONDS = 60;
    private static final int START_SECONDS = 60;
    /** The fewest threads per second of {@link Scenario#THREAD_STORM} that are a storm. */
    private static final int MIN_STORM = 500;
    /** Of these, top shows the JVM even in a quick run: it hangs in other places, or reads performance data. */
    private static final Set<Scenario> QUICK_TOP =
            EnumSet.of(Scenario.FIFO_RELEASE, Scenario.HUNG_ATTACH, Scenario.LINKED_HSPERFDATA);

    private static final String MATCH = HostileProgram.class.getName();

    private final Settings settings;
    private final Failures failures = new Failures();
    private final List<HostileJvm> hostile = new ArrayList<>();
    private final List<HostileJvm> honest = new ArrayList<>();
    private final List<String> skipped = new ArrayList<>();
    private final Map<String, Long> commandMillis = new LinkedHashMap<>();
    private final ScrapeChecks checks = new ScrapeChecks(hostile, failures);
    private final HonestFigures figures;
    private Watcher exporter;
    private Watcher serve;
    private int requests;
    private long startTime;
    private double measuredSeconds;

    public HostileRun(Settings settings) {
        this.settings = settings;
        figures = new HonestFigures(honest, failures, settings.seconds(), settings.maxDifference(), settings.pidstat());
    }

    /** Returns what failed; empty if nothing did. */
    public List<String> failures(Check check) {
        return failures.all().getOrDefault(check, List.of());
    }

    public Map<Check, List<String>> failures() {
        return failures.all();
    }

    /** Returns which scenarios could not be run, and why. */
    public List<String> skipped() {
        return skipped;
    }

    HonestFigures figures() {
        return figures;
    }

    public List<HostileJvm> hostileJvms() {
        return hostile;
    }

    Map<String, Long> commandMillis() {
        return commandMillis;
    }

    List<Watcher> watchers() {
        return List.of(exporter, serve);
    }

    double measuredSeconds() {
        return measuredSeconds;
    }

    /** Starts everything, measures, and ends exporter and serve. */
    public void run() throws IOException, InterruptedException {
        for (Scenario scenario : settings.scenarios()) startHostile(scenario);
        int late = settings.honestJvms() / 2;
        for (int i = late; i < settings.honestJvms(); i++) startHonest(i);
        startTime = System.nanoTime();
        String[] both = {"--match", MATCH, "--service", "env:OTEL_SERVICE_NAME"};
        exporter = watcher("exporter", 96, "--web.listen-address", both);
        serve = watcher(
                "serve",
                128,
                "--listen",
                concat(both, "--data", settings.directory().resolve("data").toString()));
        exporter.awaitUrl();
        serve.awaitUrl();
        // These are found while the hostile ones are known.
        for (int i = 0; i < late; i++) startHonest(i);
        awaitHonest();
        for (Watcher watcher : watchers()) watcher.started();
        measure();
        if (settings.seconds() > 0) runCommands();
        checkScenarios();
        checkTrust();
        for (Watcher watcher : watchers()) {
            watcher.measure();
            end(watcher);
        }
    }

    private void startHostile(Scenario scenario) throws InterruptedException {
        String obstacle = HostileJvm.obstacle(scenario);
        if (obstacle != null) {
            skipped.add(obstacle);
            return;
        }
        int number = scenario == Scenario.THREAD_STORM ? settings.threadsPerSecond() : 5;
        try {
            hostile.add(HostileJvm.start(scenario, number, settings.directory().resolve(scenario.toString())));
        } catch (IOException e) {
            // Root may lack capabilities, for instance in a container.
            if (scenario.needsRoot()) skipped.add(e.getMessage());
            else failures.add(Check.SCENARIOS, e.getMessage());
        }
    }

    private void startHonest(int index) throws IOException, InterruptedException {
        honest.add(HostileJvm.start(
                Scenario.HONEST, 5 + index, settings.directory().resolve("honest-" + index)));
    }

    private Watcher watcher(String command, int megabytes, String listen, String... options) throws IOException {
        return new Watcher(
                command,
                settings.jar(),
                settings.directory(),
                List.of("-Xmx" + megabytes + "m"),
                concat(options, listen, "127.0.0.1:0"));
    }

    private static String[] concat(String[] some, String... more) {
        List<String> all = new ArrayList<>(List.of(some));
        all.addAll(List.of(more));
        return all.toArray(new String[0]);
    }

    /** Waits until all honest JVMs are measured under their names. */
    private void awaitHonest() throws InterruptedException {
        long start = System.nanoTime();
        for (Watcher watcher : watchers()) {
            boolean complete = false;
            while (!complete
                    && watcher.isAnswering()
                    && System.nanoTime() - start < TimeUnit.SECONDS.toNanos(START_SECONDS)) {
                Scrape scrape = scrape(watcher);
                complete = scrape != null && honest.stream().allMatch(jvm -> scrape.honestPools.containsKey(jvm.pid()));
                if (!complete) Thread.sleep(500);
            }
            if (!complete)
                failures.add(
                        Check.NAMES,
                        watcher.command + ": not all honest JVMs have their names after " + START_SECONDS + " s");
        }
    }

    private Scrape scrape(Watcher watcher) throws InterruptedException {
        int answered = watcher.millis.size();
        String text = watcher.get("/metrics");
        failures.take(Check.ANSWERS, watcher);
        if (watcher.millis.size() > answered) checkTime(watcher, "/metrics");
        watcher.measure();
        if (text == null) return null;
        Scrape scrape = new Scrape(text);
        checks.check(watcher.command, scrape);
        return scrape;
    }

    private void checkTime(Watcher watcher, String path) {
        long millis = watcher.millis.get(watcher.millis.size() - 1);
        if (millis > settings.maxMillis())
            failures.add(
                    Check.ANSWERS,
                    watcher.command + " " + path + " took " + millis + " ms, "
                            + TimeUnit.NANOSECONDS.toSeconds(System.nanoTime() - startTime) + " s after its start");
    }

    private void measure() throws IOException, InterruptedException {
        figures.begin();
        long start = System.nanoTime();
        figures.scraped(scrape(exporter), scrape(serve));
        long pause = TimeUnit.SECONDS.toNanos(settings.scrapeSeconds());
        long end = start + TimeUnit.SECONDS.toNanos(settings.seconds());
        for (long due = start + pause; due < end; due = Math.max(due + pause, System.nanoTime())) {
            TimeUnit.NANOSECONDS.sleep(due - System.nanoTime());
            scrape(exporter);
            scrape(serve);
            visitPage();
        }
        TimeUnit.NANOSECONDS.sleep(end - System.nanoTime());
        figures.end();
        Scrape lastOfExporter = scrape(exporter);
        Scrape lastOfServe = scrape(serve);
        measuredSeconds = (System.nanoTime() - start) / 1e9;
        if (lastOfExporter != null) checks.checkErrors(exporter.command, lastOfExporter);
        figures.compare(lastOfExporter, lastOfServe, serve);
    }

    /** Asks what the page of serve asks for a JVM, each time for another one. */
    private void visitPage() throws InterruptedException {
        String jvms = serve.get("/api/jvms");
        if (jvms == null) return;
        checkTime(serve, "/api/jvms");
        List<JsonElement> all = JsonParser.parseString(jvms)
                .getAsJsonObject()
                .getAsJsonArray("jvms")
                .asList();
        if (all.isEmpty()) return;
        String id = all.get(requests++ % all.size()).getAsJsonObject().get("id").getAsString();
        for (String part : List.of("/pools", "/threads?limit=500&points=1000")) {
            serve.get("/api/jvms/" + id + part);
            // A JVM of which nothing is written yet is not found.
            serve.failures.removeIf(failure -> failure.contains("status 404"));
            checkTime(serve, part);
        }
    }

    private void runCommands() throws IOException, InterruptedException {
        String pid = Long.toString(honest.get(0).pid());
        if (!runCommand("list").contains(pid)) failures.add(Check.COMMANDS, "list: process " + pid + " is missing");
        runCommand("top", "-b", "--limit", "5", pid, "0.5", "1");
        runCommand("check", pid, "--cpu", "90%", "--for", "1s");
        for (HostileJvm jvm : hostile) {
            // Copies the agent to the /tmp of the JVM.
            if (jvm.scenario() == Scenario.LINKS) runCommand("attach", Long.toString(jvm.pid()));
            boolean isQuick = settings.seconds() < 60;
            if (isQuick && !QUICK_TOP.contains(jvm.scenario())) continue;
            runCommand("top", "-b", "--limit", "5", Long.toString(jvm.pid()), "0.5", "1");
        }
    }

    private String runCommand(String... arguments) throws IOException, InterruptedException {
        Path out = settings.directory().resolve("command.out");
        List<String> line = new ArrayList<>();
        line.add(Path.of(System.getProperty("java.home"), "bin", "java").toString());
        line.addAll(List.of("-Xmx256m", "-XX:+UseSerialGC", "-XX:TieredStopAtLevel=1"));
        line.addAll(List.of("-jar", settings.jar().toString()));
        line.addAll(List.of(arguments));
        long start = System.nanoTime();
        Process process = new ProcessBuilder(line)
                .redirectErrorStream(true)
                .redirectOutput(out.toFile())
                .start();
        String name = String.join(" ", arguments);
        for (HostileJvm jvm : hostile)
            if (List.of(arguments).contains(Long.toString(jvm.pid()))) name = arguments[0] + " of " + jvm.scenario();
        if (process.waitFor(COMMAND_SECONDS, TimeUnit.SECONDS)) {
            commandMillis.put(name, (System.nanoTime() - start) / 1_000_000);
        } else {
            process.destroyForcibly().waitFor();
            failures.add(Check.COMMANDS, name + ": still running after " + COMMAND_SECONDS + " s");
        }
        String text = Files.readString(out);
        if (text.contains("\tat ") || text.contains("OutOfMemoryError"))
            failures.add(Check.COMMANDS, name + ": " + text.lines().findFirst().orElse(""));
        return text;
    }

    /** Notes what was read, written, or sent that a JVM does not own or that another user has asked for. */
    private void checkTrust() throws IOException {
        for (HostileJvm jvm : hostile) {
            switch (jvm.scenario()) {
                case LINKS -> {
                    // Also if what was created has been deleted.
                    if (jvm.wasTrapTouched())
                        failures.add(Check.TRUST, "a file was created on the host through the link of a container");
                }
                case LINKED_HSPERFDATA -> {
                    if (jvm.wasLinkFollowed())
                        failures.add(Check.TRUST, "the file behind a link was read as performance data");
                }
                case FOREIGN_ATTACH_FILE -> {
                    if (jvm.wasSignalled())
                        failures.add(Check.TRUST, "SIGQUIT was sent although another user had created the request");
                }
                default -> {}
            }
        }
    }

    /** Notes which JVMs were not as hostile as they were meant to be. */
    private void checkScenarios() throws IOException {
        for (HostileJvm jvm : hostile) {
            if (!jvm.isAlive()) failures.add(Check.SCENARIOS, jvm.scenario() + " has ended: its program failed");
            int least =
                    switch (jvm.scenario()) {
                        case THREAD_STORM -> settings.seconds() * Math.min(MIN_STORM, settings.threadsPerSecond() / 10);
                        case PID_REUSE -> 1;
                        default -> 0;
                    };
            int sum = jvm.rates().stream().mapToInt(Integer::intValue).sum();
            if (sum < least) failures.add(Check.SCENARIOS, jvm.scenario() + ": " + sum + ", less than " + least);
        }
    }

    private void end(Watcher watcher) throws IOException, InterruptedException {
        boolean isRunning = watcher.process.isAlive();
        long limit = watcher == exporter ? MAX_EXPORTER_MEGABYTES : MAX_SERVE_MEGABYTES;
        if (watcher.peakMegabytes > limit)
            failures.add(
                    Check.RESOURCES, watcher.command + ": " + watcher.peakMegabytes + " MB, limit " + limit + " MB");
        if (watcher.maxThreads > MAX_THREADS)
            failures.add(Check.RESOURCES, watcher.command + ": " + watcher.maxThreads + " threads");
        if (watcher.maxFiles > (watcher == exporter ? MAX_EXPORTER_FILES : MAX_SERVE_FILES))
            failures.add(Check.RESOURCES, watcher.command + ": " + watcher.maxFiles + " open files");
        if (watcher.err().contains("OutOfMemoryError"))
            failures.add(Check.RESOURCES, watcher.command + ": " + watcher.err());
        if (watcher.err().contains("internal error"))
            failures.add(Check.ANSWERS, watcher.command + ": " + watcher.err());
        failures.take(Check.ANSWERS, watcher);
        watcher.end(END_MILLIS);
        failures.take(isRunning ? Check.END : Check.ANSWERS, watcher);
    }

    @Override
    public void close() throws IOException {
        if (exporter != null) exporter.close();
        if (serve != null) serve.close();
        List<HostileJvm> all = new ArrayList<>(hostile);
        all.addAll(honest);
        for (HostileJvm jvm : all) jvm.close();
    }
}
