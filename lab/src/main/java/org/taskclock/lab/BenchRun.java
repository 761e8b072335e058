// SPDX-License-Identifier: Apache-2.0
// Copyright the TaskClock authors
package org.taskclock.lab;

import com.google.gson.JsonArray;
import com.google.gson.JsonElement;
import com.google.gson.JsonParser;
import java.io.IOException;
import java.io.PrintStream;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Collection;
import java.util.Collections;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import org.openjdk.jmh.results.RunResult;
import org.openjdk.jmh.results.format.ResultFormatType;
import org.openjdk.jmh.runner.RunnerException;
import org.openjdk.jmh.runner.format.OutputFormat;
import org.openjdk.jmh.runner.format.OutputFormatFactory;
import org.openjdk.jmh.runner.options.VerboseMode;
import org.openjdk.jmh.util.Version;
import org.taskclock.benchmarks.JmhSummary;
import org.taskclock.lab.options.BenchOptions;
import org.taskclock.monitor.attach.AgentJar;
import org.taskclock.report.MachineLoad;
import org.taskclock.report.Result;

/** One run of {@code bench}: plans it, runs JMH, and keeps the measurements so far if interrupted. */
final class BenchRun {
    private static final List<String> BACKENDS = List.of("rseq", "rseq-own", "rseq-take", "syscall", "mxbean");
    private static final long FLAME_MILLIS = 4_000;

    private final BenchOptions options;
    private final BenchProfile profile;
    private final List<Jdk> jdks;
    private final List<Contender> contenders;

    private final Path agent;
    private final String started = ResultBuilder.now();
    private final Map<String, String> machine = MachineDescription.read();
    private final Map<String, Long> steps = new LinkedHashMap<>();
    private final Map<String, JsonArray> jmh = new LinkedHashMap<>();
    private final List<String> missing = new ArrayList<>();
    private final FlameGraphs flames;
    private final LoadMonitor load = new LoadMonitor();
    private BenchProgress progress;
    private BenchmarkGroup group;
    private JmhOutput jmhOutput;
    private boolean ended;

    BenchRun(BenchOptions options, List<Jdk> jdks) throws IOException {
        for (String backend : options.backends) {
            if (!BACKENDS.contains(backend))
                throw new IllegalArgumentException(
                        "backend " + backend + ": unknown: use one of " + String.join(", ", BACKENDS));
        }
        this.options = options;
        this.profile = BenchProfile.named(options.profile);
        this.jdks = jdks;
        this.contenders =
                options.contenders.isEmpty() ? List.of(Contender.values()) : Contender.named(options.contenders);
        this.flames = new FlameGraphs(options.raw);
        this.agent = AgentJar.find();
    }

    /** Returns the command that repeats this run, without paths of this machine. */
    private List<String> command() {
        List<String> command = new ArrayList<>(List.of("./taskclock", "bench", options.profile));
        options.jdks.forEach(jdk -> command.addAll(List.of("--jdk", "PATH")));
        options.contenders.forEach(name -> command.addAll(List.of("--contender", name)));
        options.backends.forEach(backend -> command.addAll(List.of("--backend", backend)));
        if (options.scale != 1) command.addAll(List.of("--scale", Double.toString(options.scale)));
        if (options.flames) command.add("--profile");
        return command;
    }

    int run() throws IOException, InterruptedException {
        List<BenchmarkGroup> groups = new ArrayList<>();
        for (Jdk jdk : jdks) groups.addAll(plan(jdk));
        if (groups.isEmpty()) {
            throw new IllegalArgumentException("nothing to measure: profile " + profile
                    + " has none of these contenders, or none of the backends is usable");
        }
        progress = new BenchProgress(groups);
        progress.print("profile " + profile + " on " + jdks.size() + (jdks.size() == 1 ? " JDK" : " JDKs") + ", "
                + progress.total() + " measurements, about " + progress.left());
        if (profile == BenchProfile.QUICK)
            progress.print(
                    "quick is rough: it measures each contender for half a second; other profiles measure longer");
        Runtime.getRuntime().addShutdownHook(new Thread(this::interrupted));
        for (BenchmarkGroup next : groups) {
            if (!measure(next)) return finish(false);
        }
        if (options.flames) {
            load.begin("flame graphs");
            for (Jdk jdk : jdks) {
                String backend = groups.stream()
                        .filter(one -> one.jdk().equals(jdk))
                        .findFirst()
                        .orElseThrow()
                        .backend();
                if (backend.equals(BackendProbe.OWN_RSEQ)) backend = "syscall";
                flames.profile(jdk, backend, Math.round(FLAME_MILLIS * Math.min(1, options.scale)), progress::print);
            }
        }
        load.end();
        return finish(missing.isEmpty());
    }

    /** Returns the groups to run, best backend first. */
    private List<BenchmarkGroup> plan(Jdk jdk) throws IOException, InterruptedException {
        List<JmhSettings> settings = profile.settings.stream()
                .map(each -> each.scaled(options.scale))
                .toList();
        List<Contender> all = contenders.stream()
                .filter(contender ->
                        settings.stream().anyMatch(each -> each.contenders().contains(contender)))
                .toList();
        List<Contender> ours = all.stream().filter(Contender::isOurs).toList();
        List<Contender> underAgent =
                all.stream().filter(Contender::isUnderAgent).toList();
        List<Contender> others =
                all.stream().filter(one -> !one.isOurs() && !one.isUnderAgent()).toList();

        boolean onAllBackends = settings.stream()
                .anyMatch(each -> each.allBackends() && !Collections.disjoint(each.contenders(), ours));
        List<String> usable = new ArrayList<>();
        for (String backend : BACKENDS) {
            if (!options.backends.isEmpty() && !options.backends.contains(backend)) continue;
            if (!usable.isEmpty() && !onAllBackends) break;
            List<Contender> probed = new ArrayList<>(ours);
            if (usable.isEmpty()) probed.addAll(others);
            if (probe(jdk, backend, null, probed)) usable.add(backend);
        }
        if (usable.isEmpty()) {
            missing.add("JDK " + jdk.version() + ": none of the requested backends is usable");
            return List.of();
        }
        String best = usable.get(0);
        machine.put("backends on JDK " + jdk.version(), String.join(", ", usable));
        boolean agentWorks = !underAgent.isEmpty() && probe(jdk, best, agent, underAgent);

        List<BenchmarkGroup> groups = new ArrayList<>();
        for (JmhSettings each : settings) {
            for (String backend : each.allBackends() ? usable : List.of(best)) {
                List<Contender> measured = each.contenders().stream()
                        .filter(one -> ours.contains(one) || (backend.equals(best) && others.contains(one)))
                        .toList();
                if (!measured.isEmpty()) groups.add(new BenchmarkGroup(jdk, backend, each, measured));
            }
            List<Contender> measured =
                    each.contenders().stream().filter(underAgent::contains).toList();
            if (agentWorks && !measured.isEmpty()) groups.add(new BenchmarkGroup(jdk, best, each, measured));
        }
        return groups;
    }

    /** Returns whether the backend or agent works, and records the smallest steps. */
    private boolean probe(Jdk jdk, String backend, Path withAgent, List<Contender> probed) throws InterruptedException {
        try {
            BackendProbe found = BackendProbe.run(jdk, backend, withAgent, probed);
            for (Contender contender : probed) {
                Long step = found.stepNanos().get(contender.id);
                if (step != null) steps.put(PublishedComparison.stepKey(jdk.version(), contender, backend), step);
            }
            return true;
        } catch (IOException e) {
            String probedPart = withAgent == null ? "backend " + backend : "the agent";
            machine.put("not usable on JDK " + jdk.version() + ": " + probedPart, e.getMessage());
            return false;
        }
    }

    /** Measures one group. Returns false if the run cannot continue. */
    private boolean measure(BenchmarkGroup next) throws IOException {
        progress.print(next.text());
        load.begin(next.text());
        OutputFormat output =
                options.verbose ? OutputFormatFactory.createFormatInstance(System.err, VerboseMode.NORMAL) : null;
        synchronized (this) {
            group = next;
            jmhOutput = new JmhOutput(progress, output);
        }
        // JMH prints warnings about compiler hints to System.out, which is for results.
        PrintStream out = System.out;
        System.setOut(System.err);
        Collection<RunResult> results;
        try {
            results = next.run(jmhOutput, agent);
        } catch (RunnerException e) {
            missing.add(next.text() + ": JMH: " + e.getMessage().replaceFirst("^ERROR: ", ""));
            progress.print("taskclock: bench: " + missing.get(missing.size() - 1));
            return false;
        } finally {
            System.setOut(out);
        }
        for (Contender contender : next.contenders()) {
            boolean found = results.stream()
                    .anyMatch(result -> result.getParams().getBenchmark().equals(contender.benchmark()));
            if (found) continue;
            String why = "JDK " + next.jdk().version() + ", " + contender.id + " on " + next.backend() + ": "
                    + jmhOutput.failure(contender);
            missing.add(why);
            progress.print("taskclock: bench: not measured: " + why);
        }
        synchronized (this) {
            if (ended) return false;
            keep(next, results);
            group = null;
            jmhOutput = null;
        }
        if (!options.json)
            System.out.println(next.text() + "\n\n" + BenchmarkGroup.format(results, ResultFormatType.TEXT));
        return true;
    }

    private void keep(BenchmarkGroup measured, Collection<RunResult> results) {
        if (results.isEmpty()) return;
        String text = BenchmarkGroup.format(results, ResultFormatType.JSON)
                .replaceAll(
                        "\"[^\"]*taskclock-java\\d+\\.sh\"",
                        "\"GLIBC_TUNABLES=" + BackendProbe.TUNABLE + " JAVA_HOME/bin/java\"")
                .replace(measured.jdk().home().toString(), "JAVA_HOME")
                .replace(agent.toString(), agent.getFileName().toString());
        JsonArray all = jmh.computeIfAbsent(measured.jdk().version(), unused -> new JsonArray());
        for (JsonElement run : JsonParser.parseString(text).getAsJsonArray()) {
            if (!options.raw) JmhSummary.reduce(run.getAsJsonObject());
            all.add(run);
        }
    }

    private int finish(boolean complete) throws IOException {
        Result result;
        synchronized (this) {
            ended = true;
            result = result(complete);
        }
        if (options.file != null) result.write(options.file);
        if (options.json) {
            ResultText.printJson(result);
        } else {
            System.out.print(summary(result));
        }
        return complete ? 0 : 1;
    }

    /** Saves the measurements so far if the JVM shuts down before {@link #finish}, because the user interrupted it. */
    private synchronized void interrupted() {
        if (ended) return;
        ended = true;
        ProcessHandle.current().descendants().forEach(ProcessHandle::destroy);
        try {
            if (jmhOutput != null) keep(group, jmhOutput.done());
            missing.add("interrupted");
            Result result = result(false);
            if (options.file != null) result.write(options.file);
            if (options.json) ResultText.printJson(result);
            long measured = jmh.values().stream().mapToLong(JsonArray::size).sum();
            String where = options.file == null ? "not saved: use -o FILE" : "saved to " + options.file;
            System.err.println("\ntaskclock: bench: interrupted after " + measured + " of " + progress.total()
                    + " measurements: " + where);
        } catch (IOException e) {
            System.err.println("taskclock: bench: cannot save the result: " + e.getMessage());
        }
        // JMH may have started another JVM in the meantime.
        ProcessHandle.current().descendants().forEach(ProcessHandle::destroyForcibly);
    }

    private Result result(boolean complete) {
        Map<String, JsonElement> runs = new LinkedHashMap<>(jmh);
        Measurements measured = Measurements.of(runs);
        PublishedData published = PublishedData.read();
        PublishedComparison comparison = new PublishedComparison(published, measured, steps);
        return new Result(
                Result.FORMAT,
                "bench",
                profile.toString(),
                started,
                ResultBuilder.now(),
                complete,
                command(),
                machine,
                load.steps(),
                jdks.stream()
                        .map(jdk -> new Result.Jdk(
                                jdk.version(), jdk.vendor(), List.of("--enable-native-access=ALL-UNNAMED")))
                        .toList(),
                method(),
                new ClaimChecker(published, measured, flames.shares()).findings(),
                comparison.tables(),
                comparison.bars(),
                comparison.percentiles(),
                List.of(),
                Map.of(),
                flames.graphs(),
                runs);
    }

    private List<String> method() {
        List<String> method = new ArrayList<>();
        if (profile == BenchProfile.QUICK) {
            method.add("Rough: each contender is measured for half a second in one JVM. Use post-us and post-ns for "
                    + "figures to quote.");
        }
        if (options.scale != 1) {
            method.add(String.format(
                    Locale.ROOT,
                    "All times were multiplied by %s. Do not quote these figures if that is less than 1.",
                    options.scale));
        }
        for (JmhSettings settings : profile.settings) {
            method.add("JMH " + Version.getPlainVersion() + ", "
                    + settings.scaled(options.scale).description() + "; TaskClock on "
                    + (settings.allBackends() ? "each usable backend" : "the best backend") + ".");
        }
        method.add("SampleTime times single readings, which gives percentiles but cannot resolve 10 ns. AverageTime "
                + "times many readings together, and an empty method for comparison. Tables and bars name the "
                + "mode.");
        method.add(
                "Before the fix: the JDK's own ThreadMXBean if it reads /proc (up to 25.0.4), otherwise our code for "
                        + "the same reading. After the fix: the JDK's own ThreadMXBean if it has the fix, otherwise "
                        + "our code with the same clock id.");
        method.add("The pull request does not state threads, forks, or iterations: we use those of the post, with one "
                + "thread.");
        if (!options.raw)
            method.add(
                    "The result keeps the mean, median, and maximum of each iteration, and no frames of flame graphs "
                            + "with less than 0.2 % of the samples; --raw keeps everything.");
        if (!missing.isEmpty()) method.add("Not measured: " + String.join("; ", missing) + ".");
        return method;
    }

    private String summary(Result result) {
        StringBuilder text = new StringBuilder();
        List<String> unmeasured = new ArrayList<>();
        for (Result.Table table : result.tables()) {
            if (ResultText.isMeasured(table)) {
                text.append(ResultText.table(table)).append('\n');
            } else {
                unmeasured.add(table.title());
            }
        }
        if (!unmeasured.isEmpty()) {
            text.append("Published but not measured in this run: ")
                    .append(String.join("; ", unmeasured))
                    .append("\n\n");
        }
        String warning = MachineLoad.warning(result);
        if (!warning.isEmpty()) text.append(warning).append('\n');
        for (Result.Finding finding : result.findings()) text.append(ResultText.finding(finding, warning));
        for (String line : missing) text.append("NOT MEASURED: ").append(line).append('\n');
        if (profile == BenchProfile.QUICK) text.append("These figures are rough.\n");
        if (options.scale != 1) text.append("All times were multiplied by " + options.scale + ".\n");
        text.append(
                options.file == null ? "Result not saved: use -o FILE.\n" : "Result saved to " + options.file + ".\n");
        return text.toString();
    }
}
