// SPDX-License-Identifier: Apache-2.0
// Copyright the TaskClock authors
package org.taskclock.lab;

import java.util.List;
import java.util.Locale;
import java.util.Set;
import java.util.TreeSet;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import org.taskclock.monitor.finding.FindingKind;
import org.taskclock.monitor.finding.FindingKinds;
import org.taskclock.zoo.Misbehavior;

/**
 * What a tool said about a program of the zoo, compared with what is known.
 *
 * @param said the findings, or how the tool's output begins
 * @param foundSeconds when it named the cause, since the program began to misbehave; NaN if unknown
 * @param datedSeconds how far the beginning that it states is from the true one; NaN if it states none
 */
record ZooAnswer(String tool, Verdict verdict, String said, double foundSeconds, double datedSeconds) {
    enum Verdict {
        /** Names the cause, or the method that causes it. */
        RIGHT("right"),
        /** Names the thread or pool, but neither cause nor method. */
        THREAD("thread only"),
        /** States another cause and not the right one, or puts another thread or method first. */
        WRONG("wrong"),
        SILENT("silent");

        final String text;

        Verdict(String text) {
            this.text = text;
        }
    }

    /**
     * A finding.
     *
     * @param text with its evidence
     * @param sinceMillis 0 if the tool states no beginning
     * @param seenMillis when the tool reported it
     */
    record Statement(String kind, String text, long sinceMillis, long seenMillis) {}

    /** Of one processor, or of all samples. A tool that puts less than that first says that there are several. */
    private static final double MOST = 50;

    private static final int MAX_SAID = 100;
    private static final Set<String> OF_MACHINE = Set.of("cpu-contention", "throttled");
    private static final Pattern LINE = Pattern.compile("([0-9.]+) (.*)");

    /**
     * Judges findings.
     *
     * @param text other output, which may name the threads, the method, or the cause
     */
    static ZooAnswer ofFindings(
            Misbehavior program, String tool, List<Statement> statements, String text, long beginMillis) {
        List<Statement> after = statements.stream()
                .filter(each -> each.seenMillis >= beginMillis)
                .toList();
        Statement right = after.stream()
                .filter(each -> program.isCause(each.kind))
                .findFirst()
                .orElseGet(() -> after.stream()
                        .filter(each -> program.namesMethod(each.text))
                        .findFirst()
                        .orElse(null));
        Verdict verdict = Verdict.SILENT;
        if (program.isHarmless())
            verdict = after.stream().anyMatch(each -> isWrong(program, each.kind)) ? Verdict.WRONG : Verdict.RIGHT;
        else if (right != null || program.namesMethod(text) || program.namesCause(text)) verdict = Verdict.RIGHT;
        else if (after.stream().anyMatch(each -> isWrong(program, each.kind))) verdict = Verdict.WRONG;
        else if (program.namesThread(text) || after.stream().anyMatch(each -> program.namesThread(each.text)))
            verdict = Verdict.THREAD;
        return new ZooAnswer(
                tool,
                verdict,
                kinds(after),
                right == null ? Double.NaN : (right.seenMillis - beginMillis) / 1e3,
                right == null || right.sinceMillis == 0 ? Double.NaN : (right.sinceMillis - beginMillis) / 1e3);
    }

    /** Returns whether a finding is neither the cause, nor a consequence, nor about the machine. */
    static boolean isWrong(Misbehavior program, String kind) {
        if (program.forbidden().contains(kind)) return true;
        return !program.isCause(kind) && !program.isConsequence(kind) && !isOfMachine(kind);
    }

    static boolean isOfMachine(String kind) {
        return OF_MACHINE.contains(kind) || !FindingKinds.of(kind).isOfOneJvm();
    }

    private static String kinds(List<Statement> statements) {
        return statements.stream().map(Statement::kind).collect(Collectors.toCollection(TreeSet::new)).stream()
                .collect(Collectors.joining(", "));
    }

    /** Judges the output of another tool: lines with a percentage, a space, and a text, the most important first. */
    static ZooAnswer ofLines(Misbehavior program, String tool, List<String> lines) {
        String all = String.join("\n", lines);
        Verdict verdict = Verdict.SILENT;
        if (program.namesMethod(all) || program.namesCause(all)) verdict = Verdict.RIGHT;
        else if (program.namesThread(all)) verdict = Verdict.THREAD;
        else if (!lines.isEmpty() && percent(lines.get(0)) >= MOST) verdict = Verdict.WRONG;
        String first = lines.isEmpty() ? "" : lines.get(0);
        String said = first.length() > MAX_SAID ? first.substring(0, MAX_SAID) : first;
        return new ZooAnswer(tool, verdict, said, Double.NaN, Double.NaN);
    }

    private static double percent(String line) {
        Matcher matcher = LINE.matcher(line);
        return matcher.matches() ? Double.parseDouble(matcher.group(1)) : 0;
    }

    /**
     * Judges the alert rules: whether Prometheus has one for a finding that names the cause. Rules average over five
     * minutes, so that none fires in this experiment.
     */
    static ZooAnswer ofAlerts(Misbehavior program, List<Statement> served) {
        Set<String> names = new TreeSet<>();
        boolean right = false;
        boolean wrong = false;
        for (Statement statement : served) {
            FindingKind kind = FindingKinds.of(statement.kind);
            kind.alerts().forEach(alert -> names.add(alert.name()));
            right |= program.isCause(kind.id());
            wrong |= isWrong(program, kind.id());
        }
        boolean isRight = program.isHarmless() ? !wrong : right;
        Verdict verdict = isRight ? Verdict.RIGHT : wrong ? Verdict.WRONG : Verdict.SILENT;
        return new ZooAnswer("alert", verdict, String.join(", ", names), Double.NaN, Double.NaN);
    }

    /** Returns the verdict, and what was said unless it is right or nothing. */
    String text() {
        return verdict == Verdict.RIGHT || said.isEmpty()
                ? verdict.text
                : String.format(Locale.ROOT, "%s (%s)", verdict.text, said);
    }
}
