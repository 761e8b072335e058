// SPDX-License-Identifier: Apache-2.0
// Copyright the TaskClock authors
package org.taskclock.lab;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Instant;
import java.time.LocalDateTime;
import java.time.ZoneId;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.taskclock.lab.ZooAnswer.Statement;
import org.taskclock.lab.ZooAnswer.Verdict;
import org.taskclock.report.Result;
import org.taskclock.zoo.Misbehavior;
import org.taskclock.zoo.Misbehaviors;

class ZooTest {
    private static final long BEGIN = 1_000_000;
    private static final Misbehavior YIELDS = Misbehaviors.of("yield-storm");

    @TempDir
    private Path folder;

    private static Statement statement(String kind, String text, double seconds) {
        return new Statement(kind, text, BEGIN + 1_000, BEGIN + (long) (seconds * 1e3));
    }

    private static ZooAnswer answer(Statement... statements) {
        return ZooAnswer.ofFindings(YIELDS, "page", List.of(statements), "", BEGIN);
    }

    /** Finding these takes little time, and no processor of its own, which a busy machine does not have. */
    @Test
    void shouldFindTheCause() throws Exception {
        Result result = run("12s");
        // On a machine with many more runnable threads than processors, everything takes longer.
        if (result.findings().stream().anyMatch(finding -> !isConfirmed(finding))) result = run("45s");
        assertThat(result.findings()).hasSize(2).allSatisfy(finding -> assertThat(isConfirmed(finding))
                .as(finding.claim() + ": " + finding.text())
                .isTrue());
        Result.Table table = result.tables().get(0);
        List<String> columns = table.columns().stream().map(Result.Column::name).toList();
        assertThat(table.rows()).allSatisfy(row -> {
            for (String tool : List.of("why", "top", "serve", "page", "alert"))
                assertThat((String) row.get(columns.indexOf(tool))).as(tool).doesNotStartWith("wrong");
        });
    }

    /** On a busy machine, the verdict says so. */
    private static boolean isConfirmed(Result.Finding finding) {
        return finding.verdict().startsWith("confirmed");
    }

    private Result run(String time) throws Exception {
        Path file = folder.resolve("result.json");
        List<String> command = new ArrayList<>(List.of(
                Path.of(System.getProperty("java.home"), "bin", "java").toString(),
                "--enable-native-access=ALL-UNNAMED",
                "-jar",
                System.getProperty("cli.jar")));
        command.addAll(List.of("experiment", "zoo", "--only", "timer-storm,safepoints", "--for", time));
        command.addAll(List.of("--jdk", System.getProperty("java.home"), "-o", file.toString()));
        ProcessBuilder builder = new ProcessBuilder(command).redirectErrorStream(true);
        builder.environment().keySet().removeAll(List.of("JAVA_TOOL_OPTIONS", "JDK_JAVA_OPTIONS"));
        Process process = builder.start();
        String text = new String(process.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
        assertThat(process.waitFor()).as(text).isZero();
        return Result.read(file);
    }

    @Test
    void shouldJudgeFindings() {
        ZooAnswer right = answer(statement("yield-storm", "thread \"consumer\" keeps calling Thread.yield", 4));
        assertThat(right.verdict()).isEqualTo(Verdict.RIGHT);
        assertThat(right.foundSeconds()).isEqualTo(4);
        assertThat(right.datedSeconds()).isEqualTo(1);
        assertThat(right.text()).isEqualTo("right");
        assertThat(answer().verdict()).isEqualTo(Verdict.SILENT);
        ZooAnswer wrong = answer(statement("gc", "garbage collection uses 30 %", 4));
        assertThat(wrong.text()).isEqualTo("wrong (gc)");
        assertThat(wrong.foundSeconds()).isNaN();
        assertThat(answer(statement("gc", "", 3), statement("yield-storm", "", 4))
                        .verdict())
                .as("a second finding does not make the first one wrong")
                .isEqualTo(Verdict.RIGHT);
        assertThat(answer(statement("system-heavy", "thread \"consumer\"", 4)).verdict())
                .as("a consequence, about the right thread")
                .isEqualTo(Verdict.THREAD);
        assertThat(answer(statement("system-heavy", "thread \"consumer\"\n top of its stack: in Thread.yield", 4))
                        .verdict())
                .as("names the method")
                .isEqualTo(Verdict.RIGHT);
        assertThat(answer(statement("cpu-contention", "", 4)).verdict())
                .as("the machine may be busy")
                .isEqualTo(Verdict.SILENT);
        assertThat(answer(statement("yield-storm", "", -1)).verdict())
                .as("found before it began")
                .isEqualTo(Verdict.SILENT);
    }

    @Test
    void shouldJudgeWhatIsSaidAboutHarmlessPrograms() {
        Misbehavior limited = Misbehaviors.of("cpu-limit");
        List<Statement> contention = List.of(statement("cpu-contention", "threads wait", 4));
        assertThat(ZooAnswer.ofFindings(limited, "page", contention, "", BEGIN).verdict())
                .as("the machine may be busy")
                .isEqualTo(Verdict.RIGHT);
        List<Statement> throttled = List.of(statement("throttled", "the container is throttled", 4));
        assertThat(ZooAnswer.ofFindings(limited, "page", throttled, "", BEGIN).text())
                .isEqualTo("wrong (throttled)");
        assertThat(ZooAnswer.ofAlerts(limited, throttled).verdict()).isEqualTo(Verdict.WRONG);
        assertThat(ZooAnswer.ofAlerts(limited, List.of()).verdict()).isEqualTo(Verdict.RIGHT);
        List<Statement> other = List.of(statement("gc", "garbage collection uses 30 %", 4));
        assertThat(ZooAnswer.ofFindings(limited, "page", other, "", BEGIN).verdict())
                .isEqualTo(Verdict.WRONG);
    }

    @Test
    void shouldJudgeOtherTools() {
        assertThat(ZooAnswer.ofLines(YIELDS, "a", List.of("90.0 java/lang/Thread.yield"))
                        .verdict())
                .isEqualTo(Verdict.RIGHT);
        assertThat(ZooAnswer.ofLines(YIELDS, "a", List.of("90.0 [consumer tid=1]"))
                        .verdict())
                .isEqualTo(Verdict.THREAD);
        assertThat(ZooAnswer.ofLines(YIELDS, "a", List.of("90.0 other", "1.0 another"))
                        .verdict())
                .isEqualTo(Verdict.WRONG);
        assertThat(ZooAnswer.ofLines(YIELDS, "a", List.of("40.0 other", "30.0 another"))
                        .verdict())
                .isEqualTo(Verdict.SILENT);
        assertThat(ZooAnswer.ofLines(Misbehaviors.of("scheduler"), "a", List.of("90.0 scheduler-1"))
                        .verdict())
                .as("the name of the thread is not the cause")
                .isEqualTo(Verdict.THREAD);
        assertThat(ZooAnswer.ofLines(YIELDS, "a", List.of()).verdict()).isEqualTo(Verdict.SILENT);
    }

    @Test
    void shouldReadOutput() {
        long begin = LocalDateTime.of(2026, 1, 2, 23, 59, 59)
                .atZone(ZoneId.systemDefault())
                .toInstant()
                .toEpochMilli();
        StringBuilder text = new StringBuilder();
        for (int second = 58; second < 64; second++) {
            text.append(second < 60 ? "23:59:" + second : "00:00:0" + (second - 60))
                    .append("""
                      org.taskclock.zoo.ZooProgram (12), 1.0 s
                      TID  CPU% NAME
                       13 100.0 consumer
                    ! yield-storm: thread "consumer" keeps calling Thread.yield
                        100 % of a core

                    """);
        }
        text.append("Average:  org.taskclock.zoo.ZooProgram (12), 6.0 s, 6 intervals\n! gc: not counted\n");
        ZooTop top = ZooTop.of(text.toString(), begin);
        assertThat(top.statements()).hasSize(1);
        Statement found = top.statements().get(0);
        assertThat(found.kind()).isEqualTo("yield-storm");
        assertThat(found.text()).endsWith("\n    100 % of a core");
        assertThat(Instant.ofEpochMilli(found.seenMillis())).isEqualTo(Instant.ofEpochMilli(begin + 2_000));
        assertThat(top.threads(YIELDS)).contains("consumer");

        List<Statement> problem = ZooTop.problem(
                "It used 1.\nProblem: thread \"c\" (x) keeps calling (yield-storm, since 10:00:00). Threads keep.\n",
                5);
        assertThat(problem).containsExactly(new Statement("yield-storm", "thread \"c\" (x) keeps calling", 0, 5));
        assertThat(ZooTop.problem("No known problem was found.\n", 5)).isEmpty();

        assertThat(ZooRun.sections(List.of("== a", "1 b", "", "== c")))
                .isEqualTo(Map.of("a", List.of("1 b"), "c", List.of()));
    }

    @Test
    void shouldKnowEachFinding() throws Exception {
        String document = Files.readString(Path.of("..", "docs", "alerts.md"));
        for (Misbehavior each : Misbehaviors.ALL)
            for (String kind : Stream.concat(each.kinds().stream(), each.forbidden().stream())
                    .toList()) assertThat(document).contains("[`" + kind + "`]");
        assertThat(Misbehaviors.ALL.stream().filter(Misbehavior::isHeldOut)).hasSize(5);
    }
}
