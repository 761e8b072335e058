// SPDX-License-Identifier: Apache-2.0
// Copyright the TaskClock authors
package org.taskclock.monitor.attach;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.IOException;
import java.io.OutputStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;
import org.junit.jupiter.params.provider.ValueSource;
import org.taskclock.AccountReading;
import org.taskclock.AccountType;
import org.taskclock.AccountUsage;
import org.taskclock.CpuAccounts;
import org.taskclock.CpuSection;
import org.taskclock.TaskClock;
import org.taskclock.metrics.ThreadKind;
import org.taskclock.monitor.usage.SectionUsage;
import org.taskclock.monitor.usage.ThreadUsage;
import org.taskclock.testing.LoadJvm;

class AgentReportTest {
    /** Complete apart from what precedes it. */
    private static final String REST = ",\"virtualThreads\":[],\"carriers\":[],\"yieldMode\":\"count\","
            + "\"yielders\":[],\"health\":{\"features\":[]},\"yieldSites\":[]}";

    @Test
    void shouldAcceptACompleteReport() throws IOException {
        assertThat(AgentReport.parse("{\"pools\":[]" + REST).schedulingNanos()).isZero();
    }

    /** Tests an empty text, the text of an older agent, other JSON, and incomplete reports. */
    @ParameterizedTest
    @ValueSource(
            strings = {
                "",
                "taskclock-report 1\nmode\tcount\n",
                "[]",
                "{}",
                "{\"pools\":[],\"virtualThreads\":[],\"carriers\":[],\"yieldMode\":\"count\",\"yieldSites\":[]}",
                "{\"pools\":[],\"virtualThreads\":[],\"carriers\":[],\"yielders\":[],\"yieldSites\":[]}",
                "{\"pools\":[null]" + REST,
                "{\"pools\":[{\"cpuNanos\":1}]" + REST,
                "{\"pools\":[]" + REST + " trailing",
                "{\"pools\":[],\"pid\":\"x\"" + REST,
                "{\"pools\":[],\"pid\":1e99" + REST,
                "{\"pools\":[],\"virtualThreads\":[],\"carriers\":[],\"yieldMode\":\"\",\"yielders\":[],"
                        + "\"health\":{\"features\":[]},\"yieldSites\":[{\"stack\":[null]}]}"
            })
    void shouldRejectReportsOfOtherVersions(String text) {
        assertThatThrownBy(() -> AgentReport.parse(text))
                .isInstanceOf(AgentReport.AgentReportException.class)
                .hasMessageContaining("another version of TaskClock");
    }

    private static String complete(String pools, String groups, String carriers, String yielders, String sites) {
        return "{\"pools\":[%s],\"virtualThreads\":[%s],\"carriers\":[%s],\"yieldMode\":\"count\",\"yielders\":[%s],"
                        .formatted(pools, groups, carriers, yielders)
                + "\"health\":{\"features\":[]},\"yieldSites\":[%s]}".formatted(sites);
    }

    /** Returns reports with one of all figures that is not possible, or two whose sum is not. */
    static List<String> impossibleReports() {
        List<String> reports = new ArrayList<>();
        String half = Long.toString((1L << 60) - 1);
        for (String bad : List.of("-2", "-9223372036854775808", "9223372036854775807", half)) {
            boolean isSum = bad.equals(half);
            for (String figure : List.of("cpuNanos", "userNanos")) {
                String entry = "{\"name\":\"a\",\"tid\":1,\"cpuNanos\":" + half + ",\"" + figure + "\":" + bad + "}";
                String entries = isSum ? entry + "," + entry : entry;
                reports.add(complete(entries, "", "", "", ""));
                reports.add(complete("", entries, "", "", ""));
                reports.add(complete("", "", entries, "", ""));
            }
            for (String figure : List.of("live", "ended"))
                reports.add(complete("", twice("\"name\":\"a\",\"" + figure + "\":" + bad, isSum), "", "", ""));
            for (String figure : List.of("carriedNanos", "carriedUserNanos"))
                reports.add(complete("", "", twice("\"tid\":1,\"" + figure + "\":" + bad, isSum), "", ""));
            for (String figure : List.of("yields", "yieldNanos"))
                reports.add(complete("", "", "", twice("\"tid\":1,\"" + figure + "\":" + bad, isSum), ""));
            for (String figure : List.of("yields", "virtualYields"))
                reports.add(complete("", "", "", "", twice("\"stack\":[],\"" + figure + "\":" + bad, isSum)));
            if (isSum) continue;
            for (String figure : List.of("cpuNanos", "userNanos", "platformYields", "virtualYields", "reportNanos"))
                reports.add("{\"pools\":[],\"" + figure + "\":" + bad + REST);
            for (String figure : List.of("mounts", "mountClockCalls", "mountUsageCalls", "stacks", "memoryBytes"))
                reports.add(complete("", "", "", "", "")
                        .replace("\"features\":[]", "\"features\":[],\"" + figure + "\":" + bad));
        }
        reports.add(complete("", "", "", "", "").replace("\"features\":[]", "\"features\":[],\"failures\":-2"));
        reports.add(complete("{\"name\":\"a\",\"threads\":-2}", "", "", "", ""));
        String userOnly = "\"name\":\"a\",\"tid\":1,\"cpuNanos\":1000,\"userNanos\":1000000000000";
        for (String entry : List.of(userOnly, userOnly.replace("1000,", "1,"))) {
            reports.add(complete("{" + entry + "}", "", "", "", ""));
            reports.add(complete("", "{" + entry + "}", "", "", ""));
            reports.add(complete("", "", "{" + entry + "}", "", ""));
        }
        return reports;
    }

    private static String withAccounts(String accounts, String sections) {
        return "{\"accounts\":[" + accounts + "],\"openSections\":[" + sections + "],\"pools\":[]" + REST;
    }

    private static String account(String members) {
        return "{\"type\":\"t\",\"name\":\"n\",\"cpuNanos\":20,\"userNanos\":10" + members + "}";
    }

    @Test
    void shouldReadAccountsAndOpenSections() throws IOException {
        AgentReport report = AgentReport.parse(withAccounts(
                account(",\"waitNanos\":-1,\"sections\":3,\"distribution\":[9,2,1,5,2]"),
                "{\"type\":\"t\",\"name\":\"n\",\"thread\":\"main\",\"openNanos\":5}"));
        AccountUsage usage = report.accounts().get(0);
        assertThat(usage.cpuNanos()).isEqualTo(20);
        assertThat(usage.systemNanos()).isEqualTo(10);
        assertThat(usage.waitNanos()).isEqualTo(-1);
        assertThat(usage.distribution().counts()).containsExactly(0, 0, 1, 0, 0, 2);
        assertThat(usage.distribution().sumNanos()).isEqualTo(9);
        assertThat(report.openSections().get(0).openNanos()).isEqualTo(5);
        ThreadUsage since = new AccountTotals().advance(7, report.accounts()).get(0);
        assertThat(since.kind()).isEqualTo(ThreadKind.ACCOUNT);
        assertThat(since.pool()).isEqualTo("t=n");
        assertThat(since.cpuNanos()).isEqualTo(20);
        assertThat(since.sections()).isEqualTo(new SectionUsage(3, 6, 6));
    }

    @Test
    void shouldReportOnlyTheSectionsSinceTheLastReport() throws IOException {
        AccountTotals totals = new AccountTotals();
        List<SectionUsage> sections = new ArrayList<>();
        for (String members : List.of(
                ",\"sections\":1000,\"distribution\":[0,2,1000]",
                ",\"sections\":1003,\"distribution\":[0,2,1001,5,1,7,1]",
                ",\"sections\":1003,\"distribution\":[0,2,1001,5,1,7,1]",
                ",\"sections\":1005")) {
            AgentReport report = AgentReport.parse(withAccounts(account(members), ""));
            sections.add(totals.advance(7, report.accounts()).get(0).sections());
        }
        assertThat(sections)
                .containsExactly(
                        new SectionUsage(1_000, 3, 3),
                        new SectionUsage(3, 6, 8),
                        new SectionUsage(0, -1, -1),
                        new SectionUsage(2, -1, -1));
        AccountUsage rest = new AccountUsage("t", AccountReading.UNACCOUNTED, 0, 0, 0, 0, 0, 0, 0, 0, null);
        assertThat(SectionUsage.between(rest, rest)).isEqualTo(SectionUsage.UNKNOWN);
    }

    static List<String> impossibleAccounts() {
        List<String> reports = new ArrayList<>();
        for (String figure : List.of("cpuNanos", "userNanos", "waitNanos", "sections", "unclosed"))
            reports.add(withAccounts(account(",\"" + figure + "\":-2"), ""));
        reports.add(withAccounts(account("").replace("20", "-1"), ""));
        for (String pairs : List.of("-2", "0,0", "0,-1,1", "0,1000,1", "0,0,-2", "0,0,1,2", "0,4294967296,1"))
            reports.add(withAccounts(account(",\"distribution\":[" + pairs + "]"), ""));
        reports.add(withAccounts(account(",\"distribution\":[" + "0,".repeat(2_000) + "0]"), ""));
        reports.add(withAccounts(account("").replace("\"n\"", '"' + "n".repeat(301) + '"'), ""));
        reports.add(withAccounts(account("") + "," + account(""), ""));
        reports.add(withAccounts("", "{\"type\":\"t\",\"name\":\"n\",\"thread\":\"a\",\"openNanos\":-2}"));
        return reports;
    }

    @ParameterizedTest
    @MethodSource("impossibleAccounts")
    void shouldRejectImpossibleAccounts(String text) {
        assertThatThrownBy(() -> AgentReport.parse(text))
                .isInstanceOf(AgentReport.AgentReportException.class)
                .hasMessageContaining("agent reports a");
    }

    @Test
    void shouldRejectAccountsThatExceedTheProcess() throws IOException {
        AgentReport report = AgentReport.parse(withAccounts(account("").replace("20", "1000000000"), ""));
        report.checkAgainst(1_000_000_000);
        assertThatThrownBy(() -> report.checkAgainst(1))
                .isInstanceOf(AgentReport.AgentReportException.class)
                .hasMessageContaining("for accounts");
        AgentReport sections = AgentReport.parse(withAccounts(account(",\"distribution\":[1000000000]"), ""));
        sections.checkAgainst(1_000_000_000);
        assertThatThrownBy(() -> sections.checkAgainst(21))
                .isInstanceOf(AgentReport.AgentReportException.class)
                .hasMessageContaining("for sections");
    }

    private static String twice(String members, boolean isTwice) {
        return "{" + members + "}" + (isTwice ? ",{" + members + "}" : "");
    }

    @ParameterizedTest
    @MethodSource("impossibleReports")
    void shouldCheckEachFigureAndEachSum(String text) {
        assertThatThrownBy(() -> AgentReport.parse(text))
                .isInstanceOf(AgentReport.AgentReportException.class)
                .hasMessageContaining("impossible figure");
    }

    /** Each would overflow a sum, or make a counter decrease. */
    @ParameterizedTest
    @ValueSource(
            strings = {
                "{\"pools\":[],\"platformYields\":-5" + REST,
                "{\"pools\":[],\"virtualYields\":9223372036854775807" + REST,
                "{\"pools\":[{\"name\":\"p\",\"cpuNanos\":9223372036854775807}]" + REST,
                "{\"pools\":[],\"virtualThreads\":[{\"name\":\"a\",\"cpuNanos\":1152921504606846976},"
                        + "{\"name\":\"b\",\"cpuNanos\":1}],\"carriers\":[],\"yieldMode\":\"count\","
                        + "\"yielders\":[],\"health\":{\"features\":[]},\"yieldSites\":[]}"
            })
    void shouldRejectImpossibleFigures(String text) {
        assertThatThrownBy(() -> AgentReport.parse(text))
                .isInstanceOf(AgentReport.AgentReportException.class)
                .hasMessageContaining("impossible figure");
    }

    /**
     * A request file of another user cannot be deleted from a directory with the sticky bit. This test uses a directory
     * that is not empty instead, which cannot be deleted either.
     */
    @Test
    void shouldGetReportDespiteUndeletableRequestFile() throws Exception {
        String agent = System.getProperty("agent.jar");
        try (LoadJvm load = LoadJvm.start("-javaagent:" + agent, "idle")) {
            AttachClient client = AttachClient.of(load.pid());
            Path request = Path.of(client.reportRequest());
            // It is renamed into place, because tools that monitor this JVM would delete an empty directory.
            Path prepared = Files.createTempDirectory(request.getParent(), "taskclock-test-");
            Files.createFile(prepared.resolve("file"));
            Files.move(prepared, request);
            try {
                AgentReport report = AgentReport.request(client, 10_000);
                assertThat(report).isNotNull();
                assertThat(request).exists();
            } finally {
                Files.deleteIfExists(request.resolve("file"));
                Files.deleteIfExists(request);
            }
        }
    }

    @Test
    void shouldReadTheAccountsOfAProgram() throws Exception {
        String agent = System.getProperty("agent.jar");
        try (LoadJvm load = LoadJvm.startProgram(Sections.class, "-javaagent:" + agent)) {
            AgentReport report = null;
            long end = System.nanoTime() + 60_000_000_000L;
            while (report == null) {
                assertThat(System.nanoTime()).isLessThan(end);
                report = AgentReport.request(AttachClient.of(load.pid()), 10_000);
            }
            AccountUsage acme = report.accounts().get(0);
            assertThat(acme.type()).isEqualTo("tenant");
            assertThat(acme.name()).isEqualTo("acme");
            assertThat(acme.sections()).isEqualTo(Sections.COUNT + 1);
            assertThat(acme.distribution().count()).isEqualTo(Sections.COUNT);
            assertThat(acme.distribution().quantileNanos(1)).isBetween(2_000_000L, 10_000_000L);
            assertThat(acme.distribution().sumNanos()).isBetween(2_000_000L, acme.cpuNanos());
            assertThat(report.openSections()).singleElement().satisfies(section -> {
                assertThat(section.name()).isEqualTo("globex");
                assertThat(section.thread()).isEqualTo("main");
            });
        }
    }

    /** Has short sections, one of 2 ms, and one that stays open. */
    @SuppressWarnings("try") // sections are only opened and closed
    static final class Sections {
        static final int COUNT = 20;

        public static void main(String[] args) throws Exception {
            AccountType tenants = CpuAccounts.type("tenant").withDistribution();
            tenants.of("acme").enter().close();
            // From now on, the account has a row, and its sections are counted by CPU time.
            tenants.read();
            for (int i = 1; i < COUNT; i++) tenants.of("acme").enter().close();
            try (CpuSection section = tenants.of("acme").enter()) {
                long start = TaskClock.cpuNanos();
                while (TaskClock.cpuNanos() < start + 2_000_000) Thread.onSpinWait();
            }
            try (CpuSection section = tenants.of("globex").enter()) {
                System.out.println("done");
                System.in.transferTo(OutputStream.nullOutputStream());
            }
        }
    }
}
