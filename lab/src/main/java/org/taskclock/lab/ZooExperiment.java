// SPDX-License-Identifier: Apache-2.0
// Copyright the TaskClock authors
package org.taskclock.lab;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Map;
import java.util.stream.Stream;
import org.taskclock.lab.options.ZooOptions;
import org.taskclock.zoo.Misbehavior;
import org.taskclock.zoo.Misbehaviors;
import picocli.CommandLine.Command;

@Command(name = "zoo")
final class ZooExperiment extends ExperimentCommand<ZooOptions> {
    private static final double NORMAL_SHARE = 2.0 / 3;
    /** Other tools have nothing to compare with before. */
    private static final double NORMAL_SECONDS_OF_TOOLS = 3;

    private final ZooTables tables = new ZooTables();
    /** Why programs were left out. */
    private final List<String> skipped = new ArrayList<>();

    private Path directory;
    private ZooCommand taskclock;
    private ZooServer overview;
    private ZooServer page;

    ZooExperiment() {
        super(new ZooOptions());
    }

    @Override
    List<Step> plan(List<Jdk> homes) throws IOException {
        for (String name : options.only) {
            if (Misbehaviors.ALL.stream().noneMatch(each -> each.name().equals(name)))
                throw new LabException("--only " + name + ": no such program: use one of "
                        + String.join(
                                ", ",
                                Misbehaviors.ALL.stream().map(Misbehavior::name).toList()));
        }
        if (options.tools != null && !Files.isExecutable(options.tools))
            throw new LabException("--tools " + options.tools + ": not an executable file");
        taskclock = new ZooCommand();
        directory = Files.createTempDirectory("taskclock-zoo-");
        List<Step> steps = new ArrayList<>();
        for (Jdk home : homes) {
            for (Misbehavior program : Misbehaviors.ALL) {
                if (program.usesVirtualThreads() && !home.hasVirtualThreads()) continue;
                if (!options.only.isEmpty() && !options.only.contains(program.name())) continue;
                steps.add(new Step(home + ": " + program.name(), () -> measure(home, program)));
            }
        }
        if (steps.isEmpty()) throw new LabException("--only: these programs need a newer JDK: specify it with --jdk");
        return steps;
    }

    private void measure(Jdk home, Misbehavior program) throws IOException, InterruptedException {
        if (program.limit() == 0) {
            measure(home, program, List.of());
            return;
        }
        CpuLimitGroup group;
        try {
            group = new CpuLimitGroup(program.limit());
        } catch (IOException e) {
            skipped.add(program.name() + " was left out, because it needs a control group: " + e);
            printLive(skipped.get(skipped.size() - 1));
            return;
        }
        try (group) {
            measure(home, program, group.launcher());
        }
    }

    private void measure(Jdk home, Misbehavior program, List<String> launcher)
            throws IOException, InterruptedException {
        if (page == null) {
            overview = new ZooServer(taskclock, directory.resolve("overview"));
            page = new ZooServer(taskclock, directory.resolve("page"));
        }
        StringBuilder raw = new StringBuilder();
        List<ZooAnswer> answers;
        Path files = Files.createDirectories(directory.resolve(home.version() + "-" + program.name()));
        double normal = NORMAL_SHARE * options.seconds();
        ExperimentJvm jvm = jvm(home);
        jvm.launcher(launcher);
        if (program.needsAgent()) jvm.agent("vthreads=" + (program.usesVirtualThreads() ? "on" : "off"));
        try (ZooRun run = new ZooRun(program, jvm, normal, files)) {
            answers = new ArrayList<>(run.watch(taskclock, overview, page, options.seconds()));
            tables.addEarly(home, program, page.findings(), run.beginMillis());
            raw.append(ZooRaw.of(program, run.beginMillis(), files, overview.findings(), page.findings()));
        }
        // Other tools do not state what is no problem.
        if (options.tools != null && !program.isHarmless()) {
            ExperimentJvm other = jvm(home);
            other.launcher(launcher);
            try (ZooRun run = new ZooRun(program, other, NORMAL_SECONDS_OF_TOOLS, files)) {
                for (Map.Entry<String, List<String>> tool :
                        run.ask(options.tools).entrySet()) {
                    answers.add(ZooAnswer.ofLines(program, tool.getKey(), tool.getValue()));
                    raw.append("\n== ").append(tool.getKey()).append('\n');
                    for (String line : tool.getValue()) raw.append(line).append('\n');
                }
            }
        }
        tables.add(home, program, answers);
        printLive(program.name() + ": "
                + String.join(
                        "; ",
                        answers.stream()
                                .map(each -> each.tool() + " " + each.text())
                                .toList()));
        if (options.raw == null) return;
        Path folder = Files.createDirectories(options.raw.resolve("jdk-" + home.version()));
        Files.writeString(folder.resolve(program.name() + ".txt"), ZooRaw.shorten(raw.toString()));
    }

    @Override
    public Integer call() throws IOException {
        try {
            return super.call();
        } finally {
            if (overview != null) overview.close();
            if (page != null) page.close();
            if (directory != null) delete(directory);
        }
    }

    private static void delete(Path directory) throws IOException {
        try (Stream<Path> files = Files.walk(directory)) {
            for (Path file : files.sorted(Comparator.reverseOrder()).toList()) Files.delete(file);
        }
    }

    @Override
    void report(ResultBuilder report) {
        report.method.add(
                "Each program runs in its own JVM. Its threads answer requests for "
                        + Math.round(NORMAL_SHARE * options.seconds())
                        + " s, and then one or more of them misbehave for "
                        + options.seconds()
                        + " s. serve and top watch all the time; why starts a second after the beginning."
                        + " serve has nothing but the figures of threads and pools; page is a server whose page shows this JVM.");
        report.method.add("A tool is right if it reports a finding that names the cause, or names a method that causes"
                + " it. It is wrong if it does not, but reports a finding that is neither a consequence nor about the"
                + " machine. Otherwise, it may have named a thread at fault, or it is silent. top must repeat a finding"
                + " three times. Another tool is wrong if nothing that it prints names the cause, the method, or the"
                + " thread, and it puts another one first, with at least half of the samples or of a processor.");
        report.method.add("alert tells whether Prometheus has a rule for what serve found. Rules average over minutes,"
                + " so none fires in this time.");
        report.method.add(
                "A program that only looks as if it misbehaved is right if it has no finding, but those that are"
                        + " consequences or about the machine.");
        report.method.addAll(skipped);
        tables.report(report);
    }
}
