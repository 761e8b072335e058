// SPDX-License-Identifier: Apache-2.0
// Copyright the TaskClock authors
package org.taskclock.cli;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.taskclock.metrics.AccountKey;
import org.taskclock.metrics.PoolKey;
import org.taskclock.metrics.ThreadKind;
import org.taskclock.monitor.attach.AgentReport;
import org.taskclock.monitor.sampling.Interval;
import org.taskclock.monitor.sampling.IntervalSum;
import org.taskclock.monitor.sampling.ThreadColumn;
import org.taskclock.monitor.usage.SectionUsage;
import org.taskclock.monitor.usage.ThreadUsage;
import picocli.CommandLine;

/** Named accounts on the screen and in text, without a terminal. */
class AccountViewTest {
    private static final long SECOND = SyntheticJvm.SECOND;
    private static final int WIDTH = 120;
    private static final int HEIGHT = 40;
    private static final int ACCOUNTS = 8;

    private final ViewState view = new ViewState();

    private static ThreadUsage account(String type, String name, long cpuPercent, long userPercent, long waitNanos) {
        String pool = new AccountKey(type, name).pool();
        return ThreadUsage.ofGroup(4711, new PoolKey(pool, ThreadKind.ACCOUNT), 0)
                .cpu(cpuPercent * SECOND / 100, userPercent * SECOND / 100)
                .waited(waitNanos)
                .total(100 * SECOND, -1)
                .sections(name.equals("acme") ? new SectionUsage(250, 350_000, 12_345_678) : SectionUsage.UNKNOWN)
                .build();
    }

    private static Interval interval(int number, String source, List<ThreadUsage> accounts) {
        Interval one = SyntheticJvm.interval(4711, number);
        return new Interval(
                one.end(),
                one.intervalNanos(),
                one.pid(),
                one.name(),
                source,
                one.threads(),
                one.totals(),
                one.findings(),
                one.notes(),
                one.endedPools(),
                accounts);
    }

    private static Interval interval(int number) {
        return interval(
                number,
                "agent",
                List.of(
                        account("tenant", "(unaccounted)", 99, 9, -1),
                        account("tenant", "other", 30, 30, SECOND / 50),
                        account("tenant", "acme", 20, 5, SECOND / 10),
                        account("tenant", "a=b", 10, 10, 0),
                        account("tenant", "idle", 0, 0, 0),
                        account("tenant", SyntheticJvm.EVIL, 5, 5, 0),
                        account("endpoint", "/orders", 15, 15, -1),
                        account("endpoint", "(unaccounted)", 1, 1, -1)));
    }

    private void press(String... keys) {
        for (String key : keys) KeyBindings.handle(view, key, ScreenRenderer.pageHeight(view, HEIGHT));
    }

    private List<String> screen() {
        return ScreenRenderer.draw(view, WIDTH, HEIGHT).stream()
                .map(line -> line.toString().stripTrailing())
                .toList();
    }

    /** Returns the table's titles and rows. */
    private List<String> table() {
        int top = ScreenRenderer.pageTop(view, HEIGHT);
        return screen().subList(top - 1, HEIGHT - 1).stream()
                .filter(line -> !line.isEmpty())
                .toList();
    }

    private List<String> names() {
        screen();
        return view.rows.stream().map(row -> AccountRows.name(row.thread())).toList();
    }

    @Test
    void shouldShowTheAccountsOfOneTypeAtATime() {
        view.accept(List.of(interval(1)));
        press("a");
        assertThat(table().get(0))
                .endsWith("ACCOUNT endpoint")
                .contains("CPU%", "WAIT%", "TIME")
                .doesNotContain("TID");
        assertThat(names()).containsExactly("/orders", "(unaccounted)");
        assertThat(screen().get(HEIGHT - 1)).endsWith("a: accounts of type tenant");
        press("a");
        assertThat(table().get(0)).endsWith("ACCOUNT tenant");
        assertThat(table().get(1)).matches(" 20\\.0 +5\\.0 +15\\.0 .* 10\\.0 .*1:40 .* acme");
        assertThat(names()).containsExactly("acme", "a=b", SyntheticJvm.EVIL, "idle", "other", "(unaccounted)");
        assertThat(table().get(3)).endsWith("evil?[2J?name");
        press("a");
        assertThat(table().get(0)).contains("TID").endsWith("NAME");
        assertThat(view.rows).hasSize(interval(1).threads().size());
    }

    @Test
    void shouldKeepTheRestAtTheEndAndDimIt() {
        view.accept(List.of(interval(1)));
        press("a", "a", "I");
        assertThat(names())
                .startsWith("idle")
                .endsWith("other", "(unaccounted)")
                .hasSize(6);
        press("I", "M"); // by waiting
        assertThat(names()).startsWith("acme").endsWith("other", "(unaccounted)");
        view.limit = 2;
        view.rebuild();
        assertThat(names()).containsExactly("acme", "a=b", "other", "(unaccounted)");
        view.limit = 0;
        press("t"); // accounts have no pools
        assertThat(names()).hasSize(6);
        press("i", "F4", "a", "c", "m", "e", "|", "o", "t", "h", "Enter");
        assertThat(names()).containsExactly("acme", "other");
        List<String> ansi = ScreenRenderer.draw(view, WIDTH, HEIGHT).stream()
                .map(line -> line.toAnsi())
                .filter(line -> line.contains("other"))
                .toList();
        assertThat(ansi).singleElement().satisfies(line -> assertThat(line).startsWith("\u001b[2m"));
        press("F4", "Ctrl-U", "x", "Enter");
        assertThat(table()).last().asString().startsWith("No matching accounts");
    }

    @Test
    void shouldKeepTheHistoryOfAccounts() {
        for (int i = 1; i <= 4; i++) view.accept(List.of(interval(i)));
        ThreadUsage busier = account("endpoint", "/orders", 95, 5, -1);
        view.accept(List.of(interval(5, "agent", List.of(busier))));
        press("a");
        assertThat(view.history.percents(view.rows.get(0), 5)).containsExactly(15, 15, 15, 15, 95);
        press("R");
        assertThat(table().get(0)).contains("RISE");
        assertThat(table().get(1)).contains("+80.0");
    }

    @Test
    void shouldSayWhyThereAreNoAccounts() {
        view.accept(List.of(interval(1, "proc", List.of())));
        press("a");
        assertThat(table()).last().isEqualTo("process 4711: no named accounts without the agent: press A");
        view.accept(List.of(interval(2, "agent", List.of())));
        assertThat(table())
                .last()
                .isEqualTo("process 4711: no named accounts yet: use CpuAccounts in the program,"
                        + " or run taskclock attach --accounts endpoint");
        view.accept(List.of(interval(3)));
        assertThat(table().get(0)).endsWith("ACCOUNT endpoint");
        view.accept(List.of(interval(4, "agent", List.of())));
        assertThat(table()).last().asString().startsWith("The agent has not reported in this interval");
        press("a");
        assertThat(table().get(0)).endsWith("NAME");
        view.isRecording = true;
        view.rewind();
        view.accept(List.of(interval(5, "proc", List.of())));
        press("a");
        assertThat(table()).last().asString().endsWith("without the agent: record with --accounts");
    }

    @Test
    void shouldOfferTheAgentForAccounts() {
        Interval without = interval(1, "proc", List.of());
        Interval idle = SyntheticJvm.idle(without, 400); // the carrier
        view.accept(List.of(idle));
        view.agentOffer.accept(List.of(idle), List.of(new SyntheticJvm(4711) {
            @Override
            public boolean canLoadAgent() {
                return true;
            }
        }));
        press("A");
        assertThat(view.agentOffer.isAsking()).isFalse();
        press("a", "A");
        assertThat(screen().get(HEIGHT - 1)).startsWith("Load the agent into process 4711 (undo:");
        view.agentOffer.accepted(view);
        view.agentOffer.loaded(view, 4711);
        press("A");
        assertThat(view.agentOffer.isAsking()).isFalse();
    }

    private static AgentReport.Section section(String account, String thread, int tid, long openSeconds) {
        return new AgentReport.Section("tenant", account, thread, 31, tid, openSeconds * SECOND, SECOND / 2);
    }

    @Test
    void shouldShowTheSectionsThatHaveBeenOpenLongest() {
        view.accept(List.of(interval(1)));
        List<OpenSections.Row> rows = OpenSections.rows(
                4711,
                List.of(
                        section("acme", "worker-2", 102, 3),
                        section("globex", "virtual-7", -1, 7_200),
                        section("acme", SyntheticJvm.EVIL, 999, 61),
                        section("new", "worker-3", 103, 0)));
        view.sections = OpenSections.longest(rows, 10);
        assertThat(OpenSections.longest(rows, 1)).containsExactly(rows.get(1));
        press("o");
        List<String> lines = screen().subList(ScreenRenderer.pageTop(view, HEIGHT), HEIGHT - 1);
        assertThat(lines.get(0)).matches(" +OPEN s +CPU s  ACCOUNT +THREAD");
        assertThat(lines.get(1)).matches(" +2:00:00 +0\\.5  tenant=globex +virtual-7 \\(virtual\\)");
        assertThat(lines.get(2)).matches(" +61\\.0 +0\\.5  tenant=acme +evil\\?\\[2J\\?name \\(999\\)");
        assertThat(lines.get(3)).matches(" +3\\.0 +0\\.5  tenant=acme +worker-2 \\(102\\)");
        assertThat(lines.get(4)).isEmpty();
        press("Enter");
        assertThat(view.message).isEqualTo("A virtual thread: jcmd 4711 Thread.dump_to_file FILE writes its stack");
        press("o", "Down", "Enter");
        assertThat(view.message).isEqualTo("The thread has ended");
        press("o", "End");
        assertThat(KeyBindings.handle(view, "Enter", 1)).isEqualTo(KeyBindings.Action.STACKS);
        assertThat(view.stackThread.name()).isEqualTo("worker-2");
        assertThat(view.page).isEqualTo(ViewState.Page.STACKS);
        press("q", "a", "Enter");
        assertThat(view.page).as("Enter on an account").isEqualTo(ViewState.Page.SECTIONS);
        int item = ScreenRenderer.pageTop(view, HEIGHT) + 3;
        MouseBindings mouse = new MouseBindings();
        mouse.handle(view, MouseBindings.event(0, 5, item), WIDTH, HEIGHT, 1);
        assertThat(mouse.handle(view, MouseBindings.event(0, 5, item), WIDTH, HEIGHT, 2))
                .isEqualTo("Enter");
        assertThat(view.scroll).isEqualTo(2);
        press("o");
        assertThat(view.page).isEqualTo(ViewState.Page.TABLE);
        view.sections = List.of();
        view.isRecording = true;
        press("o", "Enter");
        assertThat(view.page).isEqualTo(ViewState.Page.TABLE);
        press("o");
        assertThat(screen()).contains("Open sections are not recorded");
    }

    private static OutputOptions options(String... arguments) {
        OutputOptions options = new OutputOptions();
        CommandLine command = new CommandLine(new Wrapper(options));
        command.parseArgs(arguments);
        options.validate(command.getCommandSpec());
        return options;
    }

    @CommandLine.Command
    private record Wrapper(@CommandLine.Mixin OutputOptions options) {}

    @Test
    void shouldPrintAccountsByType() throws Exception {
        OutputOptions options = options("--accounts", "--limit", "2");
        TopText text = new TopText(true, ThreadColumn.CPU, true);
        List<OpenSections.Row> open = OpenSections.rows(
                4711,
                List.of(
                        section("acme", "worker-2", 102, 3),
                        section("globex", "virtual-7", -1, 7_200),
                        section("acme", "worker-3", 103, 1)));
        List<String> lines = options.format(List.of(interval(1)), open, ThreadColumn.CPU, text)
                .lines()
                .toList();
        int titles = 0;
        while (!lines.get(titles).contains("CPU%")) titles++;
        assertThat(lines.get(titles)).contains("  CPU%  USER%   SYS%  WAIT%   SECT/s      P50      P99     TIME NAME");
        List<String> rows = new ArrayList<>();
        for (String line : lines.subList(titles + 1, lines.size())) rows.add(line.replaceAll("\u001b\\[m$", ""));
        assertThat(rows.get(0))
                .isEqualTo("  15.0   15.0    0.0      -        -        -        -     1:40 endpoint=/orders");
        assertThat(rows.get(1)).startsWith("\u001b[2m   1.0").endsWith(" endpoint=(unaccounted)");
        assertThat(rows.get(2))
                .isEqualTo("  20.0    5.0   15.0   10.0      250    350us   12.3ms     1:40 tenant=acme");
        assertThat(rows.get(3)).endsWith(" tenant=a=b");
        assertThat(rows.get(4)).startsWith("\u001b[2m  30.0").endsWith(" tenant=other");
        assertThat(rows.get(5)).endsWith(" tenant=(unaccounted)");
        assertThat(rows.get(6)).contains("OPEN s    CPU s  ACCOUNT");
        assertThat(rows.get(7)).contains("2:00:00      0.5  tenant=globex").endsWith(" virtual-7 (virtual)");
        assertThat(rows.get(8)).contains("3.0      0.5  tenant=acme").endsWith(" worker-2 (102)");
        // The limit hides one account and one section, and one account is idle.
        assertThat(rows)
                .noneMatch(row -> row.contains("worker-3"))
                .anyMatch(row -> row.startsWith("5 accounts, 2 rows not shown; taskclock used "));
        assertThat(interval(1).accounts()).hasSize(ACCOUNTS);
        assertThat(options("--accounts").format(interval(1), ThreadColumn.CPU, text))
                .contains("5 accounts, 1 row not shown; taskclock used ");

        assertThat(options("--accounts", "-f", "^endpoint=", "--csv")
                        .format(interval(1), ThreadColumn.CPU, text)
                        .lines())
                .hasSize(2)
                .allMatch(line -> line.contains(",account,endpoint="));
        assertThat(options().format(interval(1), ThreadColumn.CPU, new TopText(false, ThreadColumn.CPU, false)))
                .doesNotContain("tenant=", "endpoint=", "P50");
        assertThat(options("--accounts", "--csv", "-f", "tenant=globex")
                        .format(List.of(interval(1)), open, ThreadColumn.CPU, text))
                .matches("[^,]+,4711,,31,virtual-7,section,tenant=globex,.*,500000000,7200000000000,.*\r\n");
        assertThat(options("--csv").format(List.of(interval(1)), open, ThreadColumn.CPU, text))
                .doesNotContain(",section,");
    }

    @Test
    void shouldPrintWhyThereAreNoAccounts() throws Exception {
        TopText text = new TopText(false, ThreadColumn.CPU, true);
        OutputOptions options = options("--accounts");
        assertThat(options.format(interval(1, "proc", List.of()), ThreadColumn.CPU, text))
                .contains("\n* process 4711: no named accounts without the agent: run taskclock attach 4711\n")
                .contains("\n0 accounts;");
        assertThat(options.format(interval(2, "agent", List.of()), ThreadColumn.CPU, text))
                .contains("\n* process 4711: no named accounts yet: use CpuAccounts in the program,"
                        + " or run taskclock attach --accounts endpoint\n");
        options.format(interval(3), ThreadColumn.CPU, text);
        assertThat(options.format(interval(4, "agent", List.of()), ThreadColumn.CPU, text))
                .doesNotContain("no named accounts");
    }

    /** The agent may be too slow to report in each interval. */
    @Test
    void shouldAverageOverTheIntervalsWithAReport() {
        IntervalSum sum = new IntervalSum();
        sum.add(interval(1));
        sum.add(interval(2, "agent", List.of()));
        sum.add(interval(3));
        sum.add(interval(4, "agent", List.of()));
        Interval average = sum.interval();
        ThreadUsage acme = average.accounts().stream()
                .filter(account -> account.name().equals("tenant=acme"))
                .findFirst()
                .orElseThrow();
        assertThat(average.percent(acme.cpuNanos())).isEqualTo(20);
        assertThat(average.percent(acme.userNanos())).isEqualTo(5);
        assertThat(average.percent(acme.waitNanos())).isEqualTo(10);
        assertThat(average.accounts())
                .filteredOn(account -> account.name().equals("endpoint=/orders"))
                .extracting(ThreadUsage::waitNanos)
                .containsExactly(-1L);
    }
}
