// SPDX-License-Identifier: Apache-2.0
// Copyright the TaskClock authors
package org.taskclock.fuzz;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.regex.Pattern;

/** Runs Jazzer on one target after another, and keeps what it found. Exits with 1 if a target failed. */
final class FuzzRun {
    private static final Pattern EXECUTIONS = Pattern.compile("stat::number_of_executed_units: +(\\d+)");

    /** The number of different counts of edges that inputs have reached, in each line of progress. */
    private static final Pattern FEATURES = Pattern.compile(" ft: (\\d+) ");

    private static final int MAX_INPUT_BYTES = 8_192;

    private final Path module;
    private final Path work;
    private final int seconds;

    private FuzzRun(Path module, int seconds) {
        this.module = module;
        this.work = module.resolve("target/fuzz");
        this.seconds = seconds;
    }

    /** Arguments: the directory of the module, seconds for each target, and names of targets, or none for all. */
    public static void main(String[] args) throws IOException, InterruptedException {
        FuzzRun run = new FuzzRun(Path.of(args[0]), Integer.parseInt(args[1]));
        List<String> names = args.length < 3 || args[2].isEmpty() ? List.of() : List.of(args[2].split(",", -1));
        boolean isFound = false;
        List<String> lines = new ArrayList<>();
        for (Target target : Target.ALL) {
            if (!names.isEmpty() && !names.contains(target.name())) continue;
            isFound |= run.fuzz(target, lines);
        }
        if (lines.isEmpty()) throw new IllegalArgumentException("no such target: " + names);
        System.out.println(
                "| target | seconds | runs | features | kept inputs | result |\n|---|---:|---:|---:|---:|---|");
        lines.forEach(System.out::println);
        System.exit(isFound ? 1 : 0);
    }

    /** Returns whether the target failed. */
    private boolean fuzz(Target target, List<String> lines) throws IOException, InterruptedException {
        Path directory = work.resolve(target.name());
        Path inputs = Files.createDirectories(directory.resolve("inputs"));
        List<byte[]> known = new ArrayList<>(Corpus.seeds(module, target.name()));
        known.addAll(Corpus.found(module, target.name()));
        for (int i = 0; i < known.size(); i++) Files.write(inputs.resolve("known-" + i), known.get(i));

        long start = System.nanoTime();
        Path log = directory.resolve("log.txt");
        int exitCode = jazzer(target, log, "-max_total_time=" + seconds, "-print_final_stats=1", inputs.toString());
        long took = Duration.ofNanos(System.nanoTime() - start).toSeconds();
        String text = Files.readString(log, StandardCharsets.ISO_8859_1); // inputs are in it
        boolean isFound = exitCode != 0;
        int kept = isFound ? Corpus.found(module, target.name()).size() : keep(target, directory, inputs);
        lines.add(String.format(
                Locale.ROOT,
                "| `%s` | %d | %s | %s | %d | %s |",
                target.name(),
                took,
                last(EXECUTIONS, text),
                last(FEATURES, text),
                kept,
                isFound ? "failed, see " + log : "no failure"));
        return isFound;
    }

    private static String last(Pattern pattern, String text) {
        return pattern.matcher(text).results().map(found -> found.group(1)).reduce("unknown", (a, b) -> b);
    }

    /** Keeps the smallest set of inputs that reaches the same code. */
    private int keep(Target target, Path directory, Path inputs) throws IOException, InterruptedException {
        Path merged = Files.createDirectories(directory.resolve("merged"));
        int exitCode = jazzer(target, directory.resolve("merge.txt"), "-merge=1", merged.toString(), inputs.toString());
        if (exitCode == 0) Corpus.save(module, target.name(), Corpus.files(merged));
        return Corpus.found(module, target.name()).size();
    }

    private int jazzer(Target target, Path log, String... arguments) throws IOException, InterruptedException {
        List<String> command = new ArrayList<>(List.of(
                Path.of(System.getProperty("java.home"), "bin", "java").toString(),
                "-Xmx1g",
                "-cp",
                System.getProperty("java.class.path"),
                "com.code_intelligence.jazzer.Jazzer",
                "--target_class=" + target.className(),
                "--instrumentation_includes=org.taskclock.**:com.google.gson.**:org.yaml.snakeyaml.**",
                "--instrumentation_excludes=org.taskclock.fuzz.**",
                "--disabled_hooks=" + disabledHooks(target),
                "--reproducer_path=" + log.getParent(),
                "-artifact_prefix=" + log.getParent() + "/",
                "-max_len=" + MAX_INPUT_BYTES,
                "-timeout=180",
                "-rss_limit_mb=0"));
        command.addAll(List.of(arguments));
        System.out.println("fuzz: " + target.name() + ": log in " + log);
        return new ProcessBuilder(command)
                .redirectErrorStream(true)
                .redirectOutput(log.toFile())
                .start()
                .waitFor();
    }

    private static String disabledHooks(Target target) {
        String sanitizers = "com.code_intelligence.jazzer.sanitizers.";
        // It puts the name of the current directory into inputs. No target opens a file that its input names.
        String hooks = sanitizers + "FilePathTraversal";
        // The input of this target is meant to be executed.
        return target.name().equals("SqlFuzz") ? hooks + ":" + sanitizers + "SqlInjection" : hooks;
    }
}
