// SPDX-License-Identifier: Apache-2.0
// Copyright the TaskClock authors
package org.taskclock.lab;

import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;
import org.taskclock.lab.ZooAnswer.Verdict;
import org.taskclock.report.Result;
import org.taskclock.zoo.Misbehavior;

/** The tables and claims of the experiment {@code zoo}. */
final class ZooTables {
    private static final Set<String> OWN = new LinkedHashSet<>(List.of("why", "top", "serve", "page", "alert"));

    private record Run(Jdk jdk, Misbehavior program, Map<String, ZooAnswer> answers) {
        String text(String tool) {
            ZooAnswer answer = answers.get(tool);
            return answer == null ? null : answer.text();
        }

        /** Returns the answer of the server whose page shows the JVM, or else of the other. */
        ZooAnswer served() {
            ZooAnswer page = answers.get("page");
            return page.verdict() == Verdict.RIGHT ? page : answers.get("serve");
        }

        boolean isAny(Verdict verdict) {
            return OWN.stream()
                    .filter(tool -> !tool.equals("alert"))
                    .anyMatch(tool -> answers.get(tool).verdict() == verdict);
        }
    }

    /** How often a tool was right, and so on. */
    private record Score(String tool, String programs, List<Verdict> verdicts) {
        long count(Verdict verdict) {
            return verdicts.stream().filter(each -> each == verdict).count();
        }
    }

    private static final String OTHERS = "misbehaving";
    private static final String HELD_OUT = "held out";
    private static final String HARMLESS = "harmless";

    private static String group(Misbehavior program) {
        return program.isHarmless() ? HARMLESS : program.isHeldOut() ? HELD_OUT : OTHERS;
    }

    private final List<Run> runs = new ArrayList<>();
    /** Findings before the beginning, by run. */
    private final Map<String, String> early = new LinkedHashMap<>();

    void add(Jdk jdk, Misbehavior program, List<ZooAnswer> answers) {
        Map<String, ZooAnswer> byTool = new LinkedHashMap<>();
        for (ZooAnswer answer : answers) byTool.put(answer.tool(), answer);
        runs.add(new Run(jdk, program, byTool));
    }

    /** Adds findings of the time when the program worked normally, other than those about the machine. */
    void addEarly(Jdk jdk, Misbehavior program, List<ZooAnswer.Statement> statements, long beginMillis) {
        Set<String> kinds = new TreeSet<>();
        for (ZooAnswer.Statement each : statements)
            if (each.seenMillis() < beginMillis && !ZooAnswer.isOfMachine(each.kind())) kinds.add(each.kind());
        if (!kinds.isEmpty()) early.put(jdk + ": " + program.name(), String.join(", ", kinds));
    }

    private Set<String> tools() {
        Set<String> tools = new LinkedHashSet<>(OWN);
        for (Run run : runs) tools.addAll(run.answers.keySet());
        return tools;
    }

    void report(ResultBuilder report) {
        TableBuilder<Run> table = new TableBuilder<Run>()
                .column("program", "", run -> run.program.name())
                .column("JDK", "", run -> run.jdk.version())
                .column("cause", "", run -> run.program.cause());
        for (String tool : tools()) table.column(tool, "", run -> run.text(tool));
        table.column("found after", "s", run -> run.served().foundSeconds())
                .column("dated", "s", run -> run.served().datedSeconds())
                .column("programs", "", run -> group(run.program));
        report.tables.add(table.build(
                "What the tools say",
                "found after: when serve named the cause; dated: the beginning that it states, since the true one.",
                runs));
        report.tables.add(new TableBuilder<Score>()
                .column("tool", "", Score::tool)
                .column("programs", "", Score::programs)
                .column("right", "", score -> score.count(Verdict.RIGHT))
                .column("thread only", "", score -> score.count(Verdict.THREAD))
                .column("wrong", "", score -> score.count(Verdict.WRONG))
                .column("silent", "", score -> score.count(Verdict.SILENT))
                .build("How often each tool is right", "", scores()));
        report.tables.add(new TableBuilder<Map.Entry<String, String>>()
                .column("run", "", Map.Entry::getKey)
                .column("findings", "", Map.Entry::getValue)
                .build("Findings before the beginning", "Each of them is wrong.", early.entrySet()));
        for (Run run : runs) report.findings.add(claim(run));
    }

    private List<Score> scores() {
        List<Score> scores = new ArrayList<>();
        for (String tool : tools()) {
            for (String group : List.of(OTHERS, HELD_OUT, HARMLESS)) {
                List<Verdict> verdicts = new ArrayList<>();
                for (Run run : runs) {
                    ZooAnswer answer = run.answers.get(tool);
                    if (group.equals(group(run.program)) && answer != null) verdicts.add(answer.verdict());
                }
                if (!verdicts.isEmpty()) scores.add(new Score(tool, group, verdicts));
            }
        }
        return scores;
    }

    private static Result.Finding claim(Run run) {
        // One tool that names the cause is enough, and so is one that is wrong about a program without one.
        boolean isWrong = run.isAny(Verdict.WRONG) && (run.program.isHarmless() || !run.isAny(Verdict.RIGHT));
        String verdict = isWrong
                ? ExperimentClaim.CONTRADICTED
                : run.isAny(Verdict.RIGHT) ? ExperimentClaim.CONFIRMED : ExperimentClaim.INCONCLUSIVE;
        List<String> texts = new ArrayList<>();
        for (String tool : OWN) texts.add(String.format(Locale.ROOT, "%s: %s", tool, run.text(tool)));
        return new Result.Finding(
                (run.program.isHarmless() ? "TaskClock finds nothing in " : "TaskClock names the cause of ")
                        + run.program.name() + ", " + run.jdk,
                "the zoo, " + group(run.program),
                verdict,
                String.join("; ", texts) + ".");
    }
}
