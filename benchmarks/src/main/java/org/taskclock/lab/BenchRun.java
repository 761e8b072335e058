// SPDX-License-Identifier: Apache-2.0
// Copyright the TaskClock authors
package org.taskclock.lab;

import com.google.gson.JsonArray;
import com.google.gson.JsonElement;
import com.google.gson.JsonParser;
import java.io.IOException;
import java.io.PrintStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Instant;
import java.time.temporal.ChronoUnit;
import java.util.ArrayList;
import java.util.Collection;
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
import org.taskclock.report.Result;

/** One run: plans it, has JMH measure, and keeps what there is when it is interrupted. */
final class BenchRun {
    private static final List<String> RUNGS = List.of("rseq", "rseq-own", "syscall", "mxbean");
    private static final long FLAME_MILLIS = 4_000;

    private final Profile profile;
    private final List<Jdk> jdks;
    private final List<Contender> contenders;
    private final List<String> wantedRungs;
    private final double scale;
    private final boolean withFlames;
    private final boolean verbose;
    private final boolean raw;
    private final boolean json;
    private final Path file;
    private final List<String> command;

    private final Path agent =
            Path.of(System.getProperty("java.class.path")).toAbsolutePath().resolveSibling("taskclock-agent.jar");
    private final String started = now();
    private final Map<String, String> machine = Facts.read();
    private final Map<String, Long> steps = new LinkedHashMap<>();
    private final Map<String, JsonArray> jmh = new LinkedHashMap<>();
    private final List<String> missing = new ArrayList<>();
    private final Flames flames = new Flames();
    private Progress progress;
    private Group group;
    private Watcher watcher;
    private boolean ended;

    BenchRun(
            Profile profile,
            List<Jdk> jdks,
            List<Contender> contenders,
            List<String> rungs,
            double scale,
            boolean withFlames,
            boolean verbose,
            boolean raw,
            boolean json,
            Path file,
            List<String> command) {
        for (String rung : rungs) {
            if (!RUNGS.contains(rung))
                throw new IllegalArgumentException("rung: no " + rung + ": known are " + String.join(", ", RUNGS));
        }
        if (jdks.isEmpty())
            throw new IllegalArgumentException(
                    "jdk: none of version 17 or later under /usr/lib/jvm: name one by --jdk");
        this.profile = profile;
        this.jdks = jdks;
        this.contenders = contenders;
        this.wantedRungs = rungs;
        this.scale = scale;
        this.withFlames = withFlames;
        this.verbose = verbose;
        this.raw = raw;
        this.json = json;
        this.file = file;
        this.command = command;
    }

    private static String now() {
        return Instant.now().truncatedTo(ChronoUnit.SECONDS).toString();
    }

    int run() throws IOException, InterruptedException {
        List<Group> groups = new ArrayList<>();
        for (Jdk jdk : jdks) groups.addAll(plan(jdk));
        if (groups.isEmpty()) {
            throw new IllegalArgumentException(
                    "contender: none of these is measured by the profile " + profile + ", or on none of these rungs");
        }
        progress = new Progress(groups);
        progress.say("profile " + profile + " on " + jdks.size() + (jdks.size() == 1 ? " JDK" : " JDKs") + ", "
                + progress.total() + " measurements, about " + progress.left());
        if (profile == Profile.QUICK)
            progress.say("quick is rough: half a second for each; other profiles measure longer");
        Runtime.getRuntime().addShutdownHook(new Thread(this::interrupted));
        for (Group next : groups) {
            if (!measure(next)) return finish(false);
        }
        if (withFlames) {
            for (Jdk jdk : jdks) {
                String rung = groups.stream()
                        .filter(one -> one.jdk().equals(jdk))
                        .findFirst()
                        .orElseThrow()
                        .rung();
                if (rung.equals(Probe.OWN_RSEQ)) rung = "syscall";
                flames.profile(jdk, rung, Math.round(FLAME_MILLIS * Math.min(1, scale)), progress::say);
            }
        }
        return finish(missing.isEmpty());
    }

    /** Which groups, best rung first. */
    private List<Group> plan(Jdk jdk) throws IOException, InterruptedException {
        List<Part> parts = profile.parts.stream()
                .map(part -> part.scaled(scale).only(contenders))
                .toList();
        List<Contender> all = contenders.stream()
                .filter(contender ->
                        parts.stream().anyMatch(part -> part.contenders().contains(contender)))
                .toList();
        List<Contender> ours = all.stream().filter(Contender::isOurs).toList();
        List<Contender> under = all.stream().filter(Contender::isUnderAgent).toList();
        List<Contender> others =
                all.stream().filter(one -> !one.isOurs() && !one.isUnderAgent()).toList();

        boolean everywhere = parts.stream()
                .anyMatch(part -> part.allRungs() && part.contenders().stream().anyMatch(Contender::isOurs));
        List<String> usable = new ArrayList<>();
        for (String rung : RUNGS) {
            if (!wantedRungs.isEmpty() && !wantedRungs.contains(rung)) continue;
            if (!usable.isEmpty() && !everywhere) break;
            List<Contender> asked = new ArrayList<>(ours);
            if (usable.isEmpty()) asked.addAll(others);
            if (probe(jdk, rung, null, asked)) usable.add(rung);
        }
        if (usable.isEmpty()) {
            missing.add("JDK " + jdk.version() + ": no rung that was asked for is usable");
            return List.of();
        }
        String best = usable.get(0);
        machine.put("rungs on JDK " + jdk.version(), String.join(", ", usable));
        boolean agentWorks = !under.isEmpty() && agentWorks(jdk, best, under);

        List<Group> groups = new ArrayList<>();
        for (Part part : parts) {
            for (String rung : part.allRungs() ? usable : List.of(best)) {
                List<Contender> wanted = part.contenders().stream()
                        .filter(one -> one.isOurs() || (rung.equals(best) && others.contains(one)))
                        .toList();
                if (!wanted.isEmpty()) groups.add(new Group(jdk, rung, part, wanted));
            }
            List<Contender> wanted =
                    part.contenders().stream().filter(under::contains).toList();
            if (agentWorks && !wanted.isEmpty()) groups.add(new Group(jdk, best, part, wanted));
        }
        return groups;
    }

    private boolean agentWorks(Jdk jdk, String rung, List<Contender> under) throws InterruptedException {
        if (Files.isRegularFile(agent)) return probe(jdk, rung, agent, under);
        missing.add("under the agent: " + agent.getFileName() + " does not lie beside benchmarks.jar");
        return false;
    }

    /** Whether it can be measured so; notes the smallest steps. */
    private boolean probe(Jdk jdk, String rung, Path withAgent, List<Contender> asked) throws InterruptedException {
        try {
            Probe found = Probe.ask(jdk, rung, withAgent, asked);
            for (Contender contender : asked) {
                Long step = found.stepNanos().get(contender.id);
                if (step != null) steps.put(Beside.step(jdk.version(), contender, rung), step);
            }
            return true;
        } catch (IOException e) {
            String what = withAgent == null ? "rung " + rung : "the agent";
            machine.put("not usable on JDK " + jdk.version() + ": " + what, e.getMessage());
            return false;
        }
    }

    /** False if it cannot go on. */
    private boolean measure(Group next) throws IOException {
        progress.say(next.text());
        OutputFormat output = verbose ? OutputFormatFactory.createFormatInstance(System.err, VerboseMode.NORMAL) : null;
        synchronized (this) {
            group = next;
            watcher = new Watcher(progress, output);
        }
        // JMH complains on standard output of what it thinks of hints to the compiler.
        PrintStream out = System.out;
        System.setOut(System.err);
        Collection<RunResult> results;
        try {
            results = next.run(watcher, agent);
        } catch (RunnerException e) {
            missing.add(next.text() + ": JMH: " + e.getMessage().replaceFirst("^ERROR: ", ""));
            progress.say("taskclock: bench: " + missing.get(missing.size() - 1));
            return false;
        } finally {
            System.setOut(out);
        }
        for (Contender contender : next.contenders()) {
            boolean found = results.stream()
                    .anyMatch(result -> result.getParams().getBenchmark().equals(contender.benchmark()));
            if (found) continue;
            String why = "JDK " + next.jdk().version() + ", " + contender.id + " on " + next.rung() + ": "
                    + watcher.whyNot(contender);
            missing.add(why);
            progress.say("taskclock: bench: not measured: " + why);
        }
        synchronized (this) {
            if (ended) return false;
            keep(next, results);
            group = null;
            watcher = null;
        }
        if (!json) System.out.println(next.text() + "\n\n" + Group.written(results, ResultFormatType.TEXT));
        return true;
    }

    private void keep(Group of, Collection<RunResult> results) {
        if (results.isEmpty()) return;
        String text = Group.written(results, ResultFormatType.JSON)
                .replaceAll(
                        "\"[^\"]*taskclock-java\\d+\\.sh\"",
                        "\"GLIBC_TUNABLES=" + Probe.TUNABLE + " JAVA_HOME/bin/java\"")
                .replace(of.jdk().home().toString(), "JAVA_HOME")
                .replace(agent.toString(), agent.getFileName().toString());
        JsonArray all = jmh.computeIfAbsent(of.jdk().version(), unused -> new JsonArray());
        for (JsonElement run : JsonParser.parseString(text).getAsJsonArray()) {
            if (!raw) Measurement.thin(run.getAsJsonObject());
            all.add(run);
        }
    }

    private int finish(boolean complete) throws IOException {
        Result result;
        synchronized (this) {
            ended = true;
            result = result(complete);
        }
        if (file != null) result.write(file);
        if (json) {
            System.out.println(result.text());
        } else {
            System.out.print(summary(result));
        }
        return complete ? Lab.OK : Lab.FAILED;
    }

    /** At the end of the JVM, which is the user's if it comes before ours. */
    private synchronized void interrupted() {
        if (ended) return;
        ended = true;
        ProcessHandle.current().descendants().forEach(ProcessHandle::destroy);
        try {
            if (watcher != null) keep(group, watcher.done());
            missing.add("interrupted");
            Result result = result(false);
            if (file != null) result.write(file);
            if (json) System.out.println(result.text());
            long measured = jmh.values().stream().mapToLong(JsonArray::size).sum();
            String where = file == null ? "without -o FILE they are not kept" : "they are in " + file;
            System.err.println("\ntaskclock: bench: interrupted after " + measured + " of " + progress.total()
                    + " measurements: " + where);
        } catch (IOException e) {
            System.err.println("taskclock: bench: input or output: " + e.getMessage());
        }
        // One more may have been started meanwhile.
        ProcessHandle.current().descendants().forEach(ProcessHandle::destroyForcibly);
    }

    private Result result(boolean complete) {
        Map<String, JsonElement> runs = new LinkedHashMap<>(jmh);
        Measurements measured = Measurements.of(runs);
        Published published = Published.read();
        Beside beside = new Beside(published, measured, steps);
        return new Result(
                Result.FORMAT,
                "bench",
                profile.toString(),
                started,
                now(),
                complete,
                command,
                machine,
                jdks.stream()
                        .map(jdk -> new Result.Jdk(
                                jdk.version(), jdk.vendor(), List.of("--enable-native-access=ALL-UNNAMED")))
                        .toList(),
                method(),
                new Claims(published, measured, flames.shares()).findings(),
                beside.tables(),
                beside.bars(),
                beside.percentiles(),
                List.of(),
                flames.graphs(),
                runs);
    }

    private List<String> method() {
        List<String> method = new ArrayList<>();
        if (profile == Profile.QUICK) {
            method.add(
                    "Rough: each is measured for half a second in one JVM. For figures to be quoted take post-us and post-ns.");
        }
        if (scale != 1) {
            method.add(String.format(
                    Locale.ROOT,
                    "All times were multiplied by %s: no figures to be quoted where that is below 1.",
                    scale));
        }
        for (Part part : profile.parts) {
            method.add("JMH " + Version.getPlainVersion() + ", "
                    + part.scaled(scale).how() + "; TaskClock on "
                    + (part.allRungs() ? "each usable rung" : "the best rung") + ".");
        }
        method.add(
                "SampleTime times single readings, from which come percentiles, and cannot resolve 10 ns; AverageTime times"
                        + " many together, beside an empty method. Tables and bars say which is which.");
        method.add(
                "Before the fix: the JDK's own ThreadMXBean where that reads /proc (to 25.0.4), else the same reading by our"
                        + " code. After it: the JDK's own where that has the fix, else the same clock id by our code.");
        method.add(
                "The pull request tells neither threads nor forks nor iterations: ours are the post's, with one thread.");
        if (!raw)
            method.add("Of JMH's histograms, mean, median and maximum of each iteration are kept; --raw keeps all.");
        if (!missing.isEmpty()) method.add("Not measured: " + String.join("; ", missing) + ".");
        return method;
    }

    private String summary(Result result) {
        StringBuilder text = new StringBuilder();
        List<String> without = new ArrayList<>();
        for (Result.Table table : result.tables()) {
            if (Text.isMeasured(table)) {
                text.append(Text.table(table)).append('\n');
            } else {
                without.add(table.title());
            }
        }
        if (!without.isEmpty()) {
            text.append("Published, but not measured in this run: ")
                    .append(String.join("; ", without))
                    .append("\n\n");
        }
        for (Result.Finding finding : result.findings()) text.append(Text.finding(finding));
        for (String line : missing) text.append("NOT MEASURED: ").append(line).append('\n');
        if (profile == Profile.QUICK) text.append("These figures are rough.\n");
        if (scale != 1) text.append("All times were multiplied by " + scale + ".\n");
        text.append(file == null ? "Not kept: -o FILE would.\n" : "Kept in " + file + ".\n");
        return text.toString();
    }
}
